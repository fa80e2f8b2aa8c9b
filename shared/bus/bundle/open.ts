// Opens a bundle for reading. Refuses a file that is not a bundle, or not whole, or of a newer Weir,
// before it uses anything of it.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { knownSchemas } from '../../codec/codec.ts'
import { WeirError } from '../../lib/errors.ts'
import {
  applicationIdIn,
  logApplicationId,
  sqliteHeaderBytes,
} from '../../lib/files/application-id.ts'
import { unreadable } from '../../settings/text-file.ts'
import { DatabaseSync } from '../sqlite.ts'
import { refuseLargeRecords, refuseOutOfBounds, refuseUnlistedTopics } from './bounds.ts'
import {
  bundleApplicationId,
  bundleFormat,
  bundleIndexes,
  bundleTables,
  digestIn,
  trailerBytes,
} from './format.ts'
import { digestOf } from './writer.ts'

/**
 * Whether a file looks like a bundle, whole or not, by its first or last bytes. False if there is no
 * file.
 */
export function isBundle(file: string): boolean {
  const look = inspect(file)
  return (
    !('fault' in look) && (look.applicationId === bundleApplicationId || look.digest !== undefined)
  )
}

/**
 * `checking` gets the number of bytes to check, and then each checked piece. Aborting `signal` makes
 * opening throw.
 */
export type OpenOptions = {
  checking?: { expect(bytes: number): void; read(bytes: number): void } | undefined
  signal?: AbortSignal | undefined
}

/**
 * Throws `bundle.invalid` (not a bundle), `bundle.damaged` (truncated or changed),
 * `bundle.newer-version`, `bundle.unknown-schema`. Each names the file and the remedy.
 */
export async function openBundleFile(
  file: string,
  { checking, signal }: OpenOptions = {},
): Promise<DatabaseSync> {
  const look = inspect(file)
  if ('fault' in look)
    throw new WeirError(
      'bundle.invalid',
      `${file} ${look.fault}: weir export -o FILE makes a bundle`,
    )
  const { size, applicationId, pages, pageBytes, digest } = look
  if (applicationId === logApplicationId)
    throw new WeirError(
      'bundle.invalid',
      `${file} is the log of a Weir, not a bundle: name its folder with --data-folder`,
    )
  if (applicationId !== bundleApplicationId && digest === undefined)
    throw new WeirError(
      'bundle.invalid',
      `${file} is not a bundle of Weir: weir export -o FILE makes one`,
    )
  if (digest === undefined) throw truncated(file, size, pages * pageBytes + trailerBytes)
  checking?.expect(size - trailerBytes)
  if (
    (await digestOf(file, { bytes: size - trailerBytes, read: checking?.read, signal })) !== digest
  )
    throw new WeirError(
      'bundle.damaged',
      `${file} is damaged: its content has changed since the export (SHA-256). Copy it again from its origin, or export it again`,
    )
  const db = new DatabaseSync(immutable(file), { readOnly: true })
  try {
    refuseNewer(db, file)
    refuseOtherTables(db, file)
    refuseBrokenPages(db, file)
    refuseUnknownSchemas(db, file)
    refuseMissingSchemas(db, file)
    refuseOutOfBounds(db, file)
    refuseLargeRecords(db, file)
    refuseUnlistedTopics(db, file)
    return db
  } catch (error) {
    db.close()
    throw isOfSqlite(error) ? unreadablePages(file, error.message) : error
  }
}

function isOfSqlite(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

type Look = {
  size: number
  applicationId: number | undefined
  pages: number
  pageBytes: number
  digest: string | undefined
}

/** `fault` completes the file's name to a sentence. */
function inspect(file: string): Look | { fault: string } {
  let descriptor: number
  try {
    const stat = statSync(file)
    // Opening a named pipe would wait for ever.
    if (!stat.isFile())
      return { fault: stat.isDirectory() ? 'is a folder; must be a file' : 'is not a regular file' }
    descriptor = openSync(file, 'r')
  } catch (error) {
    return { fault: unreadable(error) }
  }
  try {
    const { size } = fstatSync(descriptor)
    const header = Buffer.alloc(sqliteHeaderBytes)
    readSync(descriptor, header, 0, sqliteHeaderBytes, 0)
    const trailer = Buffer.alloc(trailerBytes)
    if (size >= trailerBytes) readSync(descriptor, trailer, 0, trailerBytes, size - trailerBytes)
    const pageBytes = header.readUInt16BE(16)
    return {
      size,
      applicationId: applicationIdIn(header),
      pages: header.readUInt32BE(28),
      pageBytes: pageBytes === 1 ? 65_536 : pageBytes,
      digest: digestIn(trailer),
    }
  } finally {
    closeSync(descriptor)
  }
}

function truncated(file: string, size: number, whole: number): WeirError {
  const what =
    size < whole
      ? `it is truncated: ${size} of ${whole} bytes are left`
      : 'its last bytes are not its checksum'
  return new WeirError(
    'bundle.damaged',
    `${file} is damaged: ${what}. Copy it again from its origin, or export it again`,
  )
}

/**
 * SQLite creates nothing next to it, so its folder may be read-only. It also ignores a journal there,
 * which the trailer does not cover.
 */
function immutable(file: string): URL {
  const url = pathToFileURL(resolve(file))
  url.searchParams.set('immutable', '1')
  return url
}

function refuseNewer(db: DatabaseSync, file: string): void {
  const format = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (format > bundleFormat)
    throw new WeirError(
      'bundle.newer-version',
      `${file} has format ${format}, but this Weir knows formats up to ${bundleFormat}: read it with the newer Weir that made it`,
    )
}

/**
 * Anybody can write a checksum. A view instead of a table, or a trigger, would make SQLite run
 * foreign code.
 */
function refuseOtherTables(db: DatabaseSync, file: string): void {
  const ours = new DatabaseSync(':memory:')
  try {
    ours.exec(bundleTables + bundleIndexes)
    if (tablesIn(db) !== tablesIn(ours))
      throw new WeirError(
        'bundle.invalid',
        `${file} has other tables than a bundle: weir export did not make it. Export one`,
      )
  } finally {
    ours.close()
  }
}

/**
 * Anybody can write a checksum over broken pages too. Without this check they would end a reader later,
 * with an error of SQLite.
 */
function refuseBrokenPages(db: DatabaseSync, file: string): void {
  const [found] = db.prepare('PRAGMA integrity_check(1)').all()
  if (found?.integrity_check !== 'ok') throw unreadablePages(file, String(found?.integrity_check))
}

function unreadablePages(file: string, reason: string): WeirError {
  return new WeirError(
    'bundle.damaged',
    `${file} is damaged: SQLite cannot read it (${reason}). Copy it again from its origin, or export it again`,
  )
}

function tablesIn(db: DatabaseSync): string {
  return JSON.stringify(
    db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all(),
  )
}

/**
 * A known id with another schema also counts as unknown: its records would be misread.
 */
function refuseUnknownSchemas(db: DatabaseSync, file: string): void {
  const known = new Map(knownSchemas.map((entry) => [entry.id, JSON.stringify(entry.schema)]))
  const rows = db.prepare('SELECT id, type, version, schema FROM schemas ORDER BY id').all()
  const unknown = rows.filter(({ id, schema }) => known.get(Number(id)) !== schema)
  if (unknown.length === 0) return
  const list = unknown
    .map(({ id, type, version }) => `${type} of version ${version} (schema ${id})`)
    .join(', ')
  throw new WeirError(
    'bundle.unknown-schema',
    `${file} has records that this Weir does not know: ${list}. A newer Weir wrote them: read the bundle with that version`,
  )
}

/**
 * Records name the schema of their bytes. Without that schema, the bundle cannot be read by
 * itself.
 */
function refuseMissingSchemas(db: DatabaseSync, file: string): void {
  const missing = db
    .prepare(
      'SELECT DISTINCT schema AS id, type FROM records WHERE schema IS NOT NULL AND schema NOT IN (SELECT id FROM schemas) ORDER BY 1',
    )
    .all()
  if (missing.length === 0) return
  const list = missing.map(({ id, type }) => `${id} (${type ?? 'of unknown type'})`).join(', ')
  throw new WeirError(
    'bundle.unknown-schema',
    `${file} lacks schemas of its records in the table schemas: ${list}. weir export writes them all: export it again`,
  )
}
