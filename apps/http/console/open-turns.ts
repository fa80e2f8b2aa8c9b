// The open turns, by the place where each one is: with the model, a tool, a guard or a person. Pure.
// CONSOLE-TURNS-1. Only `turn-started` opens a turn, so late records of an ended one change nothing.
// CONSOLE-TURNS-2. At most `limits.consoleTurnsMax` turns are kept. Further ones are only counted.

import { limits } from '../../../shared/contract/limits.ts'
import type { InterventionRaised, Message } from '../../../shared/contract/messages.ts'
import { isGuest } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import {
  type ConsoleState,
  type ShownTurn,
  type TurnState,
  turnStates,
} from './page/console-state.ts'

/** `tokens`: of the last response. `tools`, `persons`: ordinals. `since`: of the state. */
export type OpenTurn = {
  conversation: string
  turn: number
  messageId: string
  agent: string
  startedAt: Milliseconds
  lastAt: Milliseconds
  round: number
  callsLeft: number
  calls: number
  tokens: number
  base: 'model' | 'tool'
  tools: Map<number, string>
  guards: Set<string>
  persons: Set<number>
  /** The loop-detector has ended it, or its calls. */
  isStopped: boolean
  state: TurnState
  since: Milliseconds
}

export type OpenTurns = { turns: Map<string, OpenTurn>; dropped: number }

export function beginTurns(): OpenTurns {
  return { turns: new Map(), dropped: 0 }
}

type Placed = { conversation: string; turn: number }

const keyOf = ({ conversation, turn }: Placed) => JSON.stringify([conversation, turn])

/** The open turn of a record. Undefined: it is not open, or not followed. */
export function turnOf({ turns }: OpenTurns, message: Message): OpenTurn | undefined {
  return 'conversation' in message && 'turn' in message && typeof message.turn === 'number'
    ? turns.get(keyOf({ conversation: message.conversation, turn: message.turn }))
    : undefined
}

/** Adds a record of the activity. */
export function addToTurns(open: OpenTurns, message: Message, time: Milliseconds): void {
  if (message.type === 'turn-started') return begin(open, message, time)
  const turn = turnOf(open, message)
  if (message.type === 'turn-finished') {
    if (turn === undefined) open.dropped = Math.max(0, open.dropped - 1)
    else open.turns.delete(keyOf(turn))
    return
  }
  if (turn === undefined) return
  turn.lastAt = Math.max(turn.lastAt, time)
  move(turn, message)
  const state = placeOf(turn)
  if (state === turn.state) return
  turn.state = state
  turn.since = turn.lastAt
}

function begin(
  open: OpenTurns,
  started: Extract<Message, { type: 'turn-started' }>,
  time: Milliseconds,
): void {
  const { conversation, turn, messageId, agent } = started
  if (open.turns.size >= limits.consoleTurnsMax) {
    open.dropped += 1
    return
  }
  open.turns.set(keyOf(started), {
    ...{ conversation, turn, messageId, agent, startedAt: time, lastAt: time, since: time },
    ...{ round: 0, callsLeft: 0, calls: 0, tokens: 0, base: 'model', state: 'model' },
    ...{ tools: new Map(), guards: new Set(), persons: new Set(), isStopped: false },
  })
}

function move(turn: OpenTurn, message: Message): void {
  switch (message.type) {
    case 'round-started':
      Object.assign(turn, { round: message.round, callsLeft: message.callsLeft, base: 'model' })
      turn.tools.clear()
      turn.guards.clear()
      turn.persons.clear()
      return
    case 'intervention-raised':
      if (isStop(message)) turn.isStopped = true
      return
    case 'model-retry':
      turn.base = 'model'
      return
    case 'model-answered': {
      const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = message.usage
      turn.tokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
      turn.calls += message.calls.length
      turn.base = message.calls.length > 0 ? 'tool' : 'model'
      return
    }
    case 'calls-waiting':
      for (const { guards } of message.calls) for (const guard of guards) turn.guards.add(guard)
      return
    case 'guard-verdict-given':
      turn.guards.delete(message.guard)
      return
    case 'approval-pending':
      for (const { ordinal } of message.calls) turn.persons.add(ordinal)
      return
    case 'approval-decided':
      turn.persons.delete(message.ordinal)
      return
    case 'tool-started':
      turn.tools.set(message.ordinal, message.name)
      return
    case 'call-finished':
      turn.tools.delete(message.ordinal)
      return
  }
}

/** Whether the loop-detector ends the turn, or forbids it further calls. */
export function isStop({ intervention, shadow }: InterventionRaised): boolean {
  return !shadow && !intervention.ordinary && intervention.rung !== 'nudge'
}

function placeOf({ persons, guards, base }: OpenTurn): TurnState {
  if (persons.size > 0) return 'person'
  return guards.size > 0 ? 'guard' : base
}

/** The turns as the page shows them at this time. */
export function shownTurns(
  { turns, dropped }: OpenTurns,
  now: Milliseconds,
): ConsoleState['turns'] {
  const counts = Object.fromEntries(turnStates.map((state) => [state, 0])) as Record<
    TurnState,
    number
  >
  const shown = [...turns.values()].map((turn) => shownTurn(turn, now))
  for (const { state } of shown) counts[state] += 1
  shown.sort(
    (a, b) => turnStates.indexOf(a.state) - turnStates.indexOf(b.state) || a.since - b.since,
  )
  return { counts, shown: shown.slice(0, limits.consoleTurnsShownMax), dropped }
}

function shownTurn(turn: OpenTurn, now: Milliseconds): ShownTurn {
  const { conversation, agent, round, startedAt, lastAt, tools, guards } = turn
  const isStalled =
    turn.state !== 'person' && !isGuest(conversation) && now - lastAt > limits.consoleStalledMs
  const names =
    turn.state === 'guard' ? [...guards] : turn.state === 'tool' ? [...tools.values()] : []
  const where = isStalled ? [turn.state, ...names] : names
  return {
    ...{ conversation, agent, round, startedAt },
    state: isStalled ? 'stalled' : turn.state,
    detail: [...new Set(where)].join(', '),
    since: isStalled ? lastAt : turn.since,
  }
}
