// The end of a service: closes everything in order and in bounded time.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { killRunningGroups } from '../../shared/tools/tool-process.ts'

/**
 * The time for a whole process to stop: shutdownGraceMs, retries of its writes, and leaving its
 * groups. Then it exits.
 */
export const shutdownMsMax = 30_000

/** Open parts of the service. The last one is closed first. */
export type Open = { name: string; close(): Promise<void> }[]

/** False: a part failed to close, or did not close in time. */
export async function closedInOrder(open: Open, log: Logger): Promise<boolean> {
  let isInOrder = true
  const closeAll = async () => {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { name, close } = next
      await close().catch((error: unknown) => {
        isInOrder = false
        log.error({ err: error }, `closing ${name} failed`)
      })
    }
    return true
  }
  const late = new AbortController()
  const isInTime = await Promise.race([
    closeAll(),
    sleep(shutdownMsMax, false, { signal: late.signal }),
  ])
  late.abort()
  if (!isInTime) {
    log.error({ afterMs: shutdownMsMax }, 'closing took too long: the process ends anyway')
    killRunningGroups()
  }
  return isInOrder && isInTime
}
