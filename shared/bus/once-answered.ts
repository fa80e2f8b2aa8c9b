// Repeats a request to brokers that do not answer it yet. A broker that has just started may lead no
// partition, and a cluster in a rebalance refuses for a while.

import type { Logger } from 'pino'
import type { Bus } from '../contract/bus.ts'
import type { Milliseconds } from '../lib/clock.ts'
import { WeirError } from '../lib/errors.ts'
import { pause } from '../lib/pause.ts'

/** How long a process that starts asks again while brokers refuse, such as in a rebalance. */
export const startRefusedMs = 10 * 60_000

/** As long as the first contact is tried (`KafkaBusOptions.connectMs`). */
const answerMs = 60_000
const betweenMs = 500

/**
 * Repeats one request after a retryable error for a minute. With `log` it waits without a bound while no
 * broker answers, and for `startRefusedMs` while one refuses, with a warning each minute. A missing
 * right or topic is no outage, although a retry may help.
 */
export async function onceAnswered<Answer>(
  { clock }: Pick<Bus, 'clock'>,
  request: () => Promise<Answer>,
  log?: Logger,
): Promise<Answer> {
  const began = clock.monotonic()
  for (let warnedAt = Number.NEGATIVE_INFINITY; ; ) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof WeirError && error.retryable)) throw error
      const now = clock.monotonic()
      if (now - began >= (log === undefined ? answerMs : patienceWith(error))) throw error
      if (log !== undefined && now - warnedAt >= answerMs) {
        warnedAt = now
        log.warn({ reason: error.message }, 'the start waits for the brokers')
      }
      await pause(clock, betweenMs)
    }
  }
}

function patienceWith({ code }: WeirError): Milliseconds {
  if (code === 'bus.unreachable') return Number.POSITIVE_INFINITY
  return code === 'bus.refused' ? startRefusedMs : answerMs
}
