// Recognizes Weir's SQLite files by the application id in their header
// (https://sqlite.org/fileformat.html).

import { closeSync, openSync, readSync } from 'node:fs'

/**
 * "Weir" in ASCII: the `PRAGMA application_id` of a log of the embedded bus. `file` and other tools
 * recognize the format by it.
 */
export const logApplicationId = 0x57656972

export const sqliteHeaderBytes = 100
const magic = 'SQLite format 3\0'

/** Reads the first bytes of a file. Undefined: it is not an SQLite file. */
export function applicationIdIn(header: Buffer): number | undefined {
  return header.toString('latin1', 0, magic.length) === magic ? header.readUInt32BE(68) : undefined
}

/** Whether a file is a log of the embedded bus, complete or not. Throws the errors of reading. */
export function isLogFile(file: string): boolean {
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(sqliteHeaderBytes)
    readSync(descriptor, header, 0, sqliteHeaderBytes, 0)
    return applicationIdIn(header) === logApplicationId
  } finally {
    closeSync(descriptor)
  }
}
