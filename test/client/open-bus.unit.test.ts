// What a service asks before it starts, of a broker that is just starting itself.

import { describe, expect, it } from '@jest/globals'
import { endsOnceAnswered } from '../../client/open-bus.ts'
import type { PartitionEnds } from '../../shared/contract/bus.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'

const known: PartitionEnds[] = [{ partition: 0, begin: 0, end: 7 }]

/** A clock on which every wait is over at once, and has taken its time. */
function quickClock(): Clock {
  let now = 0
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, done) {
      now += ms
      queueMicrotask(done)
      return () => {}
    },
  } as Clock
}

/** Answers with what `failure` throws until that is undefined. */
function busThat(failure: (time: number) => WeirError | undefined) {
  const clock = quickClock()
  const ends = async () => {
    const error = failure(clock.monotonic())
    if (error !== undefined) throw error
    return known
  }
  return { clock, ends }
}

const leaderless = new WeirError('bus.refused', 'there is no leader', { retryable: true })

describe('the ends of a topic', () => {
  it('are waited for while the broker leads nothing yet', async () => {
    expect(
      await endsOnceAnswered(
        busThat((time) => (time < 40_000 ? leaderless : undefined)),
        'a',
      ),
    ).toBe(known)
  })

  it('are not waited for without end', async () => {
    await expect(
      endsOnceAnswered(
        busThat(() => leaderless),
        'a',
      ),
    ).rejects.toBe(leaderless)
  })

  it('are not asked for again where that cannot help', async () => {
    const missing = new WeirError('bus.topic-missing', 'there is no topic a')
    await expect(
      endsOnceAnswered(
        busThat((time) => (time === 0 ? missing : undefined)),
        'a',
      ),
    ).rejects.toBe(missing)
  })
})
