// A simulated process: its clocks, its death, its pauses. Whatever reaches the code that runs in it
// comes through `after`, so a dead process hears nothing more, and a paused one hears all of it
// when it wakes.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

export type Machine = {
  readonly name: string
  readonly clock: Clock
  readonly alive: boolean
  readonly paused: boolean
  /** Runs something inside the process after a while, if it lives then. */
  after(delayMs: Milliseconds, run: () => void): () => void
  kill(): void
  /** Everything stops. `suspended`: the machine sleeps, and the monotonic clock with it. */
  pause(durationMs: Milliseconds, suspended: boolean): void
  resume(): void
  stepClock(byMs: Milliseconds): void
}

export function createMachine(options: {
  name: string
  scheduler: Scheduler
  random: Random
  skewMs: Milliseconds
}): Machine {
  const { name, scheduler, random } = options
  const started = scheduler.now() - random.between(0, 1_000_000)
  let skewMs = options.skewMs
  let sleptMs = 0
  let alive = true
  let pausedAt: Milliseconds | undefined
  let suspended = false
  let frozen: Frozen[] = []
  let wake: (() => void) | undefined

  const machine: Machine = {
    name,
    clock: {
      now: () => scheduler.now() + skewMs,
      monotonic: () => scheduler.now() - started - sleptMs,
      after: (delayMs, fire) => after(Math.max(delayMs, 0) + random.below(3), fire),
    },
    get alive() {
      return alive
    },
    get paused() {
      return pausedAt !== undefined
    },
    after,
    kill() {
      alive = false
      frozen = []
    },
    pause(durationMs, asleep) {
      if (!alive || pausedAt !== undefined) return
      pausedAt = scheduler.now()
      suspended = asleep
      wake = scheduler.at(pausedAt + durationMs, resume)
    },
    resume,
    stepClock(byMs) {
      skewMs += byMs
    },
  }
  return machine

  function after(delayMs: Milliseconds, run: () => void): () => void {
    const frozenEvent: Frozen = { run }
    scheduler.at(scheduler.now() + delayMs, () => {
      if (!alive || frozenEvent.run === undefined) return
      if (pausedAt !== undefined) frozen.push(frozenEvent)
      else frozenEvent.run()
    })
    return () => {
      frozenEvent.run = undefined
    }
  }

  function resume(): void {
    if (pausedAt === undefined) return
    wake?.()
    if (suspended) sleptMs += scheduler.now() - pausedAt
    pausedAt = undefined
    const events = frozen
    frozen = []
    // In the order of the dice: what piled up behind a stopped process has no order that one could
    // rely on.
    for (const event of events)
      scheduler.at(scheduler.now(), () => {
        if (!alive) return
        if (pausedAt !== undefined) frozen.push(event)
        else event.run?.()
      })
  }
}

type Frozen = { run: (() => void) | undefined }
