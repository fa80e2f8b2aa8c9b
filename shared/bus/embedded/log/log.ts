// The storage of the embedded bus: a partitioned log in one SQLite file (schema.ts has its shape).
// All functions are synchronous; bus.ts makes a bus of them. Owns: offsets, times, transactions.
// Does not own: the permission and the moment to read or write.
// A write is one transaction: the file gets all its records and commits, or none.
// Only `readAhead` returns records that are not committed.
// Offsets of a partition begin at 0 and grow by one. No offset is used twice, also
// not after retention.
// Times never go back within the file, even if the clock does.
// `stage` gives a record its offset and time, and `write` keeps that order. After
// `unstage`, readers must drop all that came from records read ahead.

import { statSync } from 'node:fs'
import type { Erased, Erasure, Offset, TopicSpec } from '../../../contract/bus.ts'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'
import { isImported } from '../imported.ts'
import { eraseRecords, overwriteDeleted } from './erase.ts'
import { createKeyBlocks } from './key-blocks.ts'
import { createCommitTable, type LogCommits } from './log-commits.ts'
import { type DatabaseOptions, openDatabase } from './log-database.ts'
import { endsOf, type PartitionName } from './log-partition.ts'
import { createReads, type LogReads } from './log-reads.ts'
import { loadTopics } from './log-topics.ts'
import { createWrites, type LogWrites } from './log-writes.ts'
import { trimPartition } from './trim.ts'

export type Log = LogReads &
  LogWrites &
  LogCommits & {
    readonly file: string
    /** Made from a bundle, so its records are another person's. */
    readonly isImported: boolean
    /** The newest time in the file; 0 in a new one. */
    readonly timeNewest: Milliseconds
    /** Of the file, without the pages that deleted records left free. */
    usedBytes(): number
    ensureTopics(topics: TopicSpec[]): void
    /** Throws `bus.topic-missing` if there is no topic of that name. */
    topic(name: string): TopicSpec
    topics(): TopicSpec[]
    /** The same object for every equal name: the identity of a partition. */
    placeOf(name: PartitionName): PartitionName
    /**
     * Deletes old records of one stretch of a partition (trim.ts). Returns where to go on, or
     * undefined when this partition is done.
     */
    trim(
      stretch: PartitionName & { from: Offset; keepFrom: Offset; olderThan: Milliseconds },
    ): Offset | undefined
    /** Undefined: a conversation has newer records (erase.ts). */
    erase(erasure: Erasure): Erased | undefined
    /** Indexes a block of an older file by key. False: all is indexed (key-blocks.ts). */
    extendIndex(): boolean
    /**
     * True if another connection has written since the last call. For a reader next to a writing
     * process.
     */
    changed(): boolean
    close(): void
  }

export type LogOptions = DatabaseOptions & {
  clock: Clock
  /** For tests of a full disk: gets the open database. */
  onDatabase?: ((database: TestedDatabase) => void) | undefined
}

export type TestedDatabase = { exec(sql: string): void }

/**
 * Opens (and for writing creates) the file. Every function throws WeirErrors only. schema.ts lists
 * the errors of opening.
 */
export function openLog({ clock, onDatabase, ...options }: LogOptions): Log {
  const database = openDatabase(options)
  const topics = loadTopics(database)
  const commits = createCommitTable(database)
  const index = createKeyBlocks(database, topics)
  onDatabase?.(database.db)

  return {
    file: database.file,
    isImported: database.guarded(() => isImported(database.db)),
    get timeNewest() {
      return topics.timeNewest()
    },
    usedBytes: database.usedBytes,
    ensureTopics: topics.ensure,
    topic: (name) => topics.topic(name).spec,
    topics: () => topics.all().map(({ spec }) => spec),
    placeOf: topics.partition,
    ...createReads(database, topics, index),
    ...createWrites({
      database,
      topics,
      commits,
      index,
      clock,
      checkOwnFile: createOwnFileCheck(database.file, clock),
    }),
    committed: commits.committed,
    commitsOf: commits.commitsOf,
    offsetsOf: commits.offsetsOf,

    trim({ from, keepFrom, olderThan, ...name }) {
      const partition = topics.partition(name)
      const { kind } = topics.topic(name.topic).spec
      const { begin, next } = database.transaction(() =>
        trimPartition(database.db, {
          ...name,
          kind,
          ends: endsOf(partition),
          from,
          keepFrom,
          olderThan,
        }),
      )
      partition.begin = begin
      partition.tail.clear()
      partition.newestBlock = undefined
      return next
    },

    erase(erasure) {
      const records = eraseRecords(database, topics, erasure)
      if (records === undefined) return undefined
      return { records, isOverwritten: overwriteDeleted(database) }
    },

    extendIndex: index.extend,
    changed: database.changed,
    close: database.close,
  }
}

// Notices that the file of a log was removed or replaced under its writer. SQLite goes on writing to
// the file without a name, and all of it is lost when the process ends.

/** So many records can be lost at most. One look takes microseconds. */
const lookedForEveryMs: Milliseconds = 1000

/**
 * Returns a check for each write. It throws `bus.unwritable`, from then on always, if another file
 * or none is in the place of `file`. It looks at most once a second. The file must exist.
 */
function createOwnFileCheck(file: string, clock: Clock): () => void {
  if (file === ':memory:') return () => {}
  const own = identityOf(file)
  let nextLook = clock.monotonic() + lookedForEveryMs
  let isLost = false

  return () => {
    if (!isLost && clock.monotonic() < nextLook) return
    nextLook = clock.monotonic() + lookedForEveryMs
    isLost ||= identityOf(file) !== own
    if (!isLost) return
    throw new WeirError(
      'bus.unwritable',
      `${file} was removed or replaced while this process wrote it: end all processes that use it, put the file back (or begin with a new one), and start again`,
    )
  }
}

/** Undefined: nothing is there, or it cannot be seen. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
