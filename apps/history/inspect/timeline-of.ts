// Turns the records of a conversation into its timeline. Pure. Owns: which records belong to which
// turn and message. Does not own: the content of a round (round-of.ts), reading the records
// (recorded.ts).
// TIMELINE-OF-1. It decides nothing. If several records agree, the first in the log counted, as in
//     the stages (R3, R4).
// TIMELINE-OF-2. A turn is shown as far as its records exist. The newest may be ahead of the rest,
//     and the oldest may be deleted.

import { addFact, beginFacts, factsOf } from '../../../client/history/turn-facts.ts'
import type { ConversationId, MessageId } from '../../../shared/contract/ids.ts'
import type { Message, TurnFinished } from '../../../shared/contract/messages.ts'
import { numbersOf } from '../turn-numbers.ts'
import { all, first, inOrder, type Logged, type Readable } from './logged.ts'
import { roundOf } from './round-of.ts'
import type {
  LooseMessage,
  SummaryTimeline,
  Timeline,
  Trouble,
  TurnEnd,
  TurnTimeline,
} from './timeline.ts'

export type TimelineOptions = {
  /** Include the full text of the model's reasoning. */
  reasoning: boolean
  /** Earlier turns of the conversation, of which `given` has nothing (contextTurns). */
  context?: readonly number[]
}

/**
 * `given`: the records of this conversation, of all topics of its partition, in any order, possibly
 * with repeats.
 */
export function timelineOf(
  conversation: ConversationId,
  given: readonly Logged[],
  options: TimelineOptions,
): Timeline {
  const records = inOrder(given)
  const byTurn = grouped(records, turnOfMessage)
  const userMessages = firstByMessage(all(records, 'user-message'))
  const cancelled = firstByMessage(all(records, 'cancel-requested'))
  const ids = turnIds(records)
  const numbers = numbersOf([...ids, ...(options.context ?? [])])
  const turns = ids.map((turn) => {
    const number = numbers.get(turn) ?? 0
    return turnOf(turn, { number, own: byTurn.get(turn) ?? [], userMessages, cancelled }, options)
  })
  const messages = looseMessages(records, { turns, userMessages })
  const isOpen = turns.some(({ end }) => end === null) || messages.some(({ end }) => end === null)
  return {
    conversation,
    state: isOpen ? 'open' : 'idle',
    turns,
    summary: summaryOf(all(records, 'history-summary').at(-1), numbers),
    messages,
    troubles: troublesOf(records),
    unreadable: records.filter(({ message }) => message === undefined).length,
  }
}

function summaryOf(
  record: Readable<'history-summary'> | undefined,
  numbers: ReadonlyMap<number, number>,
): SummaryTimeline | null {
  if (record === undefined) return null
  const { turn, round, entries, by, text, note } = record.message
  return {
    at: record.time,
    turn: numbers.get(turn) ?? 0,
    round,
    entries,
    text,
    by: by === '' ? null : by,
    note: note === '' ? null : note,
  }
}

/** The beginning of a turn writes each of these records, so one of them is enough. */
function turnIds(records: Logged[]): number[] {
  const began = all(records, 'turn-started', 'model-request', 'history-entry').map(
    ({ message }) => message.turn,
  )
  return [...new Set(began)].sort((a, b) => a - b)
}

// ── Turns ──

/** By the id of the user's message. */
type UserMessages = Map<string, Readable<'user-message'>>

/** `own`: the records of the turn. The others: of the whole conversation. */
type OfTurn = {
  number: number
  own: Logged[]
  userMessages: UserMessages
  cancelled: Map<string, Readable<'cancel-requested'>>
}

function turnOf(
  turn: number,
  { number, own, userMessages, cancelled }: OfTurn,
  options: TimelineOptions,
): TurnTimeline {
  const started = first(own, 'turn-started')
  const finished = first(own, 'turn-finished')
  const messageId = started?.message.messageId ?? finished?.message.messageId ?? ''
  const question = userMessages.get(messageId)
  const opening = all(own, 'history-entry').find(({ message }) => message.round === 0)
  const byRound = grouped(own, roundOfMessage)
  const rounds = [...byRound.keys()].filter((round) => round > 0).sort((a, b) => a - b)
  const facts = beginFacts()
  for (const { message } of own) if (message !== undefined) addFact(facts, message)
  return {
    turn,
    number,
    agent: started?.message.agent ?? first(own, 'model-request')?.message.agent ?? '',
    messageId,
    text: opening?.message.user ?? question?.message.text ?? null,
    contents: opening?.message.contents ?? [],
    messageAt: question?.time ?? null,
    startedAt: started?.time ?? own[0]?.time ?? 0,
    durationMs: finished?.message.totals.wallMs ?? null,
    rounds: rounds.map((round) => roundOf(round, byRound.get(round) ?? [], options)),
    cancelRequestedAt: cancelled.get(messageId)?.time ?? null,
    facts: factsOf(facts),
    failures: all(own, 'turn-failed').map(({ time, message: { stage, reason } }) => ({
      at: time,
      stage,
      reason,
    })),
    end: finished === undefined ? null : endOf(finished),
  }
}

/** Undefined: the record names no turn. A message that opened none has an unused number. */
function turnOfMessage(message: Message | undefined): number | undefined {
  return message !== undefined && 'turn' in message && message.turn !== null
    ? message.turn
    : undefined
}

function roundOfMessage(message: Message | undefined): number | undefined {
  return message !== undefined && 'round' in message ? message.round : undefined
}

/** The first counts (TIMELINE-OF-1). */
function firstByMessage<R extends { message: { messageId: MessageId } }>(
  records: R[],
): Map<string, R> {
  return new Map(records.toReversed().map((record) => [record.message.messageId, record]))
}

/** Groups once for all turns and rounds: a search for each would be quadratic. */
function grouped(
  records: Logged[],
  numberOf: (message: Message | undefined) => number | undefined,
): Map<number, Logged[]> {
  const groups = new Map<number, Logged[]>()
  for (const record of records) {
    const number = numberOf(record.message)
    if (number === undefined) continue
    const group = groups.get(number)
    if (group === undefined) groups.set(number, [record])
    else group.push(record)
  }
  return groups
}

function endOf({ time, message }: Readable<'turn-finished'>): TurnEnd {
  const { outcome, reason, class: failure, cap, reply, totals } = message
  return { at: time, outcome, reason, class: failure, cap, reply, totals }
}

// ── Messages and failures without a turn ──

/** Messages that were refused, were removed from the queue, or still wait. */
function looseMessages(
  records: Logged[],
  { turns, userMessages }: { turns: TurnTimeline[]; userMessages: UserMessages },
): LooseMessage[] {
  const numbers = new Set<number | null>(turns.map(({ turn }) => turn))
  const ends = all(records, 'turn-finished').filter(({ message }) => !numbers.has(message.turn))
  const ended = ends.map(
    ({ time, message }): LooseMessage => ({
      ...messageOf(message.messageId, userMessages.get(message.messageId)),
      end: { at: time, ...pickEnd(message) },
    }),
  )
  const known = new Set([...turns, ...ended].map(({ messageId }) => messageId))
  const waiting = all(records, 'user-message').filter(({ message: { messageId } }) => {
    const isNew = !known.has(messageId)
    known.add(messageId)
    return isNew
  })
  return [
    ...ended,
    ...waiting.map(
      (one): LooseMessage => ({ ...messageOf(one.message.messageId, one), end: null }),
    ),
  ]
}

function messageOf(
  messageId: MessageId,
  userMessage: Readable<'user-message'> | undefined,
): Omit<LooseMessage, 'end'> {
  return { messageId, text: userMessage?.message.text ?? null, at: userMessage?.time ?? null }
}

function pickEnd({
  outcome,
  reason,
  class: failure,
}: TurnFinished): Pick<TurnFinished, 'outcome' | 'reason' | 'class'> {
  return { outcome, reason, class: failure }
}

function troublesOf(records: Logged[]): Trouble[] {
  const letters = all(records, 'dead-letter').map(
    ({ time, message: { stage, reason, topic, partition, offset } }): Trouble => {
      return { at: time, stage, reason, topic, partition, offset }
    },
  )
  const withoutTurn = all(records, 'turn-failed')
    .filter(({ message }) => message.turn === null)
    .map(
      ({ time, message: { stage, reason } }): Trouble => ({
        at: time,
        stage,
        reason,
        topic: null,
        partition: null,
        offset: null,
      }),
    )
  return [...letters, ...withoutTurn].sort((a, b) => a.at - b.at)
}
