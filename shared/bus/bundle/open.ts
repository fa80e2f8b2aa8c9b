// Opens a bundle for reading, and refuses what is none, or not whole, or not understood here,
// before anything of it is used.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { knownSchemas } from '../../codec/codec.ts'
import { applicationIdIn, logApplicationId, sqliteHeaderBytes } from '../../lib/application-id.ts'
import { WeirError } from '../../lib/errors.ts'
import { unreadable } from '../../settings/text-file.ts'
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
 * Whether a file is meant as a bundle, whole or not: by what it begins or ends with. False also
 * where there is none.
 */
export function isBundle(file: string): boolean {
  const look = looked(file)
  return (
    !('fault' in look) && (look.applicationId === bundleApplicationId || look.digest !== undefined)
  )
}

/**
 * `checking`: is told the bytes that are checked, all of them first. `signal`: once it aborts,
 * opening throws.
 */
export type OpenOptions = {
  checking?: { expect(bytes: number): void; read(bytes: number): void } | undefined
  signal?: AbortSignal | undefined
}

/**
 * Throws `bundle.invalid` (no bundle), `bundle.damaged` (cut, or with other bytes than it was made
 * with), `bundle.newer-version`, `bundle.unknown-schema`; each names the file and says what to do.
 */
export async function openBundleFile(
  file: string,
  { checking, signal }: OpenOptions = {},
): Promise<DatabaseSync> {
  const look = looked(file)
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
      `${file} is no bundle of Weir: weir export -o FILE makes one`,
    )
  if (digest === undefined) throw cut(file, size, pages * pageBytes + trailerBytes)
  checking?.expect(size - trailerBytes)
  if (
    (await digestOf(file, { bytes: size - trailerBytes, read: checking?.read, signal })) !== digest
  )
    throw new WeirError(
      'bundle.damaged',
      `${file} is damaged: its content is not what it was made with (SHA-256). Copy it again from where it was made, or export it again`,
    )
  const db = new DatabaseSync(immutable(file), { readOnly: true })
  try {
    refuseNewer(db, file)
    refuseOtherTables(db, file)
    refuseUnknownSchemas(db, file)
    refuseMissingSchemas(db, file)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

type Look = {
  size: number
  applicationId: number | undefined
  pages: number
  pageBytes: number
  digest: string | undefined
}

/** `fault` completes the file's name to a sentence. */
function looked(file: string): Look | { fault: string } {
  let descriptor: number
  try {
    const stat = statSync(file)
    // Opening a named pipe would wait for ever.
    if (!stat.isFile())
      return { fault: stat.isDirectory() ? 'is a folder; must be a file' : 'is no regular file' }
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

function cut(file: string, size: number, whole: number): WeirError {
  const what =
    size < whole
      ? `it was cut: ${size} of ${whole} bytes are there`
      : 'what stands at its end is no longer its checksum'
  return new WeirError(
    'bundle.damaged',
    `${file} is damaged: ${what}. Copy it again from where it was made, or export it again`,
  )
}

/**
 * Nothing is made beside it, so its folder may be a read-only one; and what lies there under the
 * name of a journal is not read: the seal does not cover it.
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
      `${file} has format ${format}, and this Weir knows formats up to ${bundleFormat}: read it with the newer Weir that made it`,
    )
}

/**
 * Anybody can write a checksum. A view in the place of a table, or a trigger, would make SQLite run
 * what somebody else wrote.
 */
function refuseOtherTables(db: DatabaseSync, file: string): void {
  const ours = new DatabaseSync(':memory:')
  try {
    ours.exec(bundleTables + bundleIndexes)
    if (tablesIn(db) !== tablesIn(ours))
      throw new WeirError(
        'bundle.invalid',
        `${file} has other tables than a bundle: it was not made by weir export, which makes one`,
      )
  } finally {
    ours.close()
  }
}

function tablesIn(db: DatabaseSync): string {
  return JSON.stringify(
    db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all(),
  )
}

/**
 * A schema that is known under another content is as unknown: its records would be read wrongly.
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
    `${file} holds records that this Weir does not know: ${list}. A newer Weir wrote them: read the bundle with that version`,
  )
}

/**
 * Records name the schema that they were written with: a bundle that lacks one cannot be read by
 * whoever has nothing but the bundle.
 */
function refuseMissingSchemas(db: DatabaseSync, file: string): void {
  const missing = db
    .prepare(
      'SELECT DISTINCT schema AS id, type FROM records WHERE schema IS NOT NULL AND schema NOT IN (SELECT id FROM schemas) ORDER BY 1',
    )
    .all()
  if (missing.length === 0) return
  const list = missing
    .map(({ id, type }) => `${id} (${type ?? 'of no type that this Weir knows'})`)
    .join(', ')
  throw new WeirError(
    'bundle.unknown-schema',
    `${file} lacks schemas that its records were written with, in its table schemas: ${list}. weir export writes them all: export it again`,
  )
}
