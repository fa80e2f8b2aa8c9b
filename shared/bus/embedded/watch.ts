// How a reader beside the writing process learns of new records: the operating system reports
// changes of the file's folder (the write-ahead log is written there at every transaction), and
// SQLite says cheaply whether anything was really committed.

import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'

import type { Clock } from '../../lib/clock.ts'
import type { Log } from './log.ts'

/**
 * A notification says that the write-ahead log was written, which is a moment before that commit
 * can be seen; so it looks once more, this much later.
 */
const lookAgainMs = 20
/**
 * Notifications can be lost (a full queue, some file systems), so it also looks by itself, this
 * seldom.
 */
const lookEveryMs = 1000

export type WatchOptions = {
  log: Log
  clock: Clock
  changed: () => void
  failed: (error: unknown) => void
}

/**
 * Calls `changed` after other processes' commits. Answers how to stop. While it watches, the
 * process stays alive.
 */
export function watchLog({ log, clock, changed, failed }: WatchOptions): () => void {
  const name = basename(log.file)
  let isLookDue = false
  let stopped = false
  let cancelLookAgain = (): void => {}
  let cancelNext = clock.after(lookEveryMs, lookRegularly)

  function look(): void {
    if (stopped) return
    try {
      if (log.changed()) changed()
    } catch (error) {
      failed(error)
    }
  }

  /** One look for all notifications of a moment, and one after the last of them. */
  function notified(): void {
    cancelLookAgain()
    cancelLookAgain = clock.after(lookAgainMs, look)
    if (isLookDue) return
    isLookDue = true
    setImmediate(() => {
      isLookDue = false
      look()
    })
  }

  function lookRegularly(): void {
    cancelNext = clock.after(lookEveryMs, lookRegularly)
    look()
  }

  const watcher = watch(dirname(log.file), (_, file) => {
    if (file === null || file.startsWith(name)) notified()
  })
  watcher.on('error', failed)

  return () => {
    stopped = true
    cancelNext()
    cancelLookAgain()
    watcher.close()
  }
}
