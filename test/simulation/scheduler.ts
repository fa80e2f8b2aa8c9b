// Virtual time: each event has a time and runs in that order. The dice order events of equal times.
// All microtasks run before the next event, so synchronous work ends before time advances.

import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Random } from './random.ts'

export type Scheduler = {
  now(): Milliseconds
  /** Returns a function that cancels the event. */
  at(time: Milliseconds, run: () => void): () => void
  /**
   * Runs events until none is left, `eventsMax` have run, or `isSpent` or `done` returns true. Also
   * stops if the next event is later than `until`; time is then `until` at most.
   */
  run(until: Milliseconds, done?: () => boolean): Promise<void>
  /** Events so far. */
  readonly events: number
}

type Event = { time: Milliseconds; tie: number; run: (() => void) | undefined }

export function createScheduler(options: {
  random: Random
  start: Milliseconds
  threw: (error: unknown) => void
  eventsMax: number
  /** A further reason to run no more events. */
  isSpent: () => boolean
}): Scheduler {
  const { random, threw, eventsMax, isSpent } = options
  const heap: Event[] = []
  let now = options.start
  let events = 0

  return {
    now: () => now,
    at(time, run) {
      const event: Event = { time: Math.max(Math.ceil(time), now), tie: random.unit(), run }
      push(heap, event)
      return () => {
        event.run = undefined
      }
    },
    async run(until, done) {
      for (;;) {
        if (events >= eventsMax || isSpent() || done?.()) return
        const next = heap[0]
        if (next === undefined || next.time > until) {
          now = Math.max(now, until)
          return
        }
        pop(heap)
        if (next.run === undefined) continue
        now = next.time
        events++
        try {
          next.run()
        } catch (error) {
          threw(error)
        }
        await quiet()
      }
    },
    get events() {
      return events
    },
  }
}

/** Resolves when no microtask is left. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isBefore(a: Event, b: Event): boolean {
  return a.time < b.time || (a.time === b.time && a.tie < b.tie)
}

function push(heap: Event[], event: Event): void {
  let i = heap.length
  heap.push(event)
  while (i > 0) {
    const parent = (i - 1) >> 1
    const above = heap[parent] as Event
    if (!isBefore(event, above)) break
    heap[i] = above
    i = parent
  }
  heap[i] = event
}

function pop(heap: Event[]): void {
  const last = heap.pop() as Event
  if (heap.length === 0) return
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
    if (!isBefore(heap[child] as Event, last)) break
    heap[i] = heap[child] as Event
    i = child
  }
  heap[i] = last
}
