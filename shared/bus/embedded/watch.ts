// How a reader next to the writing process learns of new records. The operating system reports
// changes in the file's folder, because every transaction writes the write-ahead log there. SQLite
// then tells cheaply whether there was a commit.

import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'

import type { Clock } from '../../lib/clock.ts'
import type { Log } from './log/log.ts'

/**
 * A notification comes with the write, a moment before the commit is visible. So there is a second
 * check, this much later.
 */
const checkAgainMs = 20
/**
 * Notifications can be lost (a full queue, some file systems). So there is also a regular check.
 */
const checkEveryMs = 1000

export type WatchOptions = {
  log: Log
  clock: Clock
  changed: () => void
  failed: (error: unknown) => void
}

/**
 * Calls `changed` after other processes' commits. Returns a function that stops it. While it
 * watches, the process stays alive.
 */
export function watchLog({ log, clock, changed, failed }: WatchOptions): () => void {
  const name = basename(log.file)
  let isCheckDue = false
  let stopped = false
  let cancelCheckAgain = (): void => {}
  let cancelNext = clock.after(checkEveryMs, checkRegularly)

  function check(): void {
    if (stopped) return
    try {
      if (log.changed()) changed()
    } catch (error) {
      failed(error)
    }
  }

  /** One check for all notifications of a moment, and one after the last of them. */
  function onNotification(): void {
    cancelCheckAgain()
    cancelCheckAgain = clock.after(checkAgainMs, check)
    if (isCheckDue) return
    isCheckDue = true
    setImmediate(() => {
      isCheckDue = false
      check()
    })
  }

  function checkRegularly(): void {
    cancelNext = clock.after(checkEveryMs, checkRegularly)
    check()
  }

  const watcher = watch(dirname(log.file), (_, file) => {
    if (file === null || file.startsWith(name)) onNotification()
  })
  watcher.on('error', failed)

  return () => {
    stopped = true
    cancelNext()
    cancelCheckAgain()
    watcher.close()
  }
}
