// The requests of each principal in a minute: a bucket that refills steadily.

import type { Clock, Milliseconds } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { HttpError } from '../../http-error.ts'
import type { PrincipalId } from './principal.ts'

/** Principals whose requests a server counts, and messages that it remembers, oldest first out. */
const edgePrincipalsMax = 10_000

const minuteMs = 60_000

/** Takes one request of a principal, and returns the headers of its answer. Throws 429 with them. */
export function requestRate(
  perMinute: number,
  clock: Clock,
): (principal: PrincipalId) => Record<string, string> {
  const buckets = newest<{ left: number; at: Milliseconds }>(edgePrincipalsMax)
  return (principal) => {
    const now = clock.monotonic()
    const { left, at } = buckets.get(principal) ?? { left: perMinute, at: now }
    const refilled = Math.min(perMinute, left + ((now - at) / minuteMs) * perMinute)
    const isFree = refilled >= 1
    const after = isFree ? refilled - 1 : refilled
    buckets.set(principal, { left: after, at: now })
    const headers = {
      'x-ratelimit-limit-requests': `${perMinute}`,
      'x-ratelimit-remaining-requests': `${Math.floor(after)}`,
      'x-ratelimit-reset-requests': `${Math.ceil(((perMinute - after) / perMinute) * 60)}s`,
    }
    if (isFree) return headers
    const seconds = Math.ceil(((1 - after) / perMinute) * 60)
    throw new HttpError(
      429,
      'edge.rate',
      `${perMinute} requests a minute are allowed: try again in ${seconds} s`,
      { headers: { ...headers, 'retry-after': `${seconds}` } },
    )
  }
}
