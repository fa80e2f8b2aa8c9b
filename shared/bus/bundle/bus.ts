// A bundle as a read-only bus: every reader of a log can read a bundle.
// Offsets are those of the exported log, so there are gaps, as on Kafka.
// No record arrives later: `follow` ends after the last record, and `get` does not wait.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Bus, PartitionEnds, StoredRecord, TopicKind } from '../../contract/bus.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import { nameWithoutPrefix } from '../../contract/topology.ts'
import type { Clock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { prefixEnd } from '../prefix-end.ts'
import { batchesOf } from '../range.ts'
import { partitionsIn, recordsIn } from './bounds.ts'
import { type BundleFacts, type BundleTurn, turnColumns } from './format.ts'
import { type OpenOptions, openBundleFile } from './open.ts'

export type Bundle = {
  readonly file: string
  readonly facts: BundleFacts
  /** By conversation, then by turn. */
  turns(): Iterable<BundleTurn>
  /** The numbers of a conversation's turns. */
  turnsOf(conversation: ConversationId): number[]
  /**
   * The records whose key is the conversation, by topic, then by offset. Not its history, which has
   * other keys.
   */
  recordsOf(conversation: ConversationId): StoredRecord[]
  /** All topics, named without the prefix. */
  topics(): { name: string; kind: TopicKind }[]
  readonly bus: Bus
}

type Row = [offset: number, time: number, key: string, value: Uint8Array | null, id: string | null]

const columns = 'offset, time, key, value, id'

/** Errors as openBundleFile's. */
export async function openBundle(
  file: string,
  clock: Clock,
  options: OpenOptions = {},
): Promise<Bundle> {
  const db = await openBundleFile(file, options)
  const facts = factsOf(db, file)
  const kinds = new Map(
    db
      .prepare('SELECT name, kind FROM topics')
      .all()
      .map(({ name, kind }) => [String(name), kind as TopicKind]),
  )
  const queries = queriesOf(db)
  const bus = busOf({ file, db, facts, kinds, queries, clock })

  return {
    file,
    facts,
    bus,
    recordsOf(conversation) {
      const found = queries.ofConversation.all(conversation) as unknown as [
        topic: string,
        partition: number,
        ...row: Row,
      ][]
      return found.map(([topic, partition, ...row]) =>
        stored(facts.topicPrefix + topic, partition, row),
      )
    },
    turnsOf: (conversation) => queries.turnsOf.all(conversation).map(({ turn }) => Number(turn)),
    topics: () => [...kinds].map(([name, kind]) => ({ name, kind })),
    *turns() {
      for (const row of db.prepare('SELECT * FROM turns').iterate()) yield turnIn(row)
    },
  }
}

type Queries = ReturnType<typeof queriesOf>

function queriesOf(db: DatabaseSync) {
  const read = rows(
    'SELECT * FROM records WHERE topic = ? AND partition = ? AND offset >= ? AND offset < ? ORDER BY offset LIMIT ?',
  )
  // Each query names the tables. Otherwise SQLite would not use the index by key, and would scan the
  // partition for each key.
  const isTable = `topic IN ('history', 'policies')`
  const newestOf = `SELECT max(newer.offset) FROM records AS newer
    WHERE newer.topic = r.topic AND newer.partition = r.partition AND newer.key = r.key AND newer.${isTable}`
  const inTable = `topic = ? AND partition = ? AND ${isTable} AND offset = (${newestOf}) AND value IS NOT NULL`
  const list = rows(
    `SELECT * FROM records AS r WHERE ${inTable} AND key >= ? AND key < ? ORDER BY key`,
  )
  const get = rows(`SELECT * FROM records AS r WHERE ${inTable} AND key = ?`)
  const keys = db.prepare(
    `SELECT key, offset, time FROM records AS r WHERE ${inTable} AND key >= ? ORDER BY key LIMIT ?`,
  )
  const ofConversation = db.prepare(
    `SELECT topic, partition, ${columns} FROM records WHERE conversation = ? AND topic <> 'history' ORDER BY topic, partition, offset`,
  )
  ofConversation.setReturnArrays(true)
  const turnsOf = db.prepare('SELECT turn FROM turns WHERE conversation = ? ORDER BY turn')
  const ends = db.prepare(
    'SELECT min(offset) AS first, max(offset) AS last FROM records WHERE topic = ? AND partition = ?',
  )
  return { read, list, get, keys, ofConversation, turnsOf, ends }

  function rows(select: string): StatementSync {
    const statement = db.prepare(select.replace('*', columns))
    statement.setReturnArrays(true)
    return statement
  }
}

type BusParts = {
  file: string
  db: DatabaseSync
  facts: BundleFacts
  kinds: ReadonlyMap<string, TopicKind>
  queries: Queries
  clock: Clock
}

/** Owns the closing of the database. */
function busOf({ file, db, facts, kinds, queries, clock }: BusParts): Bus {
  let isClosed = false

  /** The name in the file. */
  function topicIn(topic: string, kind?: TopicKind): string {
    if (isClosed) throw new WeirError('bus.closed', `the bundle ${file} is closed: open it again`)
    const name = nameWithoutPrefix(topic, facts.topicPrefix)
    const found = name === undefined ? undefined : kinds.get(name)
    if (name === undefined || found === undefined)
      throw new WeirError(
        'bus.topic-missing',
        `there is no topic ${topic} in the bundle ${file}: it was not exported, or did not exist`,
      )
    if (kind !== undefined && found !== kind)
      throw new WeirError(
        'bus.topic-differs',
        `topic ${topic} is a log and has no newest value of a key: read or follow it`,
      )
    return name
  }

  async function refuse(what: string): Promise<never> {
    throw new WeirError(
      'bus.unwritable',
      `${file} is a bundle and read-only: ${what} is not possible. Make a log of it with weir import`,
    )
  }

  function endsOf(name: string, partition: number): PartitionEnds {
    const { first, last } = queries.ends.get(name, partition) ?? {}
    return last === null || last === undefined
      ? { partition, begin: 0, end: 0 }
      : { partition, begin: Number(first), end: Number(last) + 1 }
  }

  const bus: Bus = {
    clock,
    provesFormerOwnersDead: false,
    recordBytesMax: limits.recordBytesMax,
    ensureTopics: () => refuse('a new topic'),
    append: () => refuse('append'),
    subscribe: () => refuse('subscribe'),

    async ends(topic) {
      const name = topicIn(topic)
      return Array.from({ length: facts.partitions }, (_, partition) => endsOf(name, partition))
    },

    async read({
      topic,
      partition,
      from,
      to = Number.MAX_SAFE_INTEGER,
      limit,
      bytesMax = Number.POSITIVE_INFINITY,
    }) {
      const found: StoredRecord[] = []
      let bytes = 0
      for (const row of queries.read.iterate(
        topicIn(topic),
        partition,
        from,
        to,
        limit,
      ) as Iterable<unknown> as Iterable<Row>) {
        found.push(stored(topic, partition, row))
        bytes += row[3]?.byteLength ?? 0
        if (bytes >= bytesMax) break
      }
      return found
    },

    async *follow({ topic, partition, from, signal }) {
      yield* batchesOf(bus, { topic, partition, from, to: Number.MAX_SAFE_INTEGER }, signal)
    },

    async list({ topic, partition, prefix }) {
      const found = queries.list.all(
        topicIn(topic, 'table'),
        partition,
        prefix,
        prefixEnd(prefix),
      ) as unknown as Row[]
      return found.map((row) => stored(topic, partition, row))
    },

    async keys({ topic, partition, after, limit }) {
      const first = after === undefined ? '' : `${after}\0` // the least text above it
      const found = queries.keys.all(topicIn(topic, 'table'), partition, first, limit)
      return found.map(({ key, offset, time }) => ({
        key: String(key),
        offset: Number(offset),
        time: Number(time),
      }))
    },

    async get({ topic, partition, key }) {
      const row = queries.get.get(topicIn(topic, 'table'), partition, key) as unknown as
        | Row
        | undefined
      return row && stored(topic, partition, row)
    },

    async close() {
      if (!isClosed) db.close()
      isClosed = true
    },
  }
  return bus
}

/**
 * Turns without their beginning: retention had deleted it before the export.
 */
export function cutTurns({ turns }: Pick<Bundle, 'turns'>): BundleTurn[] {
  return [...turns()].filter(({ whole }) => !whole)
}

/**
 * Throws `bundle.turn-cut` if there are such turns. For callers that fold a bundle; printing needs
 * no check.
 */
export function refuseCutTurns({ file, turns }: Pick<Bundle, 'file' | 'turns'>): void {
  const cut = cutTurns({ turns })
  const [first] = cut
  if (first === undefined) return
  const others = cut.length === 1 ? '' : `, and ${cut.length - 1} more`
  throw new WeirError(
    'bundle.turn-cut',
    `${file} lacks the beginning of the turn at offset ${first.turn} of ${first.conversation}${others}: retention had deleted it. Export newer turns (--since)`,
  )
}

function stored(
  topic: string,
  partition: number,
  [offset, time, key, value, id]: Row,
): StoredRecord {
  return { topic, partition, key, value, id: id ?? undefined, offset, time }
}

/** Closes the database if it throws. */
function factsOf(db: DatabaseSync, file: string): BundleFacts {
  try {
    const rows = db.prepare('SELECT key, value FROM bundle').all()
    return factsIn(file, new Map(rows.map(({ key, value }) => [String(key), String(value)])))
  } catch (error) {
    db.close()
    throw error
  }
}

function factsIn(file: string, rows: Map<string, string>): BundleFacts {
  const text = (key: string) => rows.get(key) ?? ''
  const partitions = partitionsIn(file, rows)
  return {
    madeAt: text('madeAt'),
    source: text('source'),
    topicPrefix: text('topicPrefix'),
    partitions,
    asked: text('asked'),
    redaction: rows.get('redaction') ?? null,
    records: recordsIn(file, rows),
  }
}

/** Strict tables: each column has the type of its member. */
function turnIn(row: Record<string, unknown>): BundleTurn {
  const members = Object.entries(turnColumns).map(([column, member]) => [member, row[column]])
  const turn = Object.fromEntries(members) as BundleTurn
  return { ...turn, whole: Number(turn.whole) === 1 }
}
