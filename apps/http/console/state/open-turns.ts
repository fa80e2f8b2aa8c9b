// The open turns, by the place where each one is: with the model, a tool, a guard, a person or the
// client that runs a call. Pure.
// Only `turn-started` opens a turn, so late records of an ended one change nothing.
// At most `limits.consoleTurnsMax` turns are kept. Further ones are only counted.

import { type ConversationId, type TurnId, turnKey } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import { isGuest } from '../../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { type Place, placeOf } from '../../../../shared/view/place.ts'
import { addToTurn, beginTurn, type TurnView } from '../../../../shared/view/turn-view.ts'
import { callIdOf } from '../../edge/chat/turn-calls.ts'
import {
  type ConsoleState,
  type ShownTurn,
  type TurnState,
  turnStates,
} from '../page/console-state.ts'

/** A turn without a record for so long is shown as stalled, unless a person or a guest has it. */
export const consoleStalledMs = 2 * 60_000

/** `since`: at this place. `spend`: see spend.ts. */
export type OpenTurn = TurnId & {
  agent: string
  view: TurnView
  place: Place
  since: Milliseconds
  spend: TurnSpend
}

/** `tokens`: of the newest rounds. `idle`: those of them without a new result. `count`: of the turn. */
export type TurnSpend = { tokens: Map<number, number>; idle: Set<number>; count: number }

export type OpenTurns = { turns: Map<string, OpenTurn>; dropped: number }

export function beginTurns(): OpenTurns {
  return { turns: new Map(), dropped: 0 }
}

/** The open turn of a record. Undefined: it is not open, or not followed. */
export function turnOf({ turns }: OpenTurns, message: Message): OpenTurn | undefined {
  return 'conversation' in message && 'turn' in message && typeof message.turn === 'number'
    ? turns.get(turnKey({ conversation: message.conversation, turn: message.turn }))
    : undefined
}

/** Adds a record of the activity. */
export function addToTurns(open: OpenTurns, message: Message, time: Milliseconds): void {
  const turn = turnOf(open, message) ?? begin(open, message, time)
  if (message.type === 'turn-finished') {
    if (turn === undefined) open.dropped = Math.max(0, open.dropped - 1)
    else open.turns.delete(turnKey(turn))
    return
  }
  if (turn === undefined) return
  addToTurn(turn.view, { topic: 'activity', time, message }, 'state')
  const place = placeOf(turn.view)
  if (place.at !== turn.place.at) turn.since = turn.view.lastAt
  turn.place = place
}

function begin(open: OpenTurns, message: Message, time: Milliseconds): OpenTurn | undefined {
  if (message.type !== 'turn-started') return undefined
  if (open.turns.size >= limits.consoleTurnsMax) {
    open.dropped += 1
    return undefined
  }
  const { conversation, turn, agent } = message
  const view = beginTurn(turn, time)
  const spend = { tokens: new Map(), idle: new Set<number>(), count: 0 }
  const begun = { conversation, turn, agent, view, place: placeOf(view), since: time, spend }
  open.turns.set(turnKey(message), begun)
  return begun
}

/** The turns as the page shows them at this time: by state, and in a state the oldest first. */
export function shownTurns(
  { turns, dropped }: OpenTurns,
  now: Milliseconds,
): ConsoleState['turns'] {
  const states = Object.fromEntries<OpenTurn[]>(turnStates.map((state) => [state, []]))
  for (const turn of turns.values()) states[stateOf(turn, now)]?.push(turn)
  const trees = Map.groupBy(turns.values(), rootOf)
  const counts = {} as Record<TurnState, number>
  const shown: ShownTurn[] = []
  for (const state of turnStates) {
    const ofState = states[state] ?? []
    counts[state] = ofState.length
    const left = limits.consoleTurnsShownMax - shown.length
    if (left === 0) continue
    const sinceOf = ({ view, since }: OpenTurn) => (state === 'stalled' ? view.lastAt : since)
    ofState.sort((a, b) => sinceOf(a) - sinceOf(b))
    for (const turn of ofState.slice(0, left)) {
      const root = rootOf(turn)
      const tree = root !== turn.conversation || (trees.get(root)?.length ?? 0) > 1 ? root : null
      shown.push({ ...shownTurn(turn, state, sinceOf(turn)), tree })
    }
  }
  return { counts, shown, dropped }
}

function rootOf({ conversation, view }: OpenTurn): ConversationId {
  return view.tree ?? conversation
}

function stateOf({ conversation, view, place }: OpenTurn, now: Milliseconds): TurnState {
  const isStalled =
    now - view.lastAt > consoleStalledMs && !waits.has(place.at) && !isGuest(conversation)
  return isStalled ? 'stalled' : place.at
}

function shownTurn(
  { conversation, agent, turn, view: { round, firstAt }, place, spend }: OpenTurn,
  state: TurnState,
  since: Milliseconds,
): Omit<ShownTurn, 'tree'> {
  const names = namesOf(place, turn)
  const where = state === 'stalled' ? [place.at, ...names] : names
  const detail = [...new Set(where)].join(', ')
  return { conversation, agent, round, startedAt: firstAt, idle: spend.count, state, detail, since }
}

/** The deadline of a call ends these. */
const waits: ReadonlySet<TurnState> = new Set(['person', 'client'])

/** The running tools, the guards that have not answered, or the calls of the client by their ids. */
function namesOf(place: Place, turn: number): string[] {
  if (place.at === 'client')
    return place.calls.map((call) => `${call.name} (${callIdOf({ ...call, turn })})`)
  return place.at === 'guard' || place.at === 'tool' ? place.names : []
}
