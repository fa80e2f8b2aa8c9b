// The topics of a log and their partitions. Owns: the catalogue, the ends of each partition, and the
// newest time in the file.

import type { TopicSpec } from '../../../contract/bus.ts'
import type { Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import {
  partitionsMax,
  partitionTable,
  recordsView,
  topicNameFits,
  topicSchema,
} from '../file/schema.ts'
import type { LogDatabase } from './log-database.ts'
import type { Partition, PartitionName } from './log-partition.ts'
import { createTail } from './tail.ts'

export type Topic = { spec: TopicSpec; partitions: Partition[] }

export type LogTopics = {
  ensure(specs: TopicSpec[]): void
  /** Throws `bus.topic-missing` if there is no topic of that name. */
  topic(name: string): Topic
  all(): Topic[]
  partition(name: PartitionName): Partition
  /** As `partition`. Throws if the topic is a log. */
  tablePartition(name: PartitionName): Partition
  /** The partition, with the ends that the file has now: next to a writer another process moves them. */
  freshPartition(name: PartitionName): Partition
  timeNewest(): Milliseconds
  setTimeNewest(time: Milliseconds): void
}

/** Bytes of the newest records that stay in memory: of one partition, and of one topic. */
const tailBytesMax = 128 * 1024
const topicTailBytesMax = 4 * 1024 * 1024

export function loadTopics(database: LogDatabase): LogTopics {
  const { db, file, readOnly, guarded, transaction } = database
  const catalogue = new Map<string, Topic>()
  let timeNewest: Milliseconds = 0
  const allTopics = db.prepare(
    'SELECT name, kind, partitions, retention_ms FROM topics ORDER BY name',
  )
  const trimmed = db.prepare(
    'SELECT begin, deleted_to, deleted_time FROM trimmed WHERE topic = ? AND partition = ?',
  )

  function load(): void {
    for (const row of allTopics.all()) {
      const name = String(row.name)
      const retentionMs = row.retention_ms === null ? undefined : Number(row.retention_ms)
      const spec: TopicSpec = {
        name,
        kind: row.kind as TopicSpec['kind'],
        partitions: Number(row.partitions),
        retentionMs,
      }
      const known = catalogue.get(name)
      if (known !== undefined) known.spec = spec
      else catalogue.set(name, { spec, partitions: newPartitions(spec).map(withEnds) })
    }
  }

  /** Sets the partition's ends to those in the file. */
  function withEnds(partition: Partition): Partition {
    const deleted = trimmed.get(partition.topic, partition.partition)
    const last = db
      .prepare(
        `SELECT offset, time FROM ${partitionTable(partition.topic, partition.partition)} ORDER BY offset DESC LIMIT 1`,
      )
      .get()
    partition.begin = Number(deleted?.begin ?? 0)
    partition.end = Math.max(
      Number(deleted?.deleted_to ?? 0),
      last === undefined ? 0 : Number(last.offset) + 1,
    )
    timeNewest = Math.max(timeNewest, Number(deleted?.deleted_time ?? 0), Number(last?.time ?? 0))
    return partition
  }

  function topicOf(name: string): Topic {
    const known = catalogue.get(name)
    if (known !== undefined) return known
    if (readOnly) guarded(load)
    const loaded = catalogue.get(name)
    if (loaded === undefined)
      throw new WeirError(
        'bus.topic-missing',
        `there is no topic ${name} in ${file}: create it with ensureTopics first`,
      )
    return loaded
  }

  function partitionOf({ topic, partition }: PartitionName): Partition {
    const { partitions } = topicOf(topic)
    const found = partitions[partition]
    if (found === undefined) {
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} has partitions 0 to ${partitions.length - 1}, not ${partition}`,
      )
    }
    return found
  }

  guarded(load)

  return {
    ensure(specs) {
      const { missing, changed } = differences(specs, catalogue)
      // A reader does not care how long records stay.
      if (missing.length === 0 && (changed.length === 0 || readOnly)) return
      if (readOnly)
        throw new WeirError(
          'bus.unwritable',
          `${file} is open read-only: topics ${missing.map(({ name }) => name)} cannot be created`,
        )
      transaction(() => {
        for (const spec of missing) create(database, spec)
        for (const { name, retentionMs } of changed)
          db.prepare('UPDATE topics SET retention_ms = ? WHERE name = ?').run(
            retentionMs ?? null,
            name,
          )
        db.exec(recordsView([...catalogue.keys(), ...missing.map(({ name }) => name)].sort()))
      })
      guarded(load)
    },

    topic: topicOf,
    all: () => [...catalogue.values()],
    partition: partitionOf,

    tablePartition(name) {
      if (topicOf(name.topic).spec.kind !== 'table') {
        throw new WeirError(
          'bus.topic-differs',
          `topic ${name.topic} is a log and has no newest value of a key: read or follow it`,
        )
      }
      return partitionOf(name)
    },

    freshPartition(name) {
      const partition = partitionOf(name)
      return readOnly ? guarded(() => withEnds(partition)) : partition
    },

    timeNewest: () => timeNewest,
    setTimeNewest(time) {
      timeNewest = time
    },
  }
}

function newPartitions({ name, kind, partitions }: TopicSpec): Partition[] {
  return Array.from({ length: partitions }, (_, number) => ({
    topic: name,
    kind,
    partition: number,
    begin: 0,
    end: 0,
    statements: undefined,
    tail: createTail(Math.min(tailBytesMax, topicTailBytesMax / partitions)),
    staged: [],
  }))
}

/** `changed`: topics that exist with another retention. Throws if a topic cannot be as specified. */
function differences(
  specs: TopicSpec[],
  catalogue: Map<string, Topic>,
): { missing: TopicSpec[]; changed: TopicSpec[] } {
  const missing: TopicSpec[] = []
  for (const spec of specs) {
    const known = catalogue.get(spec.name)?.spec ?? missing.find(({ name }) => name === spec.name)
    if (known !== undefined) checkSameTopic(spec, known)
    else
      missing.push(checkedNewTopic(spec, [...catalogue.keys(), ...missing.map(({ name }) => name)]))
  }
  const changed = specs.filter(
    ({ name, retentionMs }) =>
      catalogue.has(name) && catalogue.get(name)?.spec.retentionMs !== retentionMs,
  )
  return { missing, changed }
}

function create({ db }: LogDatabase, spec: TopicSpec): void {
  const { name, kind, partitions, retentionMs } = spec
  db.exec(topicSchema(spec))
  db.prepare('INSERT INTO topics VALUES (?, ?, ?, ?)').run(
    name,
    kind,
    partitions,
    retentionMs ?? null,
  )
}

function checkedNewTopic(spec: TopicSpec, known: string[]): TopicSpec {
  const twin = known.find((name) => name.toLowerCase() === spec.name.toLowerCase())
  if (twin !== undefined)
    throw differs(spec, `topic ${twin} exists, and SQLite ignores case in names`)
  if (!topicNameFits(spec.name))
    throw differs(spec, 'a topic name has 1 to 249 letters, digits, dots, dashes and underscores')
  if (
    !Number.isInteger(spec.partitions) ||
    spec.partitions < 1 ||
    spec.partitions > partitionsMax
  ) {
    throw differs(
      spec,
      `the embedded bus allows 1 to ${partitionsMax} partitions, not ${spec.partitions}`,
    )
  }
  return spec
}

function checkSameTopic(spec: TopicSpec, known: TopicSpec): void {
  if (spec.kind !== known.kind)
    throw differs(spec, `it exists as a ${known.kind}, not a ${spec.kind}`)
  if (spec.partitions !== known.partitions)
    throw differs(spec, `it exists with ${known.partitions} partitions, not ${spec.partitions}`)
}

function differs({ name }: TopicSpec, why: string): WeirError {
  return new WeirError(
    'bus.topic-differs',
    `topic ${name}: ${why}: change the setting back, or use another name or file`,
  )
}
