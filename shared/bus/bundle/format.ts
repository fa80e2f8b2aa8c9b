// The format of a bundle: exported records of a log, in one SQLite file that any SQLite tool opens.
// README.md next to this file explains it to people.
//
//   SQLite file │ trailer: 'weir bundle, sha256 ' and 64 hex digits of all bytes before it
//
// The trailer covers every byte, so a truncated or changed bundle is refused before it is
// read. SQLite ignores it: it counts the pages in its header.
// A bundle never changes: writer.ts makes it under another name and renames it.
// One table for all records, because people read this file too. Their order is topic,
// partition, offset, so a partition is in neighbouring pages.
// A file with other tables is refused (open.ts), because anybody may have made it. If you
// change the tables, raise the format.

import type { MessageId, TurnId } from '../../contract/ids.ts'

/**
 * "Weib" in ASCII: `PRAGMA application_id`. That of a log (shared/bus/embedded/file/schema.ts) is
 * "Weir".
 */
export const bundleApplicationId = 0x57656962
/** `PRAGMA user_version`. A file with a higher one is refused. */
export const bundleFormat = 1

export const bundleTables = `
  CREATE TABLE bundle (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE topics (
    name TEXT PRIMARY KEY, -- without the prefix
    kind TEXT NOT NULL CHECK (kind IN ('log', 'table'))
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    topic TEXT NOT NULL, -- without the prefix
    partition INTEGER NOT NULL,
    offset INTEGER NOT NULL, -- as in the log that it came from; there are gaps
    time INTEGER NOT NULL, -- when that log appended it, in milliseconds since 1970
    key TEXT NOT NULL,
    id TEXT, -- stage/partition/offset/n of a derived record; NULL: an observed one
    conversation TEXT, -- NULL: it belongs to none, such as a policy
    type TEXT, -- NULL: a tombstone, or bytes that no schema of ours explains
    schema INTEGER, -- of the value, in the table schemas
    value BLOB -- framed Avro; NULL: a tombstone
  ) STRICT;
  CREATE TABLE schemas (
    id INTEGER PRIMARY KEY, -- bytes 1 to 4 of a value
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    schema TEXT NOT NULL -- Avro, as JSON: what the records were written with
  ) STRICT;
  CREATE TABLE turns (
    conversation TEXT NOT NULL,
    turn INTEGER NOT NULL, -- the offset, in conversation-events, of the record that opened it
    partition INTEGER NOT NULL,
    agent TEXT,
    message_id TEXT,
    began_at INTEGER, -- milliseconds since 1970; NULL: its beginning is not in the bundle
    ended_at INTEGER, -- NULL: it was open
    outcome TEXT NOT NULL, -- answered, capped, failed, cancelled; open: it had not ended when this was made
    failure_class TEXT,
    cap TEXT,
    reason TEXT,
    rounds INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    whole INTEGER NOT NULL, -- 1: its first record is in the bundle; 0: the log had no longer got it
    PRIMARY KEY (conversation, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE VIEW conversations AS
    SELECT conversation, max(agent) AS agent, count(*) AS turns, sum(rounds) AS rounds, sum(calls) AS calls,
      sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
      (SELECT outcome FROM turns AS last WHERE last.conversation = turns.conversation ORDER BY turn DESC LIMIT 1) AS outcome,
      (SELECT failure_class FROM turns AS last WHERE last.conversation = turns.conversation ORDER BY turn DESC LIMIT 1) AS failure_class,
      strftime('%Y-%m-%dT%H:%M:%fZ', min(began_at) / 1000.0, 'unixepoch') AS began,
      strftime('%Y-%m-%dT%H:%M:%fZ', max(ended_at) / 1000.0, 'unixepoch') AS ended,
      min(whole) AS whole
    FROM turns GROUP BY conversation;
  CREATE VIEW timeline AS
    SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch') AS at, topic, partition, offset, conversation, type, id, length(value) AS bytes
    FROM records ORDER BY time, topic, partition, offset;
  PRAGMA application_id = ${bundleApplicationId};
  PRAGMA user_version = ${bundleFormat};
`

/** Created after all records: that is faster than updating the indexes with each one. */
export const bundleIndexes = `
  CREATE UNIQUE INDEX records_by_place ON records (topic, partition, offset);
  CREATE INDEX records_by_key ON records (topic, partition, key, offset) WHERE topic IN ('history', 'policies');
  CREATE INDEX records_by_conversation ON records (conversation, topic, offset);
`

/** The rows of the table `bundle`. */
export type BundleFacts = {
  /** The time of the export, ISO 8601. */
  madeAt: string
  /** Its source: `embedded`, `kafka`, or `transcript FORMAT`. */
  source: string
  topicPrefix: string
  partitions: number
  /** The requested selection as JSON, for people. */
  asked: string
  /**
   * The redaction rules that replaced contents, separated by commas. Null: nothing was replaced.
   */
  redaction: string | null
  records: number
}

/** A turn in a bundle, one row of `turns`. Times in milliseconds since 1970. */
export type BundleTurn = TurnId & {
  partition: number
  agent: string | null
  messageId: MessageId | null
  beganAt: number | null
  endedAt: number | null
  outcome: string
  failureClass: string | null
  cap: string | null
  reason: string | null
  rounds: number
  calls: number
  inputTokens: number
  outputTokens: number
  whole: boolean
}

/** The columns of `turns` in their order, and the member that each one has. */
export const turnColumns: Record<string, keyof BundleTurn> = {
  conversation: 'conversation',
  turn: 'turn',
  partition: 'partition',
  agent: 'agent',
  message_id: 'messageId',
  began_at: 'beganAt',
  ended_at: 'endedAt',
  outcome: 'outcome',
  failure_class: 'failureClass',
  cap: 'cap',
  reason: 'reason',
  rounds: 'rounds',
  calls: 'calls',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  whole: 'whole',
}

/** The end of a bundle, with the digest of all bytes before it. */
export function trailerOf(sha256: string): Buffer {
  return Buffer.from(`weir bundle, sha256 ${sha256}\n`, 'latin1')
}

export const trailerBytes = trailerOf('0'.repeat(64)).length
const trailerShape = /^weir bundle, sha256 ([0-9a-f]{64})\n$/

/** The digest in a trailer. Undefined if the bytes are not a trailer. */
export function digestIn(trailer: Uint8Array): string | undefined {
  return trailerShape.exec(Buffer.from(trailer).toString('latin1'))?.[1]
}
