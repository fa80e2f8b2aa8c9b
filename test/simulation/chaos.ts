// Critical moments. The simulated bus and the world report each one here, and the dice may then
// kill or stop the process. Moments around observations (claims, outcomes, attempts) matter most,
// because the next owner repeats derived records but no observations.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Faults } from './faults.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'

export type Chaos = {
  /** Undefined: no fault, continue. A promise: await it. A dead process waits for ever. */
  moment(machine: Machine, isCritical?: boolean): Promise<void> | undefined
  /** As `moment`, for synchronous code: the process is dead or paused afterwards. */
  strike(machine: Machine, isCritical?: boolean): void
}

export type ChaosOptions = {
  random: Random
  faults: Faults
  died(machine: Machine): void
  pausedFor(machine: Machine, durationMs: Milliseconds): void
}

export function createChaos({ random, faults, died, pausedFor }: ChaosOptions): Chaos {
  const chaos: Chaos = {
    strike(machine, isCritical = false) {
      const weight = isCritical ? 4 : 0.5
      if (!machine.alive || machine.paused) return
      if (faults.strikes('crash', weight)) {
        machine.kill()
        died(machine)
        return
      }
      const isAsleep = faults.strikes('suspend', weight)
      if (!isAsleep && !faults.strikes('pause', weight)) return
      const durationMs = random.weighted([
        [1, random.between(10, 2000)],
        [2, random.between(2000, 30_000)],
        [2, random.between(30_000, 300_000)],
      ])
      machine.pause(durationMs, isAsleep)
      pausedFor(machine, durationMs)
    },
    moment(machine, isCritical) {
      chaos.strike(machine, isCritical)
      if (machine.alive && !machine.paused) return undefined
      return new Promise((resolve) => {
        machine.after(0, resolve)
      })
    },
  }
  return chaos
}
