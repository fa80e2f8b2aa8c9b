// Which lane reads next. Owns: the queues of lanes with something to read, and the
// state of the current tick.

import { idle, type Lane } from './lane.ts'

/** Records that one tick of the process gives to readers. Then timers and sockets run. */
const tickRecordsMax = 2048

export type Turns = {
  /** Queues a lane that has something to read. */
  push(lane: Lane): void
  /** Starts a tick. */
  pump(): void
  /** Call before a reader runs; call the result when it has answered. */
  readerStarts(): () => void
}

export type TurnsOptions = {
  /** Schedules `pump`. */
  wake: () => void
  /** Writes the outputs of steps. */
  flush: () => void
  /** Starts the lane's next step. Returns how many records it read. */
  beginStep: (lane: Lane) => number
}

export function createTurns({ wake, flush, beginStep }: TurnsOptions): Turns {
  /** Lanes whose turn it is, in order. */
  const turns: Lane[] = []
  /** The lanes that follow, by the rank of their group. */
  const queued: Lane[][] = []
  /** How many records this tick may still give out. */
  let left = 0
  let isAnswerDue = false
  /** The number of this tick. A later tick ignores a late answer. */
  let ticks = 0

  /** Runs the next readers, or ends the tick. */
  function runTurns(): void {
    while (left > 0 && !isAnswerDue) {
      const lane = turns.shift() ?? queued.find((lanes) => lanes.length > 0)?.shift()
      if (lane === undefined) break
      lane.phase = idle
      if (lane.owner.isReading) left -= beginStep(lane)
    }
    if (isAnswerDue || left <= 0) wake()
    if (!isAnswerDue) flush()
  }

  return {
    push(lane) {
      const { rank } = lane.owner
      while (queued.length <= rank) queued.push([])
      queued[rank]?.push(lane)
      wake()
    },

    pump() {
      if (isAnswerDue) flush() // a reader needs more than a tick; it must not hold up the others
      ticks += 1
      left = tickRecordsMax
      isAnswerDue = false
      turns.push(...queued.flatMap((lanes) => lanes.splice(0)))
      runTurns()
    },

    readerStarts() {
      const tick = ticks
      isAnswerDue = true
      return () => {
        if (tick !== ticks) {
          wake()
          return
        }
        isAnswerDue = false
        runTurns() // the outputs go to the next readers in the same tick
      }
    },
  }
}
