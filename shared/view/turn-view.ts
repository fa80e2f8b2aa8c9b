// A turn, as far as its records show it: its beginning, its rounds, the facts about it and its end.
// Pure. Owns: the values of a turn that lists, filters, screens and bundles show.
// TURN-VIEW-1. The order of the records does not matter for the values of the turn itself. A walk may
//     go back from the newest record.
// TURN-VIEW-2. Memory: without `rounds`, some numbers and names for each effect (turn-facts.ts).

import type { MessageId } from '../contract/ids.ts'
import type { GuestAdvice, HistoryEntry, Message, TurnFinished } from '../contract/messages.ts'
import { tenantOf } from '../contract/tenant.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { Logged } from './logged.ts'
import { addToRound, beginRound, type RoundView } from './round-view.ts'
import type { TurnEnd, TurnTimeline } from './timeline.ts'
import { addFact, beginFacts, type FactFold } from './turn-facts.ts'

/** Times are append times. A missing field: no record shows it. */
export type TurnView = {
  turn: number
  tenant?: string
  /** Of its beginning; without it, of its first request to the model. */
  agent?: string
  /** The message that opened it, or that opened no turn. */
  messageId?: MessageId
  /** Whether a record shows that it began. A message that opened no turn has a number too. */
  isOpened: boolean
  startedAt?: Milliseconds
  /** The time of its earliest record. */
  firstAt: Milliseconds
  /** The user's message in the history. */
  opening?: HistoryEntry
  /** The newest round that began, and the time of its beginning. 0: none. */
  round: number
  roundAt: Milliseconds
  rounds: Map<number, RoundView>
  facts: FactFold
  failures: TurnTimeline['failures']
  /** The newest advice to a guest that ended it. The guest may go on, with a round after it. */
  endedBy?: GuestAdvice & { at: Milliseconds }
  end?: TurnEnd
}

/** Whether Weir ended it by its advice, and no round has begun since. */
export function isEndedByAdvice({ endedBy, roundAt }: TurnView): boolean {
  return endedBy !== undefined && endedBy.at >= roundAt
}

/** `rounds`: whether a view keeps the rounds of its turns. */
export type Detail = { rounds: boolean }

export type TurnRecord = Pick<Logged, 'time' | 'topic'> & { message: Message }

export function beginTurn(turn: number, firstAt: Milliseconds): TurnView {
  return {
    turn,
    isOpened: false,
    firstAt,
    round: 0,
    roundAt: 0,
    rounds: new Map(),
    facts: beginFacts(),
    failures: [],
  }
}

/** Adds a record of the turn. Changes `view` in place. */
export function addToTurn(
  view: TurnView,
  { message, time, topic }: TurnRecord,
  { rounds }: Detail,
): void {
  view.firstAt = Math.min(view.firstAt, time)
  if ('conversation' in message) view.tenant ??= tenantOf(message.conversation)
  addFact(view.facts, message)
  addTurnRecord(view, message, time)
  if (!rounds || !('round' in message) || message.round < 1) return
  const round = view.rounds.get(message.round) ?? beginRound(message.round)
  view.rounds.set(message.round, round)
  addToRound(round, message, { time, topic })
}

function addTurnRecord(view: TurnView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'turn-started':
      view.isOpened = true
      if (view.startedAt !== undefined) return
      view.startedAt = at
      view.agent = message.agent
      view.messageId = message.messageId
      return
    case 'round-started':
      view.round = Math.max(view.round, message.round)
      view.roundAt = Math.max(view.roundAt, at)
      return
    case 'model-request':
      view.isOpened = true
      view.agent ??= message.agent
      return
    case 'history-entry':
      view.isOpened = true
      if (message.round === 0) view.opening ??= message
      return
    case 'turn-failed':
      view.failures.push({ at, stage: message.stage, reason: message.reason })
      return
    case 'guest-advice':
      if (message.rung === 'end' && at >= (view.endedBy?.at ?? 0)) view.endedBy = { ...message, at }
      return
    case 'turn-finished':
      view.messageId ??= message.messageId
      view.end ??= endOf(message, at)
      return
  }
}

function endOf(message: TurnFinished, at: Milliseconds): TurnEnd {
  const { outcome, reason, class: failure, cap, reply, totals } = message
  return { at, outcome, reason, class: failure, cap, reply, totals }
}
