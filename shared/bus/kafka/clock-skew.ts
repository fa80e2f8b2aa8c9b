// How far the brokers' clock is from this machine's. Each acknowledged batch has the append time of
// its broker, taken between sending and receiving. So each one bounds the difference from both
// sides, also in a slow request.
// The estimate is never later than the brokers' time, at most by the time of a
// request. So a tick at an estimated time is not too early for its record.
// A measurement during which this machine's clock was set counts for nothing: its
// wall time and its monotonic time differ.

import type { Logger } from 'pino'
import type { ClockSkew } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { Clock, Milliseconds } from '../../lib/clock.ts'

export type MeasuredSkew = ClockSkew & {
  /** Call it before a request is sent, and the result with the append time in the response. */
  begin(): (appendTime: Milliseconds) => void
}

/** Append times have whole milliseconds. */
const resolutionMs = 1
/** How much wall and monotonic time may differ during a request without a step of the clock. */
const stepMs = 20

export function createClockSkew(clock: Clock, log: Logger): MeasuredSkew {
  let measuredMs: Milliseconds | undefined
  let isOff = false

  function measure(sent: Times, received: Times, appendTime: Milliseconds): void {
    const passedMs = received.wall - sent.wall
    if (Math.abs(passedMs - (received.monotonic - sent.monotonic)) > stepMs) return
    const atLeast = appendTime - received.wall
    const atMost = appendTime + resolutionMs - sent.wall
    if (measuredMs !== undefined && measuredMs >= atLeast && measuredMs <= atMost) return
    measuredMs = atLeast
    report(measuredMs)
  }

  /** Once when the clocks begin to differ, and once when they agree again. */
  function report(skewMs: Milliseconds): void {
    const wasOff = isOff
    isOff = Math.abs(skewMs) > limits.clockSkewWarnMs
    if (isOff === wasOff) return
    if (isOff) log.warn({ skewMs }, `${skewText(skewMs)}: synchronise the clocks by NTP`)
    else log.info({ skewMs }, "this machine's clock agrees with the brokers' again")
  }

  function now(): Times {
    return { wall: clock.now(), monotonic: clock.monotonic() }
  }

  return {
    get measuredMs() {
      return measuredMs
    },
    begin() {
      const sent = now()
      return (appendTime) => measure(sent, now(), appendTime)
    },
  }
}

type Times = { wall: Milliseconds; monotonic: Milliseconds }

/** "this machine's clock is 3600.0 s ahead of the brokers'" */
export function skewText(skewMs: Milliseconds): string {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1)
  return `this machine's clock is ${seconds} s ${skewMs < 0 ? 'ahead of' : 'behind'} the brokers'`
}

/** The clock with the brokers' wall time. Timers and monotonic time stay those of this machine. */
export function brokersClock(clock: Clock, skew: ClockSkew): Clock {
  return {
    now: () => clock.now() + (skew.measuredMs ?? 0),
    monotonic: () => clock.monotonic(),
    after: (delayMs, fire) => clock.after(delayMs, fire),
  }
}
