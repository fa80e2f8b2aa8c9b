// The open turns, by the place where each one is: with the model, a tool, a guard, a person or the
// client that runs a call. Pure.
// CONSOLE-TURNS-1. Only `turn-started` opens a turn, so late records of an ended one change nothing.
// CONSOLE-TURNS-2. At most `limits.consoleTurnsMax` turns are kept. Further ones are only counted.

import { limits } from '../../../../shared/contract/limits.ts'
import type { InterventionRaised, Message } from '../../../../shared/contract/messages.ts'
import { isGuest } from '../../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { callIdOf } from '../../edge/chat/turn-calls.ts'
import {
  type ConsoleState,
  type ShownTurn,
  type TurnState,
  turnStates,
} from '../page/console-state.ts'

/**
 * `tokens`: of the last response. `tools`, `persons`, `clients`: by ordinal. `since`: of the state.
 * `roundTokens`: of the newest rounds. `idle`: those of them without a new result (spend.ts), and
 * `idleCount` of the whole turn.
 */
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
  /** The tool and the time of each call that waits for the client's result. */
  clients: Map<number, { name: string; since: Milliseconds }>
  roundTokens: Map<number, number>
  idle: Set<number>
  idleCount: number
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
  move(turn, message, time)
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
    conversation,
    turn,
    messageId,
    agent,
    startedAt: time,
    lastAt: time,
    since: time,
    round: 0,
    callsLeft: 0,
    calls: 0,
    tokens: 0,
    base: 'model',
    state: 'model',
    tools: new Map(),
    guards: new Set(),
    persons: new Set(),
    clients: new Map(),
    roundTokens: new Map(),
    idle: new Set(),
    idleCount: 0,
    isStopped: false,
  })
}

function move(turn: OpenTurn, message: Message, time: Milliseconds): void {
  switch (message.type) {
    case 'round-started':
      Object.assign(turn, { round: message.round, callsLeft: message.callsLeft, base: 'model' })
      turn.tools.clear()
      turn.guards.clear()
      turn.persons.clear()
      turn.clients.clear()
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
      keepTokens(turn, message.round)
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
    case 'call-offered':
      turn.clients.set(message.ordinal, { name: message.name, since: time })
      return
    case 'call-finished':
      turn.tools.delete(message.ordinal)
      turn.clients.delete(message.ordinal)
      return
  }
}

function keepTokens({ roundTokens, idle, tokens }: OpenTurn, round: number): void {
  roundTokens.set(round, tokens)
  const [oldest] = roundTokens.keys()
  if (roundTokens.size <= limits.consoleRoundsKept || oldest === undefined) return
  roundTokens.delete(oldest)
  idle.delete(oldest)
}

/** Whether the loop-detector ends the turn, or forbids it further calls. */
export function isStop({ intervention, shadow }: InterventionRaised): boolean {
  return !shadow && !intervention.ordinary && intervention.rung !== 'nudge'
}

function placeOf({ persons, clients, guards, base }: OpenTurn): TurnState {
  if (persons.size > 0) return 'person'
  if (clients.size > 0) return 'client'
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
  const { conversation, agent, round, startedAt, lastAt, idleCount } = turn
  const isStalled = !waits.has(turn.state) && !isGuest(conversation) && now - lastAt > stalledMs
  const names = namesOf(turn)
  const where = isStalled ? [turn.state, ...names] : names
  return {
    conversation,
    agent,
    round,
    startedAt,
    idle: idleCount,
    state: isStalled ? 'stalled' : turn.state,
    detail: [...new Set(where)].join(', '),
    since: isStalled ? lastAt : turn.since,
  }
}

const stalledMs = limits.consoleStalledMs

/** The deadline of a call ends these. */
const waits: ReadonlySet<TurnState> = new Set(['person', 'client'])

/** The running tools, the guards that have not answered, or the calls of the client by their ids. */
function namesOf({ state, tools, guards, clients, turn, round }: OpenTurn): string[] {
  switch (state) {
    case 'guard':
      return [...guards]
    case 'tool':
      return [...tools.values()]
    case 'client':
      return [...clients].map(
        ([ordinal, { name }]) => `${name} (${callIdOf({ turn, round, ordinal })})`,
      )
    default:
      return []
  }
}
