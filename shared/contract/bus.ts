// The bus: a partitioned, append-only log with consumer groups. The port is narrow: the embedded
// bus (SQLite), Kafka and a simulator implement it. All pass the tests in
// test/shared/bus/contract.ts.
// Records are ordered by partition only. Offsets grow by append, and a reader sees the
// records in this order, without gaps that it could act on.
// `time` is the bus's own append time (LogAppendTime), never a writer's.
// BUS-3. Delivery is at least once. The bus drops and filters nothing. The runtime handles repeats
//     (R3).
// A commit is one atomic pair of offset and metadata.

import type { Clock, Milliseconds } from '../lib/clock.ts'
import type { ConversationId, TurnId } from './ids.ts'

export type Offset = number

/** A record to write. */
export type RecordToAppend = {
  topic: string
  partition: number
  key: string
  /** null: a tombstone, in tables only. The bytes must not change after the call. */
  value: Uint8Array | null
  /**
   * The id of a derived record, `stage/partition/offset/n` (R3). Absent on observed records. Kafka:
   * the header `weir-id`.
   */
  id?: string | undefined
  /**
   * The writer's signature, where records are signed (shared/bus/signing). Kafka: the header
   * `weir-signature`.
   */
  signature?: string | undefined
  /** The turn of the record, for traces. No bus keeps it. */
  turn?: TurnId | undefined
  /** The place in its trace. Kafka: the header `traceparent`, which no reader gets. */
  traceparent?: string | undefined
}

/**
 * A record as read. `refused`: the reason why its signature is wrong; only a subscription of a signed
 * bus has it. `conversationKey`: a key of its conversation encrypts it in the log. `deleted`: no process
 * can read it any more, because that key was deleted.
 */
export type StoredRecord = RecordToAppend & {
  offset: Offset
  time: Milliseconds
  refused?: string | undefined
  conversationKey?: 'present' | 'deleted' | undefined
}

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
  /** Of a log. Undefined: its records stay until somebody deletes them. */
  retentionMs?: Milliseconds | undefined
  /** Of a table: how long a bus may keep a value after its deletion. Undefined: the bus decides. */
  compactedMs?: Milliseconds | undefined
}

/** `begin`: the oldest offset still present. `end`: the offset of the next append. */
export type PartitionEnds = { partition: number; begin: Offset; end: Offset }

export type Assignment = { topic: string; ends: PartitionEnds; committed: Commit | undefined }

/**
 * The result of reading records: records to write, and a position that is valid when they are
 * acknowledged.
 */
export type Step = {
  outputs: RecordToAppend[]
  commit: Commit | undefined
  /** The reader may act before the outputs are acknowledged, so the bus may call `goAhead`. Absent: false. */
  allowsAhead?: boolean
}

/**
 * Reads one partition while it is assigned. The bus makes the calls for a partition one after the
 * other.
 */
export type PartitionReader = {
  /**
   * The position at which the bus begins to read (the runtime's "fold from"). The bus reads it
   * once, right after the assignment.
   */
  readonly position: Offset
  /**
   * Applies records in order, at least one. Must have no side effects. An error ends the
   * subscription (`failed`).
   */
  read(records: StoredRecord[]): Promise<Step>
  /**
   * Called after each step, when all outputs of the steps so far are acknowledged, each destination
   * partition in order. Must not throw.
   */
  acknowledged(): void
  /**
   * Called at most once between `read` and `acknowledged` of a step that allows it, when its outputs are
   * on their way. Must not throw.
   */
  goAhead?(): void
  /**
   * No record before this position is left to read: the last offsets are not records, such as the
   * marks that end Kafka's transactions. Called between steps. Must not throw.
   */
  passed?(position: Offset): void
  /**
   * The partition is no longer assigned to this reader. `lost`: another owner may act already.
   * Resolves when no work of it runs any more. `shutdown` may follow `lost`: the process ends and
   * does not wait for running work.
   */
  close(how: 'shutdown' | 'lost'): Promise<void>
}

export type Subscription = {
  /**
   * True when it is a member of its group and has a reader for each assigned partition, perhaps for
   * none. False while it joins, during a rebalance, and when it is closed or failed. For people and
   * health checks only.
   */
  readonly joined: boolean
  /**
   * Assigned partitions that are not read, because their commit or their log is damaged, with the
   * reason. The others go on. Absent: the bus fails the subscription instead.
   */
  readonly damaged?: ReadonlyMap<number, string>
  /** The reason why nothing can be read or written now, although it is a member. Absent: there is none. */
  readonly unready?: string | undefined
  /**
   * Rejects when reading cannot continue: a reader threw, the log is damaged, or writes failed
   * beyond their retries. Never resolves before close().
   */
  readonly failed: Promise<never>
  /** Closes all readers, then commits their positions. Resolves when all reading has ended. */
  close(): Promise<void>
}

/**
 * Conversations whose records are deleted, in all topics with content. `keep`: records that stay,
 * such as the one from which a stage folds an idle conversation. `forks`: conversations that stay, and
 * lose only the summary of their history. `seen`: the ends of the inboxes up
 * to which the caller has read. `evidence`: the records in `audit` that stay with this value, which
 * has no content.
 */
export type Erasure = {
  topicPrefix: string
  conversations: ConversationId[]
  forks: ConversationId[]
  keep: { topic: string; partition: number; offset: Offset }[]
  seen: { topic: string; partition: number; end: Offset }[]
  evidence: { partition: number; offset: Offset; value: Uint8Array }[]
}

/**
 * `records`: how many were deleted. `isOverwritten`: their bytes are also gone from unused parts of
 * the file.
 */
export type Erased = { records: number; isOverwritten: boolean }

/** A key of a table and its newest record, without the value. */
export type TableKey = { key: string; offset: Offset; time: Milliseconds }

export type SubscribeOptions = {
  group: string
  topic: string
  /** Whether the reader may get records whose writers are not proved. Default: no, if records are signed. */
  takesUnproved?: boolean
  assign(assignment: Assignment): Promise<PartitionReader>
}

/** How far the log's clock is from this machine's. */
export type ClockSkew = {
  /** The log's clock minus this machine's. Undefined: nothing was measured yet. */
  readonly measuredMs: Milliseconds | undefined
}

/**
 * Records that were read and could not be decrypted. `missing`: this process does not have the key
 * `name`. `deleted`: the keys of the tenant were deleted. `forgotten`: those of the conversation were.
 * `unfit`: the key does not fit, or the bytes are damaged. `hasOthers`: this process has other keys for
 * the tenant.
 */
export type HiddenRecords = {
  tenant: string
  name: string
  reason: 'missing' | 'deleted' | 'forgotten' | 'unfit'
  hasOthers: boolean
  count: number
}

export type Bus = {
  /**
   * Its wall time is the bus's: close to the append time of a record that is written now, as far as
   * `clockSkew` is measured.
   */
  readonly clock: Clock
  /** The clock of this machine. Absent: `clock` is that clock. */
  readonly machineClock?: Clock
  /** Measured at each append. Absent: the log's clock is this machine's. */
  readonly clockSkew?: ClockSkew
  /**
   * The claims of an earlier owner of the same partition can be released at once, because that
   * owner is dead (embedded: the file's lock).
   */
  readonly provesFormerOwnersDead: boolean
  /**
   * Notes that this process acts as `owner`, before it does. So a later process at the same place can
   * prove its end. Absent: the bus cannot note it.
   */
  addOwner?(owner: string): void
  /** The process that acted as `owner` has certainly ended. Absent: false. */
  hasEnded?(owner: string): boolean
  /**
   * One append is written completely, in order and over several partitions, or not at all. Absent:
   * false (as on Kafka).
   */
  readonly appendsWhole?: boolean
  /** The log was made from a bundle: stages run on it only if a person allows it. Absent: false. */
  readonly isImported?: boolean
  /**
   * The bytes that the log uses now, and their limit; 0: there is none. Deleted records do not count.
   * At the limit no new turn may begin. Absent: the bus has no such limit.
   */
  space?(): { bytes: number; bytesMax: number }
  /** The records that this reader got encrypted, so far. Absent: no record is encrypted. */
  hidden?(): readonly HiddenRecords[]
  /** The largest value in bytes that append accepts. The runtime checks it before (R7). */
  readonly recordBytesMax: number
  /**
   * Deletes the records of conversations from the log. Undefined, and nothing is deleted: an inbox has
   * a newer record of one of them than `seen`. Absent: records leave this bus by retention alone.
   */
  erase?(erasure: Erasure): Promise<Erased | undefined>
  /**
   * Creates missing topics. Throws `bus.topic-differs` if a topic exists with another partition
   * count or kind.
   */
  ensureTopics(topics: TopicSpec[]): Promise<void>
  /**
   * Resolves when all are acknowledged, in the given order. After an error, some of them may be
   * written. A tombstone needs a table. `patient`: the caller would retry, so the bus may retry in
   * its place for as long as it retries a step. Then the error is not retryable.
   */
  append(records: RecordToAppend[], options?: { patient?: boolean }): Promise<Appended[]>
  subscribe(options: SubscribeOptions): Promise<Subscription>
  /**
   * The id that a topic got when it was created. Undefined: the brokers are too old for ids. Throws
   * `bus.topic-missing`. Absent: nobody can delete a single topic of this bus.
   */
  topicId?(topic: string): Promise<string | undefined>
  /** `partitions`: only these; default: all. A bus may ignore it. */
  ends(topic: string, partitions?: readonly number[]): Promise<PartitionEnds[]>
  /** The end of one partition. Absent: `ends` has it. */
  end?(place: { topic: string; partition: number }): Promise<Offset>
  /**
   * The end of a partition for the readers of this process, which may be ahead of the written
   * records. Absent: `ends` has it, because readers get written records only.
   */
  endAhead?(place: { topic: string; partition: number }): Offset
  /**
   * An end that a partition has reached, as far as this process knows without a request. 0: nothing is
   * known. Absent: the same.
   */
  endSeen?(place: { topic: string; partition: number }): Offset
  /**
   * A record with an id that a subscription of this topic gets without `refused` was written by the stage
   * in its id. Absent: false.
   */
  provesWriters?(topic: string): boolean
  /**
   * The first offset of a partition whose record is not older than `time`. Undefined: there is
   * none. Absent: the bus has no index by time, and callers bisect the partition (range.ts).
   */
  offsetSince?(place: {
    topic: string
    partition: number
    time: Milliseconds
  }): Promise<Offset | undefined>
  /**
   * Records of one partition from `from` (inclusive) to `to` (exclusive), at most `limit`. Fewer
   * than `limit` means that there were no more. With `bytesMax` it stops after about that many
   * bytes, but reads at least one record. Then only an empty result means that there were no more.
   * `keys`: the caller wants their records only. A bus with an index leaves others out, and then too
   * only an empty result means that there were no more. A bus without one ignores `keys`.
   */
  read(range: {
    topic: string
    partition: number
    from: Offset
    to?: Offset | undefined
    limit: number
    bytesMax?: number | undefined
    keys?: readonly string[] | undefined
  }): Promise<StoredRecord[]>
  /**
   * Batches of one partition from `from` on, until `signal` aborts. New records wake the reader; it
   * does not poll.
   */
  follow(range: {
    topic: string
    partition: number
    from: Offset
    signal: AbortSignal
  }): AsyncIterable<StoredRecord[]>
  /**
   * The newest values of a table's keys that begin with `prefix`, in key order. Keys whose newest
   * record is a tombstone are left out. Records of other processes may appear a moment later. With
   * `upToNow` the result has every record that the table had at the call, which may cost a request
   * to a broker.
   */
  list(table: {
    topic: string
    partition: number
    prefix: string
    upToNow?: boolean | undefined
  }): Promise<StoredRecord[]>
  /**
   * The keys of a table's partition after `after` (exclusive; absent: from the first one) in key
   * order, at most `limit`, each with offset and append time of its newest record. Keys whose
   * newest record is a tombstone are left out and do not count, so fewer than `limit` means that
   * there are no more. Key order is the same in every call, and keys with a common prefix are
   * adjacent, after that prefix. Values are not read, so callers can scan a table without holding
   * it. It is no snapshot: a later call may or may not include a record written between two calls.
   */
  keys(table: {
    topic: string
    partition: number
    after?: string | undefined
    limit: number
  }): Promise<TableKey[]>
  /** The newest value under `key`. If there is none, waits up to `waitMs` for one. */
  get(table: {
    topic: string
    partition: number
    key: string
    waitMs: Milliseconds
  }): Promise<StoredRecord | undefined>
  close(): Promise<void>
}
