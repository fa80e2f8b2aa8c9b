// A partition of a topic read through, for commands that look for something in a log. It says how far it has come, and lets Ctrl-C be heard: reading a file
// waits for nothing, so without it nothing else would run until the end.

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { StoredRecord } from '../../shared/bus/port.ts'
import { batchesOf, firstOffsetSince } from '../../shared/bus/range.ts'
import type { Milliseconds } from '../../shared/clock.ts'
import type { GuardTopicName, TopicName } from '../../shared/topology.ts'
import type { OpenLog } from './open-log.ts'
import { endsOf } from './open-log.ts'

export type Scanned = {
  topic: TopicName | GuardTopicName
  partition: number
  /** Leaves out what is older. */
  since?: Milliseconds
}

/** Batches in order, to the end that the log has now. Memory: one batch. Nothing where the log is older than the topic. */
export async function* scan(log: OpenLog, { topic, partition, since = 0 }: Scanned): AsyncGenerator<StoredRecord[]> {
  const ends = (await endsOf(log, topic)).find((other) => other.partition === partition)
  if (ends === undefined) return
  const whole = { topic: log.topicPrefix + topic, partition, from: ends.begin, to: ends.end }
  const from = since === 0 ? ends.begin : await firstOffsetSince(log.bus, whole, since)
  log.progress.expect(ends.end - from)
  for await (const records of batchesOf(log.bus, { ...whole, from })) {
    log.progress.read(records.length)
    yield records
    await othersTurn()
  }
}
