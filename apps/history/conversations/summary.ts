// Summarizes one conversation for the list. The history has its turns and tokens. The newest
// activity has the end of its last turn. The record that opened the last turn has its agent; the
// offset of that record is the turn's number.

import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type {
  Cap,
  FailureClass,
  TurnFinished,
  TurnOutcome,
} from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { messageOf } from '../message-of.ts'
import type { OpenLog } from '../open-log.ts'
import type { RoundUsage } from './histories.ts'

/**
 * `weir conversations --json` prints one of these on each line. Times are append times, in
 * milliseconds since 1970-01-01 UTC.
 */
export type ConversationSummary = {
  conversation: ConversationId
  /** The agent of the last turn. Null: it is no longer in the log. */
  agent: string | null
  turns: number
  /** The total of all finished rounds. The input includes cached tokens. */
  inputTokens: number
  outputTokens: number
  /**
   * The end of the last turn. open: it still runs. unknown: its end is no longer in the log. For a
   * conversation without a turn: the end of its last message.
   */
  last: {
    outcome: TurnOutcome | 'open' | 'unknown'
    class: FailureClass | null
    cap: Cap | null
    reason: string | null
    at: Milliseconds
  }
}

/** A conversation whose last end the walk has not reached yet. */
export type Unfinished = Omit<ConversationSummary, 'last'> & {
  /** The number of its last turn. Undefined: no turn ever began. */
  lastTurn: number | undefined
  /** The time of its last activity. */
  at: Milliseconds
}

/** `newest`: the newest activity record. `rounds`: the whole history, each round once. */
export async function begin(
  log: OpenLog,
  newest: StoredRecord,
  rounds: Iterable<RoundUsage>,
): Promise<Unfinished> {
  const { key: conversation, time: at } = newest
  const found: Unfinished = {
    conversation,
    agent: null,
    turns: 0,
    inputTokens: 0,
    outputTokens: 0,
    lastTurn: undefined,
    at,
  }
  for (const round of rounds) add(found, round)
  found.agent =
    found.lastTurn === undefined
      ? null
      : await agentOf(log, partitionOf(conversation, log.partitions), found.lastTurn)
  return found
}

function add(found: Unfinished, { turn, round, usage }: RoundUsage): void {
  if (round === 0) found.turns += 1
  found.lastTurn = Math.max(found.lastTurn ?? 0, turn)
  if (usage === undefined) return
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  found.inputTokens += inputTokens + cacheReadTokens + cacheWriteTokens
  found.outputTokens += outputTokens
}

/** The opening record is the turn's message, or the record that takes it from the queue. */
async function agentOf(
  { bus, topicPrefix }: OpenLog,
  partition: number,
  turn: number,
): Promise<string | null> {
  const [record] = await bus.read({
    topic: `${topicPrefix}conversation-events`,
    partition,
    from: turn,
    to: turn + 1,
    limit: 1,
    bytesMax: 1,
  })
  const opening = messageOf(record?.value ?? null)
  if (opening?.type === 'user-message') return opening.agent
  return opening?.type === 'carried' ? (opening.state?.queue[0]?.agent ?? null) : null
}

/**
 * The summary, if this activity record shows the end of the last turn. Undefined: it does not. The
 * walk goes from newer to older records.
 */
export function finishedBy(
  unfinished: Unfinished,
  record: StoredRecord,
): ConversationSummary | undefined {
  const { lastTurn } = unfinished
  const message = messageOf(record.value)
  switch (message?.type) {
    case 'turn-finished':
      if (lastTurn === undefined || message.turn === lastTurn)
        return summaryOf(unfinished, endOf(message, record.time))
      // An older turn, although the walk comes from newer records: the last turn began after the
      // walk did. A newer number belongs to a message that opened no turn.
      return message.turn < lastTurn ? withoutEnd(unfinished, 'open') : undefined
    case 'turn-started':
    case 'round-started':
      return withoutEnd(unfinished, 'open')
    default:
      return undefined
  }
}

/** `unknown`: the end is no longer in the log. */
export function withoutEnd(
  unfinished: Unfinished,
  outcome: 'open' | 'unknown',
): ConversationSummary {
  return summaryOf(unfinished, { outcome, class: null, cap: null, reason: null, at: unfinished.at })
}

function summaryOf(
  { lastTurn: _, at: __, ...rest }: Unfinished,
  last: ConversationSummary['last'],
): ConversationSummary {
  return { ...rest, last }
}

function endOf(
  { outcome, class: failureClass, cap, reason }: TurnFinished,
  at: Milliseconds,
): ConversationSummary['last'] {
  return { outcome, class: failureClass, cap, reason, at }
}
