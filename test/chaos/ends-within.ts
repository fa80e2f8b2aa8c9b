// The end of a load, within a time.

import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when the work has ended (true), or after `waitMs`. */
export async function endsWithin(work: Promise<unknown>, waitMs: number): Promise<boolean> {
  const late = new AbortController()
  const hasEnded = await Promise.race([
    work.then(() => true),
    sleep(waitMs, false, { signal: late.signal }).catch(() => false),
  ])
  late.abort()
  return hasEnded
}
