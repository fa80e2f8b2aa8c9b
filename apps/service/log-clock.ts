// The log's clock for health and metrics, which answer before the bus is open: until then it is
// this machine's clock.

import type { Bus } from '../../shared/contract/bus.ts'
import { type Clock, type Milliseconds, systemClock } from '../../shared/lib/clock.ts'

export type LogClock = {
  readonly clock: Clock
  /** The log's clock minus this machine's. Undefined: not measured, or they are one clock. */
  skewMs(): Milliseconds | undefined
  opened(bus: Pick<Bus, 'clock' | 'clockSkew'>): void
}

export function createLogClock(): LogClock {
  let clock = systemClock
  let skewMs: LogClock['skewMs'] = () => undefined
  return {
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, fire) => clock.after(delayMs, fire),
    },
    skewMs: () => skewMs(),
    opened(bus) {
      clock = bus.clock
      skewMs = () => bus.clockSkew?.measuredMs
    },
  }
}
