// A conversation's report: records, timeline and findings.

import type { ConversationId } from '../../shared/contract/ids.ts'
import { partitionOf } from '../../shared/contract/partition.ts'
import { inboxOf, type TopicName } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import type { Logged } from '../../shared/view/logged.ts'
import type { Timeline, TurnTimeline } from '../../shared/view/timeline.ts'
import { sumOfMoney } from '../../shared/view/totals.ts'
import { moneyOf } from '../history/inspect/money-of.ts'
import { timelineOf, turnNumbered } from '../history/inspect/timeline-of.ts'
import type { OpenLog } from '../history/open-log.ts'
import { isPlayed } from '../transcripts/made-up-settings.ts'
import { type MadeReport, reportData } from './report-data.ts'

/** `turn`: its number for people. Undefined: all turns. */
export type Showing = {
  log: OpenLog
  turn: number | undefined
  reasoning: boolean
  context: readonly number[]
  /** The page follows the log. */
  isLive?: boolean
}

/** `records`: in their order. `from`: the time of the first one. Throws `usage` for a bad turn. */
export async function reportOf(
  conversation: ConversationId,
  records: Logged[],
  { log, turn, reasoning, context, isLive = false }: Showing,
): Promise<{ report: MadeReport; from: number | null }> {
  const timeline = timelineOf(conversation, records, { reasoning, context })
  const only = turn === undefined ? undefined : turnNumbered(timeline, turn)
  const selected =
    only === undefined
      ? records
      : records.filter((record) => isOfTurn(record, only, inboxOf(conversation)))
  const shown = only === undefined ? timeline : { ...timeline, turns: [only], messages: [] }
  const where = {
    partition: partitionOf(conversation, log.partitions),
    topicPrefix: log.topicPrefix,
    readAt: readAt(log, timeline),
    isLive,
  }
  const { data, records: table } = reportData(shown, selected, where)
  const money = sumOfMoney(await moneyOf(shown, log))
  return {
    report: { data: { ...data, money }, records: table },
    from: records[0]?.time ?? null,
  }
}

/**
 * True for the turn's own records, the record that opened it, and the message that it answers.
 */
function isOfTurn(
  { topic, offset, message }: Logged,
  { turn, messageId }: TurnTimeline,
  inbox: TopicName,
): boolean {
  if (topic === inbox && offset === turn) return true
  if (message?.type === 'user-message') return message.messageId === messageId
  return message !== undefined && 'turn' in message && message.turn === turn
}

/**
 * The time at which the log was read; for a bundle, the time of the export. Undefined: the
 * conversation comes from a transcript, so its times are made up.
 */
function readAt({ bundle }: OpenLog, { turns }: Timeline): number | undefined {
  if (isPlayed(turns)) return undefined
  return bundle === undefined ? systemClock.now() : Date.parse(bundle.facts.madeAt)
}
