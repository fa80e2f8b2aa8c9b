// The storage of a simulation's records: the embedded bus's log in memory, or a handful of arrays,
// which are ten times faster. Every seed must give the same bytes on both (simulation.e2e.test.ts).
// The arrays are therefore also the model that tests the embedded log.

import { type Log, openLog } from '../../shared/bus/embedded/log/log.ts'
import type { GroupCommit } from '../../shared/bus/embedded/log/log-commits.ts'
import type { PartitionName } from '../../shared/bus/embedded/log/log-partition.ts'
import type {
  Appended,
  Commit,
  RecordToAppend,
  StoredRecord,
  TopicSpec,
} from '../../shared/contract/bus.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

export type Storage = Pick<
  Log,
  'topic' | 'topics' | 'read' | 'ends' | 'end' | 'committed' | 'close'
> & {
  write(batch: { records: RecordToAppend[]; commits: GroupCommit[] }): {
    appended: Appended[]
    grown: PartitionName[]
  }
}

export type StorageKind = 'arrays' | 'embedded'

export type StorageOptions = { kind: StorageKind; now: () => Milliseconds; topics: TopicSpec[] }

export function openStorage({ kind, now, topics }: StorageOptions): Storage {
  if (kind === 'arrays') return arrays(now, topics)
  const log = openLog({
    file: ':memory:',
    clock: { now, monotonic: now, after: () => () => {} },
    readOnly: false,
    synchronous: 'off',
  })
  log.ensureTopics(topics)
  return {
    ...log,
    write({ records, commits }) {
      const staged = log.stage(records)
      const grown = log.write({ records: staged, commits })
      return {
        appended: staged.map(({ partition, offset, time }) => ({ partition, offset, time })),
        grown,
      }
    },
  }
}

function arrays(now: () => Milliseconds, specs: TopicSpec[]): Storage {
  const byName = new Map(
    specs.map((spec) => [
      spec.name,
      { spec, partitions: Array.from({ length: spec.partitions }, (): StoredRecord[] => []) },
    ]),
  )
  const commits = new Map<string, Commit>()

  function topicOf(name: string) {
    const topic = byName.get(name)
    if (topic === undefined) throw new Error(`there is no topic ${name}`)
    return topic
  }

  function recordsOf(name: string, partition: number): StoredRecord[] {
    const records = topicOf(name).partitions[partition]
    if (records === undefined) throw new Error(`there is no partition ${partition} of ${name}`)
    return records
  }

  return {
    topic: (name) => topicOf(name).spec,
    topics: () => specs,
    write(batch) {
      const time = now()
      const grown = new Map<string, { topic: string; partition: number }>()
      const appended = batch.records.map((record) => {
        const records = recordsOf(record.topic, record.partition)
        const offset = records.length
        records.push({ ...record, id: record.id, offset, time })
        grown.set(`${record.topic}/${record.partition}`, {
          topic: record.topic,
          partition: record.partition,
        })
        return { partition: record.partition, offset, time }
      })
      for (const { group, topic, partition, offset, metadata } of batch.commits)
        commits.set(`${group} ${topic}/${partition}`, { offset, metadata })
      return { appended, grown: [...grown.values()] }
    },
    read({ topic, partition, from, to, limit }) {
      return recordsOf(topic, partition).slice(
        from,
        Math.min(from + limit, to ?? Number.POSITIVE_INFINITY),
      )
    },
    ends: (topic) =>
      topicOf(topic).partitions.map((records, partition) => ({
        partition,
        begin: 0,
        end: records.length,
      })),
    end: ({ topic, partition }) => recordsOf(topic, partition).length,
    committed: ({ group, topic, partition }) => commits.get(`${group} ${topic}/${partition}`),
    close() {},
  }
}
