// A conversation as its records show it: one reducer from records to values. All screens, lists, files
// and feeds select from this view, so two of them cannot show one value differently. Pure.
// It decides nothing, and leaves out fields that its records do not show: records
// of all topics, or lines of the activity only, of which some may be deleted.
// Each record comes once: the caller drops repeats (inOrder of logged.ts).
// A view has one owner. `reduce` changes it in place, because a copy for each
// record would cost the square of the rounds.

import { originsIn } from '../contract/history/fork.ts'
import type { ConversationId, MessageId } from '../contract/ids.ts'
import type { DeadLetter, HistorySummary, Message } from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { Logged } from './logged.ts'
import type { Trouble } from './timeline.ts'
import { addFact, beginFacts, type FactFold } from './turn-facts.ts'
import { addToTurn, beginTurn, type Detail, type TurnView } from './turn-view.ts'

export type ConversationView = {
  conversation?: ConversationId
  /** By id, in the order of their first records. Also messages that opened no turn. */
  turns: Map<number, TurnView>
  /** This and the next fields: only with the detail `all`. The first record of a message counts. */
  asked: Map<MessageId, { at: Milliseconds; text: string }>
  cancelled: Map<MessageId, Milliseconds>
  /** Undefined: it is no fork. */
  forkedFrom?: ConversationId
  /** The title that was given. Undefined: none. */
  title?: string
  /** The newest summary of the history. */
  summary?: HistorySummary & { at: Milliseconds }
  /** Facts that belong to no turn. Undefined: none. */
  facts?: FactFold
  troubles: Trouble[]
  /** Records that could not be decoded. */
  unreadable: number
}

/** The view of these records, each once (inOrder of logged.ts). */
export function viewOf(records: Iterable<Logged>, detail: Detail = 'all'): ConversationView {
  const view = begin()
  for (const record of records) reduce(view, record, detail)
  return view
}

/** `view` undefined: the record is the first one. */
export function reduce(
  view: ConversationView | undefined,
  record: Logged,
  detail: Detail = 'all',
): ConversationView {
  const next = view ?? begin()
  if (!isReadable(record)) {
    next.unreadable += 1
    return next
  }
  const { message, time } = record
  if (next.conversation === undefined && 'conversation' in message)
    next.conversation = message.conversation
  if ('turn' in message && message.turn !== null) {
    const turn = next.turns.get(message.turn) ?? beginTurn(message.turn, time)
    next.turns.set(message.turn, turn)
    addToTurn(turn, record, detail)
  }
  if (message.type === 'requests-unjudged') {
    next.facts ??= beginFacts()
    addFact(next.facts, message)
  }
  if (detail === 'all') addToConversation(next, message, time)
  return next
}

function isReadable(record: Logged): record is Logged & { message: Message } {
  return record.message !== undefined
}

function begin(): ConversationView {
  return {
    turns: new Map(),
    asked: new Map(),
    cancelled: new Map(),
    troubles: [],
    unreadable: 0,
  }
}

function addToConversation(view: ConversationView, message: Message, at: Milliseconds): void {
  switch (message.type) {
    case 'user-message':
      if (!view.asked.has(message.messageId))
        view.asked.set(message.messageId, { at, text: message.text })
      return
    case 'cancel-requested':
      if (!view.cancelled.has(message.messageId)) view.cancelled.set(message.messageId, at)
      return
    case 'history-summary':
      view.summary = { ...message, at }
      return
    case 'conversation-forked': {
      const origin = originsIn(message).at(-1)
      if (origin !== undefined) view.forkedFrom = origin.conversation
      return
    }
    case 'conversation-titled':
      view.title = message.title
      return
    case 'dead-letter':
      view.troubles.push(troubleOf(message, at))
      return
    case 'turn-failed': {
      const { turn, stage, reason } = message
      const noPlace = { topic: null, partition: null, offset: null }
      if (turn === null) view.troubles.push({ at, stage, reason, ...noPlace })
    }
  }
}

function troubleOf(
  { stage, reason, topic, partition, offset }: DeadLetter,
  at: Milliseconds,
): Trouble {
  return { at, stage, reason, topic, partition, offset }
}
