// Writes a log from existing records, with their offsets and times: for exported conversations.
// The file gets its name when it is whole, and never replaces another file. If
// the import fails, nothing is left, no folder either.

import { linkSync, rmSync } from 'node:fs'
import type { StoredRecord, TopicSpec } from '../../contract/bus.ts'
import type { Clock } from '../../lib/clock.ts'
import { WeirError } from '../../lib/errors.ts'
import { removeEmptyFolders } from '../../lib/files/make-folders.ts'
import { asBusError } from './failure.ts'
import { makeFolder } from './file/open-file.ts'
import { type ImportNote, writeImportNote } from './imported.ts'
import { openLog } from './log/log.ts'
import type { GroupCommit } from './log/log-commits.ts'

export type Imported = {
  file: string
  clock: Clock
  topics: TopicSpec[]
  /** In the order of offsets within each partition. */
  batches: AsyncIterable<StoredRecord[]>
  commits: GroupCommit[]
  note: ImportNote
}

/**
 * Throws `bus.unwritable` if the file exists or cannot be written, and every error of `batches`.
 */
export async function importLog({
  file,
  clock,
  topics,
  batches,
  commits,
  note,
}: Imported): Promise<void> {
  const made = makeFolder(file)
  const unfinished = `${file}.importing-${process.pid}`
  removeAll(unfinished)
  try {
    // Nothing reads the file before it has a name, so a power failure may destroy it.
    const log = openLog({ file: unfinished, clock, readOnly: false, synchronous: 'normal' })
    try {
      log.ensureTopics(topics)
      for await (const records of batches) log.write({ records, commits: [] })
      log.write({ records: [], commits })
    } finally {
      log.close()
    }
    writeImportNote(unfinished, note)
    nameLog(unfinished, file)
  } finally {
    removeAll(unfinished)
    removeEmptyFolders(made)
  }
}

/** Unlike a rename, a link never replaces a file. */
export function nameLog(unfinished: string, file: string): void {
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
    `${file} already exists and was not changed: name another data folder`,
    { cause },
  )
}

function removeAll(file: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
}
