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
const checkAgainMs = 20
/**
 * Notifications can be lost (a full queue, some file systems), so it also looks by itself, this
 * seldom.
 */
const checkEveryMs = 1000

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

  /** One look for all notifications of a moment, and one after the last of them. */
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
