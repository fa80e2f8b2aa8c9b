// A conversation's records as its timeline. Pure: what was read in, what is told out. Owns: which
// records belong to which turn and message. Does not own: what a round tells (round-of.ts), where
// records come from (recorded.ts).
// TIMELINE-OF-1. Nothing is decided here. Where several records say the same, the one that counted
//     is the first in the log, as the stages have it (R3, R4).
// TIMELINE-OF-2. A turn is told as far as its records are there: the newest may be a moment ahead
//     of the rest, and the oldest may be gone.

import type { ConversationId, MessageId } from '../../../shared/contract/ids.ts'
import type { Message, TurnFinished } from '../../../shared/contract/messages.ts'
import { all, first, inOrder, type Logged, type Readable } from './logged.ts'
import { roundOf } from './round-of.ts'
import type { LooseMessage, Timeline, Trouble, TurnEnd, TurnTimeline } from './timeline.ts'

export type TimelineOptions = {
  /** Whether the model's thinking is told in full. */
  reasoning: boolean
}

/**
 * `given`: the records of this conversation, of all topics of its partition, in any order; repeats
 * may be among them.
 */
export function timelineOf(
  conversation: ConversationId,
  given: readonly Logged[],
  options: TimelineOptions,
): Timeline {
  const records = inOrder(given)
  const byTurn = grouped(records, turnOfMessage)
  const asked = firstByMessage(all(records, 'user-message'))
  const cancelled = firstByMessage(all(records, 'cancel-requested'))
  const turns = turnNumbers(records).map((turn) =>
    turnOf(turn, { own: byTurn.get(turn) ?? [], asked, cancelled }, options),
  )
  const messages = looseMessages(records, { turns, asked })
  const isOpen = turns.some(({ end }) => end === null) || messages.some(({ end }) => end === null)
  return {
    conversation,
    state: isOpen ? 'open' : 'idle',
    turns,
    messages,
    troubles: troublesOf(records),
    unreadable: records.filter(({ message }) => message === undefined).length,
  }
}

/** Each of these is written when a turn begins; any of them is proof enough. */
function turnNumbers(records: Logged[]): number[] {
  const began = all(records, 'turn-started', 'model-request', 'history-entry').map(
    ({ message }) => message.turn,
  )
  return [...new Set(began)].sort((a, b) => a - b)
}

// ── Turns ──

/** By the id of the user's message. */
type Asked = Map<string, Readable<'user-message'>>

/** `own`: the records of the turn. `asked`, `cancelled`: of the whole conversation. */
type OfTurn = { own: Logged[]; asked: Asked; cancelled: Map<string, Readable<'cancel-requested'>> }

function turnOf(
  turn: number,
  { own, asked, cancelled }: OfTurn,
  options: TimelineOptions,
): TurnTimeline {
  const started = first(own, 'turn-started')
  const finished = first(own, 'turn-finished')
  const messageId = started?.message.messageId ?? finished?.message.messageId ?? ''
  const question = asked.get(messageId)
  const said = all(own, 'history-entry').find(({ message }) => message.round === 0)
  const byRound = grouped(own, roundOfMessage)
  const rounds = [...byRound.keys()].filter((round) => round > 0).sort((a, b) => a - b)
  return {
    turn,
    agent: started?.message.agent ?? first(own, 'model-request')?.message.agent ?? '',
    messageId,
    text: said?.message.user ?? question?.message.text ?? null,
    messageAt: question?.time ?? null,
    startedAt: started?.time ?? own[0]?.time ?? 0,
    rounds: rounds.map((round) => roundOf(round, byRound.get(round) ?? [], options)),
    cancelRequestedAt: cancelled.get(messageId)?.time ?? null,
    failures: all(own, 'turn-failed').map(({ time, message: { stage, reason } }) => ({
      at: time,
      stage,
      reason,
    })),
    end: finished === undefined ? null : endOf(finished),
  }
}

/** Undefined: it names no turn, or (a message that opened none) one that there never was. */
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

/** Once for all turns and rounds: a search for each would be quadratic. */
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

// ── What is no turn's ──

/** Refused, taken out of the queue, or still waiting. */
function looseMessages(
  records: Logged[],
  { turns, asked }: { turns: TurnTimeline[]; asked: Asked },
): LooseMessage[] {
  const told = new Set<number | null>(turns.map(({ turn }) => turn))
  const ends = all(records, 'turn-finished').filter(({ message }) => !told.has(message.turn))
  const ended = ends.map(
    ({ time, message }): LooseMessage => ({
      ...messageOf(message.messageId, asked.get(message.messageId)),
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
  asked: Readable<'user-message'> | undefined,
): Omit<LooseMessage, 'end'> {
  return { messageId, text: asked?.message.text ?? null, at: asked?.time ?? null }
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
  const nobodys = all(records, 'turn-failed')
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
  return [...letters, ...nobodys].sort((a, b) => a.at - b.at)
}
