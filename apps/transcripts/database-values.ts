// The sessions in a program's database of SQLite, one value each. Nothing is written, also not beside it.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import { DatabaseSync } from '../../shared/bus/sqlite.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Json } from '../../shared/transcript/json-fields.ts'
import { invalid } from '../../shared/transcript/transcript.ts'
import type { SessionDatabase } from '../../shared/wire/format.ts'

const magic = 'SQLite format 3\0'
const busyWaitMs = 2_000
/** Of one blob. OpenClaw packs events up to 4 MiB. */
const textBytesMax = 16 * 1024 * 1024
/** Between two calls of `read`. */
const sessionsMax = 20

/** Throws `transcript.invalid`. */
export function isDatabase(file: string): boolean {
  const start = Buffer.alloc(magic.length)
  const descriptor = reading(file, () => openSync(file, 'r'))
  try {
    return readSync(descriptor, start, 0, start.length, 0) > 0 && start.toString('latin1') === magic
  } finally {
    closeSync(descriptor)
  }
}

/** `since`: only sessions that changed at this time or later. Throws `transcript.invalid`. */
export function databaseValues(
  file: string,
  { ids, rows, session }: SessionDatabase,
  since: Milliseconds = 0,
) {
  const db = reading(
    file,
    () =>
      new DatabaseSync(isInUse(file) ? file : immutable(file), {
        readOnly: true,
        timeout: busyWaitMs,
      }),
  )
  try {
    const list = reading(file, () => db.prepare(ids).all(since))
    const byId = reading(file, () => db.prepare(rows))
    const again = (number: number) => {
      const id = list[number]?.id ?? null
      const rows = reading(file, () => byId.all(id) as Json[])
      return { value: session(rows.map(unpacked)), where: `${file} ${id}` }
    }
    return {
      areSeveral: true,
      async *each(read: (bytes: number) => void) {
        for (let from = 0; from < list.length; from += sessionsMax) {
          const numbers = list.slice(from, from + sessionsMax).keys()
          yield [...numbers].map((at) => ({ number: from + at, ...again(from + at) }))
        }
        read(statSync(file).size)
      },
      again,
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/** A program keeps its long texts as blobs of Zstandard. A damaged blob is no text. */
function unpacked(row: Json): Json {
  const entries = Object.entries(row).map(([name, value]) => {
    if (!(value instanceof Uint8Array)) return [name, value]
    try {
      return [name, zstdDecompressSync(value, { maxOutputLength: textBytesMax }).toString('utf8')]
    } catch {
      return [name, null]
    }
  })
  return Object.fromEntries(entries)
}

/** Other programs can damage or lock the file at any time. */
function reading<Value>(file: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw invalid(file, `has no sessions: ${(error as Error).message}`)
  }
}

/** SQLite needs files beside the database only if its write-ahead log has records. */
function isInUse(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function immutable(file: string): URL {
  const url = pathToFileURL(resolve(file))
  url.searchParams.set('immutable', '1')
  return url
}
