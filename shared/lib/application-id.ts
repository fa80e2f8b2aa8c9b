// By what a file says that it is Weir's: the application id in the header of an SQLite file
// (https://sqlite.org/fileformat.html).

import { closeSync, openSync, readSync } from 'node:fs'

/**
 * "Weir" in ASCII: `PRAGMA application_id` of a log of the embedded bus, by which `file` and other
 * tools can know the format.
 */
export const logApplicationId = 0x57656972

export const sqliteHeaderBytes = 100
const magic = 'SQLite format 3\0'

/** In the first bytes of a file; undefined: it is no SQLite file. */
export function applicationIdIn(header: Buffer): number | undefined {
  return header.toString('latin1', 0, magic.length) === magic ? header.readUInt32BE(68) : undefined
}

/** Whether a file is a log of the embedded bus, whole or not. Throws what reading it throws. */
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
