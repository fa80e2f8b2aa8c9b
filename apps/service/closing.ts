// The end of a service: closes everything in order and in bounded time.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { limits } from '../../shared/contract/limits.ts'
import { killRunningGroups } from '../../shared/tools/tool-process.ts'

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
    sleep(limits.shutdownMsMax, false, { signal: late.signal }),
  ])
  late.abort()
  if (!isInTime) {
    log.error({ afterMs: limits.shutdownMsMax }, 'closing took too long: the process ends anyway')
    killRunningGroups()
  }
  return isInOrder && isInTime
}
