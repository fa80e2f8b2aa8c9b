// The bus: a partitioned, append-only log with consumer groups. The port is narrow so that the
// embedded bus (SQLite) and Kafka can both be behind it, and a simulator under it;
// test/shared/bus/contract.ts is what every implementation must pass.
// BUS-1. The order of a partition is the only order there is: offsets grow by append, and a reader
//     sees them in that order without gaps it could act on.
// BUS-2. `time` is the bus's own append time (LogAppendTime), never a writer's.
// BUS-3. Delivery is at least once. The bus drops nothing and filters nothing: repeats are the
//     runtime's business (R3).
// BUS-4. A commit is one atomic pair of offset and metadata.

import type { Clock, Milliseconds } from '../lib/clock.ts'

export type Offset = number

/** A record as somebody wants it written. */
export type RecordToAppend = {
  topic: string
  partition: number
  key: string
  /**
   * null: a tombstone; only tables take one. Handed over with the record: nobody may change these
   * bytes any more.
   */
  value: Uint8Array | null
  /**
   * The id of a derived record, `stage/partition/offset/n` (R3); absent on observed ones. Kafka:
   * the header `weir-id`.
   */
  id?: string | undefined
}

/** A record as it was read. */
export type StoredRecord = RecordToAppend & { offset: Offset; time: Milliseconds }

export type Appended = { partition: number; offset: Offset; time: Milliseconds }

/**
 * `offset`: the first record that is not done; `metadata`: opaque to the bus (the runtime's "fold
 * from" and marks).
 */
export type Commit = { offset: Offset; metadata: string }

export type TopicKind = 'log' | 'table'

export type TopicSpec = {
  name: string
  kind: TopicKind
  partitions: number
  retentionMs?: Milliseconds | undefined
}

/** `begin`: the oldest offset still there; `end`: the offset that the next append will get. */
export type PartitionEnds = { partition: number; begin: Offset; end: Offset }

export type Assignment = { topic: string; ends: PartitionEnds; committed: Commit | undefined }

/**
 * What reading some records led to: records to write, then a position that is true once they are
 * acknowledged.
 */
export type Step = { outputs: RecordToAppend[]; commit: Commit | undefined }

/**
 * Reads one partition for as long as it is assigned. The bus makes all calls for one partition one
 * after the other.
 */
export type PartitionReader = {
  /**
   * Where the bus begins to read (the runtime's "fold from"); looked at once, right after the
   * assignment.
   */
  readonly position: Offset
  /**
   * Takes records in order, at least one. Must not touch the world. An error it throws ends the
   * subscription (`failed`).
   */
  read(records: StoredRecord[]): Promise<Step>
  /**
   * All outputs of the steps so far are acknowledged, each destination partition in order; called
   * after each step. Must not throw.
   */
  acknowledged(): void
  /**
   * Nothing before this position is left to read: the offsets since the last record are no records,
   * as the marks that end Kafka's transactions. Called between steps, by a bus whose logs have
   * such. Must not throw.
   */
  passed?(position: Offset): void
  /**
   * The partition is no longer this reader's. `lost`: another owner may act already. Resolves when
   * nothing of it runs any more. `shutdown` may follow `lost`: the process ends, and what still
   * runs has no longer than that.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

export type Subscription = {
  /**
   * It is a member of its group and has a reader for each partition that the group gave it, perhaps
   * for none. False while it joins, while a rebalance goes on, and when it is closed or failed. For
   * people and health checks; nothing decides by it.
   */
  readonly joined: boolean
  /**
   * Rejects when reading cannot go on (a reader threw, the log is damaged, writes failed beyond
   * their retries); never resolves before close().
   */
  readonly failed: Promise<never>
  /** Closes all readers, then commits what is done. Resolves when nothing is read any more. */
  close(): Promise<void>
}

/** A key of a table and its newest record, without the value. */
export type TableKey = { key: string; offset: Offset; time: Milliseconds }

export type SubscribeOptions = {
  group: string
  topic: string
  assign(assignment: Assignment): Promise<PartitionReader>
}

export type Bus = {
  readonly clock: Clock
  /**
   * The claims of an owner of the same partition before this one can be given up at once: whoever
   * wrote them is dead (embedded: the file's lock).
   */
  readonly provesFormerOwnersDead: boolean
  /**
   * What one append is given is written all or not at all, and in that order, also over several
   * partitions. Absent: false (as on Kafka).
   */
  readonly appendsWhole?: boolean
  /** The size in bytes up to which append takes a value; the runtime checks it before (R7). */
  readonly recordBytesMax: number
  /**
   * Creates what is missing. A topic that exists with another partition count or kind:
   * `bus.topic-differs`.
   */
  ensureTopics(topics: TopicSpec[]): Promise<void>
  /**
   * Resolves when all are acknowledged, in the order given. All or, after an error, perhaps some of
   * them are written. A tombstone needs a table. `patient`: the caller would try again itself, so
   * the bus may do that in its place for as long as it tries a step; then the error is not
   * retryable.
   */
  append(records: RecordToAppend[], options?: { patient?: boolean }): Promise<Appended[]>
  subscribe(options: SubscribeOptions): Promise<Subscription>
  ends(topic: string): Promise<PartitionEnds[]>
  /**
   * The first offset of a partition whose record is not older than `time`; undefined: there is
   * none. Absent: the bus has no index by time, and whoever wants to know halves the partition
   * (range.ts).
   */
  offsetSince?(place: {
    topic: string
    partition: number
    time: Milliseconds
  }): Promise<Offset | undefined>
  /**
   * Records of one partition from `from` (inclusive) to `to` (exclusive), at most `limit`. Fewer
   * than asked: there were no more. With `bytesMax` it stops when about so many bytes are read,
   * after one record at least, and only none at all means that there were no more.
   */
  read(range: {
    topic: string
    partition: number
    from: Offset
    to?: Offset | undefined
    limit: number
    bytesMax?: number | undefined
  }): Promise<StoredRecord[]>
  /**
   * Batches of one partition from `from` on, as they come, until `signal` aborts. Woken, not
   * polled.
   */
  follow(range: {
    topic: string
    partition: number
    from: Offset
    signal: AbortSignal
  }): AsyncIterable<StoredRecord[]>
  /**
   * The newest values of a table's keys that begin with `prefix`, in key order; keys whose newest
   * record is a tombstone are left out. What other processes wrote may be in the answer a moment
   * later; with `upToNow` all is in it that stood in the table when it was asked, which may cost a
   * question to a broker.
   */
  list(table: {
    topic: string
    partition: number
    prefix: string
    upToNow?: boolean | undefined
  }): Promise<StoredRecord[]>
  /**
   * The keys of a table's partition that come after `after` (exclusive; absent: from the first one)
   * in key order, at most `limit`, each with offset and append time of its newest record. Keys
   * whose newest record is a tombstone are left out and do not count; so fewer than `limit` means
   * that there are no more. Key order is the bus's own and the same in every call; keys with a
   * common prefix stand together in it, behind that prefix. Values are not read: this is how a
   * table is looked through without holding it. It is no snapshot: what is written between two
   * calls is in the later one or is not.
   */
  keys(table: {
    topic: string
    partition: number
    after?: string | undefined
    limit: number
  }): Promise<TableKey[]>
  /** The newest value under `key`; when there is none, waits up to `waitMs` for one. */
  get(table: {
    topic: string
    partition: number
    key: string
    waitMs: Milliseconds
  }): Promise<StoredRecord | undefined>
  close(): Promise<void>
}
