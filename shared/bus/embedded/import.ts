// A log made of records that are there already, with the offsets and times that they have: for what
// was exported elsewhere.
// EMBEDDED-IMPORT-1. The file gets its name when it is whole, and never the name of a file that is
//     there. Where that does not come to pass, nothing is left: no folder either.

import { linkSync, rmSync } from 'node:fs'
import type { StoredRecord, TopicSpec } from '../../contract/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { removeEmptyFolders } from '../../lib/make-folders.ts'
import { asBusError } from './failure.ts'
import { type ImportedTurns, writeImportedTurns } from './imported.ts'
import { openLog } from './log.ts'
import type { GroupCommit } from './log-commits.ts'
import { makeFolder } from './schema.ts'

export type Imported = {
  file: string
  clock: Clock
  topics: TopicSpec[]
  /** Of each partition in the order of offsets. */
  batches: AsyncIterable<StoredRecord[]>
  commits: GroupCommit[]
  turns: ImportedTurns
}

/**
 * Throws `bus.unwritable` where the file is there already, what reading `batches` throws, and what
 * keeps the file from being written.
 */
export async function importLog({
  file,
  clock,
  topics,
  batches,
  commits,
  turns,
}: Imported): Promise<void> {
  const made = makeFolder(file)
  const unfinished = `${file}.importing-${process.pid}`
  removeAll(unfinished)
  try {
    // Nobody reads it before it has its name, so what a power failure leaves of it does not matter.
    const log = openLog({ file: unfinished, clock, readOnly: false, synchronous: 'normal' })
    try {
      log.ensureTopics(topics)
      for await (const records of batches) log.write({ records, commits: [] })
      log.write({ records: [], commits })
    } finally {
      log.close()
    }
    writeImportedTurns(unfinished, turns)
    named(unfinished, file)
  } finally {
    removeAll(unfinished)
    removeEmptyFolders(made)
  }
}

/** Keeps EMBEDDED-IMPORT-1: a link, other than a rename, does not take the place of anything. */
function named(unfinished: string, file: string): void {
  try {
    linkSync(unfinished, file)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? isThere(file, error)
      : asBusError(error, file)
  }
}

function isThere(file: string, cause: unknown): WeirError {
  return new WeirError(
    'bus.unwritable',
    `${file} is there already, and was left as it is: name another data folder`,
    { cause },
  )
}

function removeAll(file: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
}
