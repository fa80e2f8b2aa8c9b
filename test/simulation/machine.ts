// A simulated process: its clocks, its death, its pauses. All events reach its code through
// `after`. A dead process gets no more events, and a paused one gets all of them when it wakes.

import type { Clock, Milliseconds } from '../../shared/lib/clock.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

export type Machine = {
  readonly name: string
  readonly clock: Clock
  readonly alive: boolean
  readonly paused: boolean
  /** Runs a callback inside the process after a delay, if it is alive then. */
  after(delayMs: Milliseconds, run: () => void): () => void
  kill(): void
  /** Pauses all timers. `suspended`: the machine sleeps, and its monotonic clock stops too. */
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
    // In random order: the events that pile up during a pause have no reliable order.
    for (const event of events)
      scheduler.at(scheduler.now(), () => {
        if (!alive) return
        if (pausedAt !== undefined) frozen.push(event)
        else event.run?.()
      })
  }
}

type Frozen = { run: (() => void) | undefined }
