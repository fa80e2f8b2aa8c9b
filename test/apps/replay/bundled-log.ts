// A kept bundle as a log to replay, whole or changed.

import { fileURLToPath } from 'node:url'
import type { Period, ReadLog } from '../../../apps/replay/log-range.ts'
import { openBundle } from '../../../shared/bus/bundle/bus.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'

export const always: Period = { since: undefined, until: undefined }

export type BundleName = 'i1-reflex-loop' | 'i3-no-termination' | 'i5-broken-schema'

export function bundleFile(name: BundleName): string {
  return fileURLToPath(new URL(`../../bundles/${name}.weir`, import.meta.url))
}

/** All records, as a complete log. If `change` returns undefined, the record is missing. */
export async function changedLog(
  name: BundleName,
  change: (record: StoredRecord, message: Message) => StoredRecord | undefined,
): Promise<ReadLog> {
  const { bus, facts, topics } = await openBundle(bundleFile(name), systemClock)
  const records = new Map<string, StoredRecord[]>()
  for (const { name: topic } of topics())
    for (const { partition, end } of await bus.ends(facts.topicPrefix + topic)) {
      const read = await bus.read({
        topic: facts.topicPrefix + topic,
        partition,
        from: 0,
        to: end,
        limit: 10_000,
      })
      const kept = read.flatMap(
        (record) => change(record, decode(record.value as Uint8Array)) ?? [],
      )
      records.set(`${facts.topicPrefix}${topic}/${partition}`, kept)
    }
  await bus.close()
  return {
    topicPrefix: facts.topicPrefix,
    partitions: facts.partitions,
    bus: {
      async ends(topic) {
        return Array.from({ length: facts.partitions }, (_, partition) => {
          const end = (records.get(`${topic}/${partition}`)?.at(-1)?.offset ?? -1) + 1
          return { partition, begin: 0, end }
        })
      },
      async read({ topic, partition, from, to = Number.POSITIVE_INFINITY, limit }) {
        const all = records.get(`${topic}/${partition}`) ?? []
        return all.filter(({ offset }) => offset >= from && offset < to).slice(0, limit)
      },
    },
  }
}

/** The record with other content. */
export function rewritten<M extends Message>(record: StoredRecord, message: M): StoredRecord {
  return { ...record, value: encode(message) }
}
