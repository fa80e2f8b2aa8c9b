// The end of a service: what was opened is closed in order, in bounded time.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { killRunningGroups } from '../../services/executor/tools/tool-process.ts'
import { limits } from '../../shared/contract/limits.ts'

/** What must be closed, the last one first. */
export type Open = { what: string; close(): Promise<void> }[]

/** False: something could not be closed, or not in time. */
export async function closedInOrder(open: Open, log: Logger): Promise<boolean> {
  let isInOrder = true
  const closeAll = async () => {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { what, close } = next
      await close().catch((error: unknown) => {
        isInOrder = false
        log.error({ err: error }, `closing ${what} failed`)
      })
    }
    return true
  }
  const late = new AbortController()
  const isInTime = await Promise.race([
    closeAll(),
    sleep(limits.shutdownMsMax, false, { signal: late.signal }),
  ])
  late.abort()
  if (!isInTime) {
    log.error(
      { afterMs: limits.shutdownMsMax },
      'closing took too long; the process ends without it',
    )
    killRunningGroups()
  }
  return isInOrder && isInTime
}
