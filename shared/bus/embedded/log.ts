// The storage of the embedded bus: a partitioned log in one SQLite file (schema.ts has its shape).
// Everything here is synchronous; bus.ts makes it a bus. Owns: offsets, times, what a transaction
// is. Does not own: who may read or write when.
// EMBEDDED-LOG-1. A write is one transaction: all its records and commits are there, or none. What
//     anybody but `readAhead` sees has been committed.
// EMBEDDED-LOG-2. Offsets of a partition begin at 0 and grow by one; none is given twice, also not
//     after retention has deleted records.
// EMBEDDED-LOG-3. Times never go back within the file, even if the clock does.
// EMBEDDED-LOG-4. A record has its place, offset and time, from `stage` on, and is written in that
//     order. `unstage` gives back the places of all that are not written; whoever read ahead must
//     forget what came of them.

import type { StatementSync } from 'node:sqlite'
import type {
  Commit,
  Offset,
  PartitionEnds,
  RecordToAppend,
  StoredRecord,
  TableKey,
  TopicSpec,
} from '../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { prefixEnd } from '../prefix-end.ts'
import { asBusError } from './failure.ts'
import {
  openForReading,
  openForWriting,
  partitionsMax,
  partitionTable,
  recordsView,
  type Synchronous,
  topicNameFits,
  topicSchema,
} from './schema.ts'
import { createTail, type Tail } from './tail.ts'
import { trimPartition } from './trim.ts'

/** A group's commit of one partition, as it is written. */
export type GroupCommit = Commit & { group: string; topic: string; partition: number }

/** A group's commit as it was read; `time`: when it was committed. */
export type StoredCommit = GroupCommit & { time: Milliseconds }

export type PartitionName = { topic: string; partition: number }

/**
 * `bytesMax`: stops after the record that reaches it, so there is always at least one where there
 * is one.
 */
export type ReadRange = PartitionName & {
  from: Offset
  to?: Offset | undefined
  limit: number
  bytesMax?: number | undefined
}

export type Log = {
  readonly file: string
  /** The newest time in the file; 0 in a new one. */
  readonly timeNewest: Milliseconds
  ensureTopics(topics: TopicSpec[]): void
  /** `bus.topic-missing` if there is none of that name. */
  topic(name: string): TopicSpec
  topics(): TopicSpec[]
  /** The one object that stands for a partition, whoever names it. */
  placeOf(name: PartitionName): PartitionName
  /** Gives records their places, behind all that have one; nothing is written yet. */
  stage(records: RecordToAppend[]): StoredRecord[]
  /**
   * Writes records in the order in which they were staged; answers the partitions that have grown.
   */
  write(what: { records: StoredRecord[]; commits: GroupCommit[] }): PartitionName[]
  unstage(): void
  read(range: ReadRange): StoredRecord[]
  /** The same, and what is staged behind. */
  readAhead(range: Omit<ReadRange, 'to'>): StoredRecord[]
  ends(topic: string): PartitionEnds[]
  end(name: PartitionName): Offset
  /** The place that the next record will get. */
  endAhead(name: PartitionName): Offset
  /** Whether a record before `to` has its place and is not written yet. */
  isStagedBefore(name: PartitionName & { to: Offset }): boolean
  /** The newest record under `key`, undefined if there is none or it is a tombstone. */
  newest(name: PartitionName & { key: string }): StoredRecord | undefined
  /**
   * The newest records of all keys that begin with `prefix`, without tombstones, in the order of
   * the keys' UTF-8 bytes.
   */
  newestWithPrefix(name: PartitionName & { prefix: string }): StoredRecord[]
  /** Keys after `after` without tombstones, in the order of their UTF-8 bytes. */
  keys(name: PartitionName & { after?: string | undefined; limit: number }): TableKey[]
  committed(name: PartitionName & { group: string }): Commit | undefined
  commitsOf(name: PartitionName): StoredCommit[]
  /**
   * Deletes old records of one stretch of a partition (trim.ts). Answers where to go on, or
   * undefined when this partition is done.
   */
  trim(
    stretch: PartitionName & { from: Offset; keepFrom: Offset; olderThan: Milliseconds },
  ): Offset | undefined
  /**
   * True if another connection has written since the last call. For a reader beside a writing
   * process.
   */
  changed(): boolean
  /** For tests of a full disk: the file may grow to this many pages of 4096 bytes. */
  limitPages(pages: number): void
  close(): void
}

export type LogOptions = { file: string; clock: Clock } & (
  | { readOnly: true }
  | { readOnly: false; synchronous: Synchronous }
)

type Topic = { spec: TopicSpec; partitions: Partition[] }

/**
 * Bytes of the newest records of one partition that stay in memory for the readers of this process,
 * and of all partitions of one topic.
 */
const tailBytesMax = 128 * 1024
const topicTailBytesMax = 4 * 1024 * 1024

/** `end`: behind what is written; `staged`: what follows there. */
type Partition = PartitionName & {
  begin: Offset
  end: Offset
  statements: Statements | undefined
  tail: Tail
  staged: StoredRecord[]
}

type Statements = {
  insert: StatementSync
  extent: StatementSync
  read: StatementSync
  newest: StatementSync
  prefix: StatementSync
  keys: StatementSync
}

type Row = [offset: number, time: number, key: string, value: Uint8Array | null, id: string | null]

/**
 * Opens (and for writing creates) the file. Every function throws WeirErrors only; errors of
 * opening are in schema.ts.
 */
export function openLog(options: LogOptions): Log {
  const { file, clock, readOnly } = options
  const db = readOnly
    ? openForReading(file)
    : openForWriting({ file, synchronous: options.synchronous })
  const catalogue = new Map<string, Topic>()
  let timeNewest: Milliseconds = 0
  let timeStaged: Milliseconds = 0
  let dataVersion: unknown

  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const dataVersionNow = db.prepare('PRAGMA data_version')
  const allTopics = db.prepare(
    'SELECT name, kind, partitions, retention_ms FROM topics ORDER BY name',
  )
  const committed = db.prepare(
    'SELECT offset, metadata FROM commits WHERE group_name = ? AND topic = ? AND partition = ?',
  )
  const commitsOf = db.prepare(
    'SELECT group_name, offset, metadata, time FROM commits WHERE topic = ? AND partition = ? ORDER BY group_name',
  )
  const trimmed = db.prepare(
    'SELECT begin, deleted_to, deleted_time FROM trimmed WHERE topic = ? AND partition = ?',
  )
  const setCommit = db.prepare(
    'INSERT OR REPLACE INTO commits (group_name, topic, partition, offset, metadata, time) VALUES (?, ?, ?, ?, ?, ?)',
  )

  function guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw asBusError(error, file)
    }
  }

  function transaction<T>(work: () => T): T {
    return guarded(() => {
      try {
        begin.run()
        const result = work()
        commit.run()
        return result
      } catch (error) {
        if (db.isTransaction) rollback.run()
        throw error
      }
    })
  }

  function loadTopics(): void {
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
      else
        catalogue.set(name, {
          spec,
          partitions: Array.from({ length: spec.partitions }, (_, number) =>
            loadPartition(name, number, spec.partitions),
          ),
        })
    }
  }

  function loadPartition(topic: string, number: number, siblings: number): Partition {
    const partition: Partition = {
      topic,
      partition: number,
      begin: 0,
      end: 0,
      statements: undefined,
      tail: createTail(Math.min(tailBytesMax, topicTailBytesMax / siblings)),
      staged: [],
    }
    loadEnds(partition)
    return partition
  }

  function loadEnds(partition: Partition): void {
    const gone = trimmed.get(partition.topic, partition.partition)
    const last = db
      .prepare(
        `SELECT offset, time FROM ${partitionTable(partition.topic, partition.partition)} ORDER BY offset DESC LIMIT 1`,
      )
      .get()
    partition.begin = Number(gone?.begin ?? 0)
    partition.end = Math.max(
      Number(gone?.deleted_to ?? 0),
      last === undefined ? 0 : Number(last.offset) + 1,
    )
    timeNewest = Math.max(timeNewest, Number(gone?.deleted_time ?? 0), Number(last?.time ?? 0))
  }

  function topicOf(name: string): Topic {
    const known = catalogue.get(name)
    if (known !== undefined) return known
    if (readOnly) guarded(loadTopics)
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
        `topic ${topic} has partitions 0 to ${partitions.length - 1}, and ${partition} was asked for`,
      )
    }
    return found
  }

  function tableOf(name: PartitionName): Partition {
    if (topicOf(name.topic).spec.kind !== 'table') {
      throw new WeirError(
        'bus.topic-differs',
        `topic ${name.topic} is a log, which has no newest value of a key: read or follow it`,
      )
    }
    return partitionOf(name)
  }

  function statementsOf(partition: Partition): Statements {
    partition.statements ??= prepare(partition)
    return partition.statements
  }

  function prepare(partition: Partition): Statements {
    const table = partitionTable(partition.topic, partition.partition)
    const columns = 'offset, time, key, value, id'
    const statements: Statements = {
      insert: db.prepare(`INSERT INTO ${table} (${columns}) VALUES (?, ?, ?, ?, ?)`),
      // length() looks at a value's header only, if it is asked here: outside of the inner query
      // the value would be read from its pages.
      extent: db.prepare(
        `SELECT total(bytes), max(offset) FROM
          (SELECT offset, length(value) AS bytes FROM ${table} WHERE offset >= ? AND offset < ? ORDER BY offset LIMIT ?)`,
      ),
      read: db.prepare(
        `SELECT ${columns} FROM ${table} WHERE offset >= ? AND offset < ? ORDER BY offset LIMIT ?`,
      ),
      newest: db.prepare(
        `SELECT ${columns} FROM ${table} WHERE key = ? ORDER BY offset DESC LIMIT 1`,
      ),
      prefix: db.prepare(
        `WITH newest AS MATERIALIZED (SELECT max(offset) AS last FROM ${table} WHERE key >= ? AND key < ? GROUP BY key)
        SELECT ${columns} FROM newest CROSS JOIN ${table} ON offset = last WHERE value IS NOT NULL ORDER BY key`,
      ),
      // typeof() looks at a value's header only: with IS NOT NULL a large value would be read from
      // its pages.
      keys: db.prepare(
        `SELECT key, offset, time FROM ${table} AS record WHERE key >= ?
          AND offset = (SELECT max(newer.offset) FROM ${table} AS newer WHERE newer.key = record.key) AND typeof(value) <> 'null'
        ORDER BY key LIMIT ?`,
      ),
    }
    // Rows as arrays are a tenth faster than objects, which would be made over anyway.
    for (const statement of [
      statements.extent,
      statements.read,
      statements.newest,
      statements.prefix,
    ])
      statement.setReturnArrays(true)
    return statements
  }

  function readWritten(
    partition: Partition,
    { from, to = Number.MAX_SAFE_INTEGER, limit, bytesMax }: Omit<ReadRange, keyof PartitionName>,
  ): StoredRecord[] {
    const newest = partition.tail.read({ from, to, limit, bytesMax })
    if (newest !== undefined) return newest
    return guarded(() => {
      const { extent, read } = statementsOf(partition)
      const all = (end: Offset) =>
        (read.all(from, end, limit) as unknown as Row[]).map((row) => stored(partition, row))
      if (bytesMax === undefined) return all(to)
      // All rows at once cost a quarter less than one after the other, but are all in memory before
      // the first of them is looked at.
      const [total, last] = extent.get(from, to, limit) as unknown as [
        total: number,
        last: Offset | null,
      ]
      if (last === null) return []
      if (total < bytesMax) return all(last + 1)
      const records: StoredRecord[] = []
      let bytes = 0
      for (const row of read.iterate(from, to, limit) as Iterable<unknown> as Iterable<Row>) {
        records.push(stored(partition, row))
        bytes += row[3]?.byteLength ?? 0
        if (bytes >= bytesMax) break
      }
      return records
    })
  }

  function newestWritten(partition: Partition, key: string): StoredRecord | undefined {
    if (!readOnly && partition.end === 0) return undefined // nobody has written a policy: that is asked for in each round
    const row = guarded(() => statementsOf(partition).newest.get(key)) as unknown as Row | undefined
    return row && stored(partition, row)
  }

  /** A reader's view of the ends comes from the file: another process moves them. */
  function withFreshEnds(partition: Partition): Partition {
    if (readOnly) guarded(() => loadEnds(partition))
    return partition
  }

  guarded(loadTopics)

  return {
    file,
    get timeNewest() {
      return timeNewest
    },

    ensureTopics(specs) {
      const missing: TopicSpec[] = []
      for (const spec of specs) {
        const known =
          catalogue.get(spec.name)?.spec ?? missing.find(({ name }) => name === spec.name)
        if (known !== undefined) checkSameTopic(spec, known)
        else
          missing.push(
            checkedNewTopic(spec, [...catalogue.keys(), ...missing.map(({ name }) => name)]),
          )
      }
      const changed = specs.filter(
        ({ name, retentionMs }) =>
          catalogue.has(name) && catalogue.get(name)?.spec.retentionMs !== retentionMs,
      )
      if (missing.length === 0 && (changed.length === 0 || readOnly)) return // how long records stay is nothing to a reader
      if (readOnly)
        throw new WeirError(
          'bus.unwritable',
          `${file} is open read-only: topics ${missing.map(({ name }) => name)} cannot be created`,
        )
      transaction(() => {
        for (const spec of missing) {
          db.exec(topicSchema(spec))
          const { name, kind, partitions, retentionMs } = spec
          db.prepare('INSERT INTO topics VALUES (?, ?, ?, ?)').run(
            name,
            kind,
            partitions,
            retentionMs ?? null,
          )
        }
        for (const { name, retentionMs } of changed) {
          db.prepare('UPDATE topics SET retention_ms = ? WHERE name = ?').run(
            retentionMs ?? null,
            name,
          )
        }
        db.exec(recordsView([...catalogue.keys(), ...missing.map(({ name }) => name)].sort()))
      })
      guarded(loadTopics)
    },

    topic: (name) => topicOf(name).spec,
    topics: () => [...catalogue.values()].map(({ spec }) => spec),

    placeOf: partitionOf,

    stage(records) {
      timeStaged = Math.max(timeStaged, timeNewest, Math.floor(clock.now()))
      return records.map(({ topic, partition: number, key, value, id }) => {
        const partition = partitionOf({ topic, partition: number })
        const offset = partition.end + partition.staged.length
        const record: StoredRecord = {
          topic,
          partition: number,
          key,
          value,
          id,
          offset,
          time: timeStaged,
        }
        partition.staged.push(record)
        return record
      })
    },

    write({ records, commits }) {
      const counts = new Map<Partition, number>()
      transaction(() => {
        for (const record of records) {
          const partition = partitionOf(record)
          statementsOf(partition).insert.run(
            record.offset,
            record.time,
            record.key,
            record.value,
            record.id ?? null,
          )
          counts.set(partition, (counts.get(partition) ?? 0) + 1)
        }
        const time = records.at(-1)?.time ?? Math.max(timeNewest, Math.floor(clock.now()))
        for (const { group, topic, partition, offset, metadata } of commits)
          setCommit.run(group, topic, partition, offset, metadata, time)
      })
      for (const [partition, count] of counts) {
        for (const record of partition.staged.splice(0, count)) partition.tail.push(record)
        partition.end += count
      }
      timeNewest = records.at(-1)?.time ?? timeNewest
      return [...counts.keys()]
    },

    unstage() {
      for (const { partitions } of catalogue.values())
        for (const partition of partitions) partition.staged = []
    },

    readAhead(range) {
      const partition = partitionOf(range)
      const { end, staged } = partition
      const records = range.from < end ? readWritten(partition, range) : []
      let next = records.length === 0 ? range.from : (records.at(-1) as StoredRecord).offset + 1
      let bytes = 0
      for (const { value } of records) bytes += value?.byteLength ?? 0
      for (
        ;
        next >= end &&
        records.length < range.limit &&
        bytes < (range.bytesMax ?? Number.POSITIVE_INFINITY);
        next += 1
      ) {
        const record = staged[next - end]
        if (record === undefined) break
        records.push(record)
        bytes += record.value?.byteLength ?? 0
      }
      return records
    },

    read: (range) => readWritten(partitionOf(range), range),

    ends: (topic) => topicOf(topic).partitions.map((partition) => endsOf(withFreshEnds(partition))),
    end: (name) => withFreshEnds(partitionOf(name)).end,
    endAhead(name) {
      const { end, staged } = partitionOf(name)
      return end + staged.length
    },

    isStagedBefore({ to, ...name }) {
      const { end, staged } = partitionOf(name)
      return staged.length > 0 && end < to
    },

    newest({ key, ...name }) {
      const partition = tableOf(name)
      const newest = partition.tail.newest(key) ?? newestWritten(partition, key)
      return newest?.value === null ? undefined : newest
    },

    newestWithPrefix({ prefix, ...name }) {
      const partition = tableOf(name)
      const rows = guarded(() =>
        statementsOf(partition).prefix.all(prefix, prefixEnd(prefix)),
      ) as unknown as Row[]
      return rows.map((row) => stored(partition, row))
    },

    keys({ after, limit, ...name }) {
      const partition = tableOf(name)
      const first = after === undefined ? '' : `${after}\0` // the least text above it
      const rows = guarded(() => statementsOf(partition).keys.all(first, limit))
      return rows.map(({ key, offset, time }) => ({
        key: String(key),
        offset: Number(offset),
        time: Number(time),
      }))
    },

    committed({ group, topic, partition }) {
      const row = guarded(() => committed.get(group, topic, partition))
      return row === undefined
        ? undefined
        : { offset: Number(row.offset), metadata: String(row.metadata) }
    },

    commitsOf({ topic, partition }) {
      return guarded(() => commitsOf.all(topic, partition)).map((row) => ({
        group: String(row.group_name),
        topic,
        partition,
        offset: Number(row.offset),
        metadata: String(row.metadata),
        time: Number(row.time),
      }))
    },

    trim({ from, keepFrom, olderThan, ...name }) {
      const partition = partitionOf(name)
      const { kind } = topicOf(name.topic).spec
      const done = transaction(() =>
        trimPartition(db, { ...name, kind, ends: endsOf(partition), from, keepFrom, olderThan }),
      )
      partition.begin = done.begin
      partition.tail.clear()
      return done.next
    },

    changed() {
      const before = dataVersion
      dataVersion = guarded(() => dataVersionNow.get()?.data_version)
      return before !== dataVersion
    },

    limitPages: (pages) => db.exec(`PRAGMA max_page_count = ${pages}`),

    close() {
      try {
        // After this the file alone is the whole log, and can be copied or mailed.
        if (!readOnly) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // No room, or somebody reads: then the write-ahead log stays beside the file, and nothing
        // is lost.
      }
      db.close()
    },
  }
}

function checkedNewTopic(spec: TopicSpec, known: string[]): TopicSpec {
  const twin = known.find((name) => name.toLowerCase() === spec.name.toLowerCase())
  if (twin !== undefined)
    throw differs(spec, `topic ${twin} exists, and SQLite does not tell names apart by case`)
  if (!topicNameFits(spec.name))
    throw differs(
      spec,
      'a topic name is made of 1 to 249 letters, digits, dots, dashes and underscores',
    )
  if (
    !Number.isInteger(spec.partitions) ||
    spec.partitions < 1 ||
    spec.partitions > partitionsMax
  ) {
    throw differs(
      spec,
      `the embedded bus takes 1 to ${partitionsMax} partitions, not ${spec.partitions}`,
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

function endsOf({ partition, begin, end }: Partition): PartitionEnds {
  return { partition, begin, end }
}

function stored(
  { topic, partition }: PartitionName,
  [offset, time, key, value, id]: Row,
): StoredRecord {
  return { topic, partition, key, value, id: id ?? undefined, offset, time }
}
