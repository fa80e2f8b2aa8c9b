// The limit on the bytes of a log. It refuses new turns only: a turn that runs is bounded by its caps
// and goes on to its end.

import type { Bus } from '../contract/bus.ts'
import { WeirError } from '../lib/errors.ts'

/** Throws `bus.full`, with both sizes, if the log has reached its limit. Call it before a user's message. */
export function refuseWithoutSpace({ space }: Pick<Bus, 'space'>): void {
  const now = space?.()
  if (now === undefined || now.bytesMax === 0 || now.bytes < now.bytesMax) return
  throw new WeirError(
    'bus.full',
    `the log has ${now.bytes} bytes, and the setting dataFolderBytesMax allows ${now.bytesMax}: no new turn begins, and running turns end. Raise it, keep records for less time (retention), or use another data folder`,
    { retryable: true },
  )
}
