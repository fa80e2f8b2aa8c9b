// What SQLite says when it cannot, in Weir's words: a code, whether a repeat can help, which file,
// and what to do.

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
 * The files that SQLite keeps beside the database could not be made: it says so with one code or
 * the other.
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
  const said = error instanceof Error ? error.message : String(error)
  switch (sqliteCodeOf(error)) {
    case sqlite.full:
      return new WeirError(
        'bus.full',
        `no space left to write ${file}: make room on the disk of ${dirname(file)}`,
        {
          cause: error,
          retryable: true,
        },
      )
    case sqlite.busy:
    case sqlite.locked:
      return new WeirError(
        'bus.unwritable',
        `another program holds a lock on ${file} (${said}): end its transaction, or close it`,
        {
          cause: error,
          retryable: true,
        },
      )
    case sqlite.notADatabase:
      return notADatabase(file, 'it is no SQLite database', error)
    case sqlite.corrupt:
      return new WeirError(
        'bus.not-a-database',
        `${file} is damaged (${said}): keep a copy, rescue what is readable with \`sqlite3 ${file} .recover\`, and begin with a new file`,
        { cause: error },
      )
    case sqlite.perm:
    case sqlite.readOnly:
    case sqlite.cantOpen:
      return new WeirError(
        'bus.unwritable',
        `${file} cannot be written (${said}): give this user the right to write it and its folder`,
        {
          cause: error,
        },
      )
    case sqlite.ioError:
      return new WeirError(
        'bus.unwritable',
        `reading or writing ${file} failed (${said}): look after the disk of ${dirname(file)}`,
        {
          cause: error,
        },
      )
    default:
      return new WeirError('bus.unwritable', `SQLite could not work on ${file}: ${said}`, {
        cause: error,
      })
  }
}

/** The file exists and is something else: nothing in it was touched. */
export function notADatabase(file: string, why: string, cause?: unknown): WeirError {
  return new WeirError(
    'bus.not-a-database',
    `${file} is no Weir log (${why}), and was left as it is: name another file`,
    { cause },
  )
}
