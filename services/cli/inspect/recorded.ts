// What the log holds of one conversation: all records under its key, of all topics of its partition. Read through the bus's port, beside a running
// Weir or from a closed file. Only the history has an index by key, so elsewhere time bounds the work.
// I1. Nothing of a conversation is older than its first record in its inbox or in the history, because everything follows from those.
// I2. Each round ends in the inbox. When the conversation has nothing under way by its last record there, what that record itself led to is written
//     within `afterMs`. Else the rest of the log is read.
// I3. Memory: one batch, and the records of this conversation.

import { partitionOf } from '../../../shared/bus/partition.ts'
import type { Offset, StoredRecord } from '../../../shared/bus/port.ts'
import type { Milliseconds } from '../../../shared/clock.ts'
import type { TopicName } from '../../../shared/topology.ts'
import { historyPrefix, topics } from '../../../shared/topology.ts'
import { messageOf } from '../message-of.ts'
import type { OpenLog } from '../open-log.ts'
import { endsOf } from '../open-log.ts'
import type { Logged } from './logged.ts'

const inbox: TopicName = 'conversation-events'
const elsewhere = (Object.keys(topics) as TopicName[]).filter((topic) => topic !== inbox && topics[topic].kind === 'log')
const afterMs: Milliseconds = 10 * 60 * 1000

/** Empty where there never was such a conversation. In the order of topics, then of the log. */
export async function recordsOf(conversation: string, log: OpenLog): Promise<Logged[]> {
  const partition = partitionOf(conversation, log.partitions)
  const whole = { from: 0, to: Number.POSITIVE_INFINITY }
  const history = await historyOf(conversation, log, partition)
  const events = await collect({ log, topic: inbox, partition, conversation, window: whole })
  const records = [...history, ...events]
  if (records.length === 0) return []

  const window = {
    from: Math.min(...records.map(({ time }) => time)),
    to: isIdle(events) ? (events.at(-1)?.time ?? 0) + afterMs : whole.to,
  }
  for (const topic of elsewhere) records.push(...(await collect({ log, topic, partition, conversation, window })))
  return records
}

async function historyOf(conversation: string, { bus, topicPrefix }: OpenLog, partition: number): Promise<Logged[]> {
  const entries = await bus.list({ topic: `${topicPrefix}history`, partition, prefix: historyPrefix(conversation) })
  return entries.map((record) => logged('history', record))
}

/** Its last record counts (C2 of the conversation) and opens no further turn. */
function isIdle(events: Logged[]): boolean {
  const last = events.at(-1)?.message
  return last?.type === 'carried' && last.from === events.at(-2)?.offset && (last.state?.queue.length ?? 0) === 0
}

type Collect = {
  log: OpenLog
  topic: TopicName
  partition: number
  conversation: string
  window: { from: Milliseconds; to: Milliseconds }
}

async function collect({ log, topic, partition, conversation, window }: Collect): Promise<Logged[]> {
  const ends = (await endsOf(log, topic)).find((other) => other.partition === partition)
  if (ends === undefined) return []
  const range = { topic: log.topicPrefix + topic, ...ends }
  const from = await firstAt(log, range, window.from)
  const found: Logged[] = []
  for await (const records of batches(log, { ...range, from })) {
    for (const record of records) if (record.key === conversation) found.push(logged(topic, record))
    if ((records.at(-1)?.time ?? 0) > window.to) break
  }
  return found
}

type Range = { topic: string; partition: number; begin: Offset; end: Offset }

/** The offset from which on records are not older than `time`. */
async function firstAt({ bus }: OpenLog, { topic, partition, begin, end }: Range, time: Milliseconds): Promise<Offset> {
  let low = begin
  let high = end
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await bus.read({ topic, partition, from: middle, to: high, limit: 1 })
    if (record === undefined || record.time >= time) high = middle
    else low = record.offset + 1
  }
  return low
}

/** To the end that the log had. `follow`, because its batches are bounded by bytes, and those of `read` are not. */
async function* batches({ bus }: OpenLog, { topic, partition, from, end }: Range & { from: Offset }): AsyncGenerator<StoredRecord[]> {
  if (from >= end) return
  const stop = new AbortController()
  try {
    for await (const records of bus.follow({ topic, partition, from, signal: stop.signal })) {
      yield records
      if ((records.at(-1)?.offset ?? end) >= end - 1) return
    }
  } finally {
    stop.abort()
  }
}

function logged(topic: TopicName, { offset, time, id, value }: StoredRecord): Logged {
  return { topic, offset, time, id, message: messageOf(value) }
}
