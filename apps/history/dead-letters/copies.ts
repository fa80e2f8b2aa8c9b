// Finds records of dead letters that were already written again: it recognizes them by their bytes.
// It reads the log once for all letters. Memory: a digest for each letter, and the places of its
// copies.

import { createHash } from 'node:crypto'
import type { Offset } from '../../../shared/contract/bus.ts'
import type { DeadLetter } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import type { TopicName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import type { OpenLog } from '../open-log.ts'
import { scan } from '../scan.ts'
import { faultOf, type Letter, type Original, originalOf } from './letters.ts'

export type Copies = {
  /**
   * The offset of a copy that is newer than the letter, in the partition of its key. Undefined:
   * there is none.
   */
  of(original: Original, letter: DeadLetter): Offset | undefined
  /** Adds a copy that was just written. */
  written(original: Original, offset: Offset): void
}

type Copy = { offset: Offset; time: Milliseconds }
type Stretch = { topic: TopicName; partition: number; since: Milliseconds; keys: Set<string> }

/** Ignores letters whose record cannot be written again. */
export async function copiesOf(log: OpenLog, letters: readonly Letter[]): Promise<Copies> {
  const copies = new Map<string, Copy[]>()
  const stretches = new Map<string, Stretch>()
  for (const { letter } of letters) {
    const original = await originalOf(log, letter)
    if (original.topic === undefined || faultOf(original) !== undefined) continue
    copies.set(digestOf(original.topic, original.key, original.value), [])
    const partition = partitionOf(original.key, log.partitions)
    const place = `${original.topic}/${partition}`
    const known = stretches.get(place) ?? {
      topic: original.topic,
      partition,
      since: letter.time,
      keys: new Set(),
    }
    stretches.set(place, {
      ...known,
      since: Math.min(known.since, letter.time),
      keys: known.keys.add(original.key),
    })
  }
  for (const { topic, partition, since, keys } of stretches.values())
    for await (const records of scan(log, { topic, partition, since }))
      for (const { key, value, offset, time } of records)
        if (value !== null && keys.has(key))
          copies.get(digestOf(topic, key, value))?.push({ offset, time })

  return {
    of({ topic, key, value }, letter) {
      const partition = partitionOf(key, log.partitions)
      const isItself = (copy: Copy) =>
        partition === letter.partition && copy.offset <= letter.offset
      const all = topic === undefined ? [] : (copies.get(digestOf(topic, key, value)) ?? [])
      return all.find((copy) => copy.time >= letter.time && !isItself(copy))?.offset
    },
    written({ topic, key, value }, offset) {
      if (topic !== undefined)
        copies.get(digestOf(topic, key, value))?.push({ offset, time: Number.POSITIVE_INFINITY })
    },
  }
}

function digestOf(topic: TopicName, key: string, value: Uint8Array): string {
  return createHash('sha256')
    .update(JSON.stringify([topic, key]))
    .update(value)
    .digest('base64')
}
