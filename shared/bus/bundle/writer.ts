// Makes a bundle, record by record. Until it is finished it has another name, so a bundle under its
// own name is always whole. Memory: SQLite's cache only.

import { createHash } from 'node:crypto'
import { appendFileSync, createReadStream, rmSync } from 'node:fs'
import { knownSchemas, schemaIdIn, typeIn } from '../../codec/codec.ts'
import type { StoredRecord, TopicKind } from '../../contract/bus.ts'
import { historyConversation } from '../../contract/history/history-keys.ts'
import { beginFile, guarded, nameFile, refusal, refuseTaken } from '../../lib/files/whole-file.ts'
import { DatabaseSync } from '../sqlite.ts'
import {
  type BundleFacts,
  type BundleTurn,
  bundleIndexes,
  bundleTables,
  trailerOf,
  turnColumns,
} from './format.ts'

export type BundleWriter = {
  /** `name`: without the prefix. Call it before its records. */
  topic(name: string, kind: TopicKind): void
  /**
   * `topic`: without the prefix. Add by topic, partition and offset, for fast reading. The same place
   * twice makes `finish` fail.
   */
  add(record: StoredRecord): void
  turn(turn: BundleTurn): void
  /** The number of records so far. */
  readonly records: number
  /** Gives the bundle its name. Throws the reason of `signal`; then there is no bundle. */
  finish(facts: Omit<BundleFacts, 'records'>, signal?: AbortSignal): Promise<void>
  /** Removes the unfinished file. */
  abandon(): void
}

/** `force`: replaces an existing file. Throws `output.exists`, `output.unwritable`. */
export function createBundle(
  file: string,
  { force = false }: { force?: boolean } = {},
): BundleWriter {
  refuseTaken(file, { force })
  const unfinished = beginFile(file)
  const db = opened(unfinished)
  const schemaIds = new Set<number>()
  const insert = db.prepare(
    'INSERT INTO records (topic, partition, offset, time, key, id, conversation, type, schema, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const insertTopic = db.prepare('INSERT OR IGNORE INTO topics VALUES (?, ?)')
  const places = Object.keys(turnColumns).map(() => '?')
  const insertTurn = db.prepare(`INSERT INTO turns VALUES (${places})`)
  const kinds = new Map(knownSchemas.map((entry) => [entry.id, entry]))
  let records = 0

  return {
    get records() {
      return records
    },

    topic: (name, kind) => void guarded(file, () => insertTopic.run(name, kind)),

    add({ topic, partition, offset, time, key, id, value }) {
      const schema = value === null ? undefined : schemaIdIn(value)
      const known = schema !== undefined && kinds.has(schema) ? schema : null
      if (known !== null) schemaIds.add(known)
      const type = value === null ? null : (typeIn(value) ?? null)
      const conversation = conversationOf(topic, key)
      guarded(file, () =>
        insert.run(
          topic,
          partition,
          offset,
          time,
          key,
          id ?? null,
          conversation,
          type,
          known,
          value,
        ),
      )
      records += 1
    },

    turn(turn) {
      const values = Object.values(turnColumns).map((member) => turn[member])
      const row = values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
      guarded(file, () => insertTurn.run(...row))
    },

    async finish(facts, signal) {
      try {
        const fact = db.prepare('INSERT INTO bundle VALUES (?, ?)')
        for (const [key, value] of Object.entries({ ...facts, records }))
          if (value !== null) fact.run(key, String(value))
        const schema = db.prepare('INSERT INTO schemas VALUES (?, ?, ?, ?)')
        for (const id of [...schemaIds].sort((a, b) => a - b)) {
          const entry = kinds.get(id)
          if (entry !== undefined)
            schema.run(id, entry.type, entry.version, JSON.stringify(entry.schema))
        }
        db.exec(bundleIndexes)
        db.exec('COMMIT')
        db.close()
        appendFileSync(unfinished, trailerOf(await digestOf(unfinished, { signal })))
        signal?.throwIfAborted()
      } catch (error) {
        throw refusal(file, error)
      }
      nameFile(unfinished, file, { force })
    },

    abandon() {
      if (db.isOpen) db.close()
      rmSync(unfinished, { force: true })
    },
  }
}

/**
 * After a crash the file has no trailer and another name, so it needs no journal on the disk.
 * (node:sqlite refuses journal_mode OFF: it is defensive.)
 */
function opened(file: string): DatabaseSync {
  try {
    const db = new DatabaseSync(file)
    db.exec(
      'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32000',
    )
    db.exec(`BEGIN; ${bundleTables}`)
    return db
  } catch (error) {
    rmSync(file, { force: true })
    throw refusal(file, error)
  }
}

function conversationOf(topic: string, key: string): string | null {
  if (topic === 'policies') return null
  return topic === 'history' ? (historyConversation(key) ?? null) : key
}

/** `read` gets the bytes of each piece. Aborting `signal` makes the reading throw. */
export type DigestOptions = {
  bytes?: number
  read?: ((bytes: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** SHA-256 of a file, or of its first `bytes`. */
export async function digestOf(
  file: string,
  { bytes = Number.POSITIVE_INFINITY, read, signal }: DigestOptions = {},
): Promise<string> {
  const hash = createHash('sha256')
  if (bytes > 0)
    for await (const piece of createReadStream(file, {
      end: bytes - 1,
      highWaterMark: 1024 * 1024,
    })) {
      signal?.throwIfAborted()
      hash.update(piece as Buffer)
      read?.((piece as Buffer).length)
    }
  return hash.digest('hex')
}
