// Notices that the file of a log was removed or replaced under its writer. SQLite goes on writing to
// the file without a name, and all of it is lost when the process ends.

import { statSync } from 'node:fs'
import type { Clock, Milliseconds } from '../../../lib/clock.ts'
import { WeirError } from '../../../lib/errors.ts'

/** So many records can be lost at most. One look takes microseconds. */
const lookedForEveryMs: Milliseconds = 1000

/**
 * Returns a check for each write. It throws `bus.unwritable`, from then on always, if another file
 * or none is in the place of `file`. It looks at most once a second. The file must exist.
 */
export function createOwnFileCheck(file: string, clock: Clock): () => void {
  if (file === ':memory:') return () => {}
  const own = identityOf(file)
  let nextLook = clock.monotonic() + lookedForEveryMs
  let isLost = false

  return () => {
    if (!isLost && clock.monotonic() < nextLook) return
    nextLook = clock.monotonic() + lookedForEveryMs
    isLost ||= identityOf(file) !== own
    if (!isLost) return
    throw new WeirError(
      'bus.unwritable',
      `${file} was removed or replaced while this process wrote it: end all processes that use it, put the file back (or begin with a new one), and start again`,
    )
  }
}

/** Undefined: nothing is there, or it cannot be seen. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
