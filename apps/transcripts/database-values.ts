// The sessions in a program's database of SQLite, one value each. Nothing is written, also not next to it.

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
/** Of all blobs of a session: a few bytes can hold very many. */
const sessionBytesMax = 64 * 1024 * 1024
/** Between two calls of `read`. Their texts are in memory together. */
const sessionsMax = 4

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
      return { value: session(unpacked(rows)), where: `${file} ${id}` }
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

/** A program keeps its long texts as blobs of Zstandard. A damaged or too long blob is no text. */
function unpacked(rows: Json[]): Json[] {
  let left = sessionBytesMax
  const textOf = (blob: Uint8Array): string | null => {
    if (left === 0) return null
    try {
      const text = zstdDecompressSync(blob, { maxOutputLength: Math.min(textBytesMax, left) })
      left -= text.length
      return text.toString('utf8')
    } catch {
      return null
    }
  }
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? textOf(value) : value,
      ]),
    ),
  )
}

/** Other programs can damage or lock the file at any time. */
function reading<Value>(file: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw invalid(file, `has no sessions: ${(error as Error).message}`)
  }
}

/** SQLite needs files next to the database only if its write-ahead log has records. */
function isInUse(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function immutable(file: string): URL {
  const url = pathToFileURL(resolve(file))
  url.searchParams.set('immutable', '1')
  return url
}
