// Reads all records of one conversation: of its key, in all topics, in its partition. Reads
// through the bus's port, next to a running Weir or from a closed file. Only the history may have an
// index by key; in other topics, time bounds the work.
// No record of a conversation is older than its first one in its inbox or history, but
// for the difference between the brokers' clocks. All others follow from those.
// Each round ends in the inbox. If the last record there leaves the conversation idle,
// the records after it follow within `afterMs`. Otherwise the rest of the log is read.
// A bundle is read by conversation, without a time bound. Turns that it omits may have
// history as context for later requests. Such a turn is not shown, because it would seem open.
// Memory: one batch, and the records of this conversation.

import { contextIn } from '../../../client/history/context-turns.ts'
import { redactedRecords } from '../../../client/history/redacted.ts'
import { scan } from '../../../client/history/scan.ts'
import type { Bundle } from '../../../shared/bus/bundle/bus.ts'
import { leadersApartMs } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { historyPrefix } from '../../../shared/contract/history/history-keys.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import {
  type GuardTopicName,
  guardTopicName,
  inboxOf,
  type TopicName,
  topics,
} from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import type { OpenLog } from '../open-log.ts'

/** The inbox has the copies of the clients' messages. */
const logs = (Object.keys(topics) as TopicName[]).filter(
  (topic) => topic !== 'client-messages' && topics[topic].kind === 'log',
)
const afterMs: Milliseconds = 10 * 60 * 1000

/**
 * Empty: there is no such conversation. In the order of topics, then of the log. By the rules of its
 * agents, unless the log is open `unredacted`.
 */
export async function recordsOf(conversation: ConversationId, log: OpenLog): Promise<Logged[]> {
  const records = sinceForgotten(await allRecordsOf(conversation, log))
  return log.unredacted === true ? records : redactedRecords(records)
}

/** On Kafka the records from before a deletion stay until retention passes. Nobody shows them. */
function sinceForgotten(records: Logged[]): Logged[] {
  const notes = records.filter(({ message }) => message?.type === 'conversation-forgotten')
  const last = notes.at(-1)?.time
  if (last === undefined) return records
  const left = records.filter(({ time }) => time > last)
  return left.every(({ message }) => isRemainder(message)) ? [] : left
}

/** The end of a unit that was idle when its conversation was deleted. */
function isRemainder(message: Logged['message']): boolean {
  return (
    message?.type === 'tick' || message?.type === 'carried' || message?.type === 'guest-carried'
  )
}

async function allRecordsOf(conversation: ConversationId, log: OpenLog): Promise<Logged[]> {
  const partition = partitionOf(conversation, log.partitions)
  if (log.bundle !== undefined)
    return recordsInBundle(
      conversation,
      log.bundle,
      await historyOf(conversation, log, partition),
      partition,
    )
  const whole = { from: 0, to: Number.POSITIVE_INFINITY }
  const history = await historyOf(conversation, log, partition)
  const inbox = inboxOf(conversation)
  const events = await collect({ log, topic: inbox, partition, conversation, window: whole })
  const records = [...history, ...events]
  if (records.length === 0) return []

  const window = {
    from: Math.min(...records.map(({ time }) => time)) - leadersApartMs,
    // Without a history the conversation may be deleted, at any later time.
    to: history.length > 0 && isIdle(events) ? (events.at(-1)?.time ?? 0) + afterMs : whole.to,
  }
  for (const topic of logs.filter((topic) => topic !== inbox))
    records.push(...(await collect({ log, topic, partition, conversation, window })))
  for (const topic of guardTopicsIn(records))
    records.push(...(await collect({ log, topic, partition, conversation, window })))
  return records
}

/** A bundle has an index by conversation, so no other records are read. */
function recordsInBundle(
  conversation: ConversationId,
  bundle: Bundle,
  all: Logged[],
  partition: number,
): Logged[] {
  const { topicPrefix } = bundle.facts
  const isContext = contextIn(conversation, bundle)
  const history = all.filter(
    ({ message }) => message?.type !== 'history-entry' || !isContext(message.turn),
  )
  const own = bundle
    .recordsOf(conversation)
    .filter(
      (record) =>
        record.partition === partition && record.topic !== `${topicPrefix}client-messages`,
    )
  return [
    ...history,
    ...own.map((record) =>
      logged(record.topic.slice(topicPrefix.length) as TopicName | GuardTopicName, record),
    ),
  ]
}

/** The turns that are in the bundle only as context. */
export async function contextTurns(conversation: ConversationId, log: OpenLog): Promise<number[]> {
  if (log.bundle === undefined) return []
  const history = await historyOf(conversation, log, partitionOf(conversation, log.partitions))
  const known = history.flatMap(({ message }) =>
    message?.type === 'history-entry' ? [message.turn] : [],
  )
  return [...new Set(known)].filter(contextIn(conversation, log.bundle))
}

async function historyOf(
  conversation: ConversationId,
  log: OpenLog,
  partition: number,
): Promise<Logged[]> {
  const prefix = historyPrefix(conversation)
  if (log.hasIndex) {
    const entries = await log.bus.list({ topic: `${log.topicPrefix}history`, partition, prefix })
    return entries.map((record) => logged('history', record))
  }
  const newest = new Map<string, Logged>()
  for await (const records of scan(log, { topic: 'history', partition }))
    for (const record of records) {
      if (!record.key.startsWith(prefix)) continue
      if (record.value === null) newest.delete(record.key)
      else newest.set(record.key, logged('history', record))
    }
  return [...newest.values()]
}

/**
 * The topics of the guards in its rounds. Weir's own guards are left out: their topics are in
 * `logs`.
 */
function guardTopicsIn(records: Logged[]): GuardTopicName[] {
  const names = records.flatMap(({ message }) =>
    message?.type === 'round-cleared' ? message.policy.guards.map(({ name }) => name) : [],
  )
  return [...new Set(names)].map(guardTopicName).filter((name) => !Object.hasOwn(topics, name))
}

/** Its last record counts (CONV-2) and opens no further turn. */
function isIdle(events: Logged[]): boolean {
  const last = events.at(-1)?.message
  return (
    last?.type === 'carried' &&
    last.from === events.at(-2)?.offset &&
    (last.state?.queue.length ?? 0) === 0
  )
}

type Collect = {
  log: OpenLog
  topic: TopicName | GuardTopicName
  partition: number
  conversation: ConversationId
  window: { from: Milliseconds; to: Milliseconds }
}

async function collect({
  log,
  topic,
  partition,
  conversation,
  window,
}: Collect): Promise<Logged[]> {
  const found: Logged[] = []
  const key = conversation
  for await (const records of scan(log, { topic, partition, since: window.from, key })) {
    for (const record of records) if (record.key === conversation) found.push(logged(topic, record))
    if ((records.at(-1)?.time ?? 0) > window.to) break
  }
  return found
}

function logged(
  topic: TopicName | GuardTopicName,
  { offset, time, id, value }: StoredRecord,
): Logged {
  return { topic, offset, time, id, message: messageOf(value) }
}
