// Turns errors of SQLite into WeirErrors: a code, whether a retry can help, the file, the remedy.

import { dirname } from 'node:path'

import { WeirError } from '../../lib/errors.ts'

// Primary result codes, https://sqlite.org/rescode.html; the low byte of `errcode`.
const sqlite = {
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const

function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Another connection holds a lock that this one needs. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === sqlite.busy || code === sqlite.locked
}

/**
 * SQLite could not create its files next to the database. It uses either of these codes.
 */
export function isFolderClosed(error: unknown): boolean {
  const code = sqliteCodeOf(error)
  return code === sqlite.cantOpen || code === sqlite.readOnly
}

/**
 * `error` as a WeirError that names `file`; one that is a WeirError already stays as it is.
 * Retryable: `bus.full`, and another process's lock.
 */
export function asBusError(error: unknown, file: string): WeirError {
  if (error instanceof WeirError) return error
  const text = error instanceof Error ? error.message : String(error)
  switch (sqliteCodeOf(error)) {
    case sqlite.full:
      return new WeirError(
        'bus.full',
        `no space left to write ${file}: free space on the disk of ${dirname(file)}`,
        {
          cause: error,
          retryable: true,
        },
      )
    case sqlite.busy:
    case sqlite.locked:
      return new WeirError(
        'bus.unwritable',
        `another program holds a lock on ${file} (${text}): end its transaction, or close it`,
        {
          cause: error,
          retryable: true,
        },
      )
    case sqlite.notADatabase:
      return notADatabase(file, 'it is not an SQLite database', error)
    case sqlite.corrupt:
      return new WeirError(
        'bus.not-a-database',
        `${file} is damaged (${text}): keep a copy, rescue what is readable with \`sqlite3 ${file} .recover\`, and begin with a new file`,
        { cause: error },
      )
    case sqlite.perm:
    case sqlite.readOnly:
    case sqlite.cantOpen:
      return new WeirError(
        'bus.unwritable',
        `${file} cannot be written (${text}): give this user the right to write it and its folder`,
        {
          cause: error,
        },
      )
    case sqlite.ioError:
      return new WeirError(
        'bus.unwritable',
        `reading or writing ${file} failed (${text}): check the disk of ${dirname(file)}`,
        {
          cause: error,
        },
      )
    default:
      return new WeirError('bus.unwritable', `SQLite failed on ${file}: ${text}`, {
        cause: error,
      })
  }
}

/** The file is not a Weir log. Nothing in it was changed. */
export function notADatabase(file: string, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'bus.not-a-database',
    `${file} is not a Weir log (${why}) and was not changed: name another file`,
    { cause },
  )
}
