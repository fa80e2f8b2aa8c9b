// A turn, as far as the records show: beginning, rounds, facts and end.
// Pure. Owns: the values of a turn that lists, filters, screens and bundles show.
// The order of the records does not matter for the values of the turn itself. A walk may
// go back from the newest record.
// Memory: some numbers and names for each effect (turn-facts.ts), and the rounds and texts
// of the detail. Of an open turn: the newest round, and older ones with a running call.

import type { ConversationId, MessageId } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type {
  Cap,
  Caps,
  FailureClass,
  GuestAdvice,
  HistoryEntry,
  Message,
  Parent,
  TurnFinished,
  TurnOutcome,
  Usage,
} from '../contract/messages.ts'
import { tenantOf } from '../contract/tenant.ts'
import { treeOf } from '../contract/tree.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { cutToBytes } from '../lib/text-cut.ts'
import type { Logged } from './logged.ts'
import { addToRound, beginRound, isRunning, type RoundView } from './round-view.ts'
import type { TurnTimeline } from './timeline.ts'
import { tokensOf } from './totals.ts'
import { addFact, beginFacts, type FactFold } from './turn-facts.ts'

/** Times are append times. A missing field: no record shows it. */
export type TurnView = {
  turn: number
  tenant?: string
  /** Of its beginning; without it, of its first request to the model. */
  agent?: string
  /** The recorded place in a tree. Undefined: no record shows the beginning. */
  parent?: Parent | null
  /** The conversation at the root of its tree, as far as its records name a root. */
  tree?: ConversationId
  /** The message that opened it, or that opened no turn. */
  messageId?: MessageId
  /** Whether a record shows that it began. A message that opened no turn has a number too. */
  isOpened: boolean
  startedAt?: Milliseconds
  /** The times of its earliest and its latest record. */
  firstAt: Milliseconds
  lastAt: Milliseconds
  /** The user's message in the history. */
  opening?: HistoryEntry
  /** The newest round of its records, and the time at which the newest one began. 0: none. */
  round: number
  roundAt: Milliseconds
  callsLeft: number
  /** The caps in the newest round. */
  caps?: Caps
  /** Calls and tokens of the responses in the activity, and the use of the newest one. */
  calls: number
  tokens: number
  usage?: Usage
  /** Their rounds: a record that a second owner writes again counts once. */
  answered: Set<number>
  /** Names of called tools, at most `limits.turnToolNamesMax`, each cut to their length. */
  tools: Set<string>
  rounds: Map<number, RoundView>
  facts: FactFold
  failures: TurnTimeline['failures']
  /** The newest advice to a guest that ended it. The guest may go on, with a round after it. */
  endedBy?: GuestAdvice & { at: Milliseconds }
  end?: TurnFinished & { at: Milliseconds }
}

/** Whether Weir ended it by its advice, and no round has begun since. */
export function isEndedByAdvice({ endedBy, roundAt }: TurnView): boolean {
  return endedBy !== undefined && endedBy.at >= roundAt
}

/** The end of a turn in lists. ended: Weir has ended it, and a guest may go on. */
export type Ending = {
  outcome: TurnOutcome | 'ended'
  class: FailureClass | null
  cap: Cap | null
  reason: string | null
  at: Milliseconds
}

/** Undefined: the turn runs, or its end is not among its records. */
export function endingOf(view: TurnView): Ending | undefined {
  const { end, endedBy } = view
  if (end !== undefined) {
    const { outcome, class: failureClass, cap, reason, at } = end
    return { outcome, class: failureClass, cap, reason, at }
  }
  if (endedBy === undefined || !isEndedByAdvice(view)) return undefined
  const { cap, reason, at } = endedBy
  return { outcome: 'ended', class: null, cap, reason, at }
}

/**
 * The part of a turn that a view keeps. `all`: each round. `open`: the open rounds.
 * `state`: the same without texts. `turn`: no round and no text.
 */
export type Detail = 'all' | 'open' | 'state' | 'turn'

export type TurnRecord = Pick<Logged, 'time' | 'topic'> & { message: Message }

export function beginTurn(turn: number, firstAt: Milliseconds): TurnView {
  return {
    turn,
    isOpened: false,
    firstAt,
    lastAt: firstAt,
    round: 0,
    roundAt: 0,
    callsLeft: 0,
    calls: 0,
    tokens: 0,
    answered: new Set(),
    tools: new Set(),
    rounds: new Map(),
    facts: beginFacts(),
    failures: [],
  }
}

/** Adds a record of the turn. Changes `view` in place. */
export function addToTurn(view: TurnView, given: TurnRecord, detail: Detail): void {
  const record = isShortened(given, detail)
    ? { ...given, message: withoutTexts(given.message) }
    : given
  const { message, time } = record
  view.firstAt = Math.min(view.firstAt, time)
  view.lastAt = Math.max(view.lastAt, time)
  if (view.tenant === undefined && 'conversation' in message) {
    view.tenant = tenantOf(message.conversation)
    view.tree = treeOf({ conversation: message.conversation, parent: null })
  }
  addFact(view.facts, message)
  addTurnRecord(view, message, time)
  if (!('round' in message) || message.round < 1) return
  view.round = Math.max(view.round, message.round)
  if (detail === 'turn') return
  if (detail !== 'all') dropRounds(view)
  const round = view.rounds.get(message.round) ?? beginRound(message.round)
  view.rounds.set(message.round, round)
  addToRound(round, record)
}

function dropRounds({ rounds, round: newest }: TurnView): void {
  for (const { round, calls } of rounds.values())
    if (round < newest && ![...calls.values()].some(isRunning)) rounds.delete(round)
}

/** Without rounds, only these two records are kept. */
function isShortened({ message: { type } }: TurnRecord, detail: Detail): boolean {
  if (detail === 'turn') return type === 'history-entry' || type === 'turn-finished'
  return detail === 'state'
}

/** Without texts of the model, of tools and of the user. */
function withoutTexts(message: Message): Message {
  switch (message.type) {
    case 'model-answered': {
      const calls = message.calls.map((call) => ({ ...call, arguments: '' }))
      return { ...message, text: '', calls }
    }
    case 'approval-pending': {
      const calls = message.calls.map((call) => ({ ...call, arguments: '', question: null }))
      return { ...message, calls }
    }
    case 'history-entry':
      return { ...message, user: null, response: null, results: [] }
    case 'call-finished':
      return { ...message, result: '' }
    case 'turn-finished':
      return { ...message, reply: '' }
    default:
      return message
  }
}

function addTurnRecord(view: TurnView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'turn-started':
      view.isOpened = true
      if (view.startedAt !== undefined) return
      view.startedAt = at
      view.agent = message.agent
      view.parent = message.parent
      view.tree = treeOf(message)
      view.messageId = message.messageId
      return
    case 'round-started':
      if (message.round >= view.round) {
        view.callsLeft = message.callsLeft
        if (message.caps !== null) view.caps = message.caps
      }
      view.roundAt = Math.max(view.roundAt, at)
      return
    case 'model-request':
      view.isOpened = true
      view.agent ??= message.agent
      return
    case 'model-answered':
      if (view.answered.has(message.round)) return
      view.answered.add(message.round)
      view.calls += message.calls.length
      view.tokens += tokensOf(message.usage)
      view.usage = message.usage
      for (const { name } of message.calls)
        if (view.tools.size < limits.turnToolNamesMax)
          view.tools.add(cutToBytes(name, limits.turnToolNameBytesMax))
      return
    case 'history-entry':
      view.isOpened = true
      if (message.round === 0) view.opening ??= message
      return
    case 'turn-failed':
      view.failures.push({ at, stage: message.stage, reason: message.reason })
      return
    case 'guest-advice':
      if (message.action === 'end' && at >= (view.endedBy?.at ?? 0))
        view.endedBy = { ...message, at }
      return
    case 'turn-finished':
      view.messageId ??= message.messageId
      view.end ??= { ...message, at }
  }
}
