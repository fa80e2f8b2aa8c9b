// What time it is for a guard while it judges in a replay, and what chance gives it. A guard is pure (shared/guard.ts), and one that is not would be believed:
// what it says now about a round of last week is nothing that it would have said then. So each round is judged at two moments (guard-child.ts), and an
// answer that hangs on the clock or on chance is found out where the two differ.
// T1. Both moments come from the round alone: the same replay finds the same, whenever it runs.

import { createHash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { GuardedRound } from '../../../../shared/guard.ts'

/** `time`: milliseconds since 1970. `draw`: from 0 to below 1, as Math.random. */
export type Moment = { time: number; draw(): number }

/** Another year, month, weekday and time of day, whatever the first ones are. */
const apartMs = (465 * 24 + 13) * 3_600_000 + 37 * 60_000 + 11_500

/** When the round was cleared; and another time, at which whatever chance made of the first is made otherwise. */
export const moments: readonly ((round: GuardedRound) => Moment)[] = [
  (round) => ({ time: round.time, draw: drawsOf(round, 0) }),
  (round) => ({ time: round.time + apartMs, draw: drawsOf(round, 0.5) }),
]

/** Moved by half, so that of whatever is held against a bound the rarer outcome never comes in both. */
function drawsOf({ conversation, turn, round }: GuardedRound, moved: number): () => number {
  let drawn = 0
  return () => {
    const bytes = createHash('sha256')
      .update(JSON.stringify([conversation, turn, round, drawn]))
      .digest()
    drawn += 1
    return (bytes.readUIntBE(0, 6) / 2 ** 48 + moved) % 1
  }
}

/**
 * Puts itself in the place of the process's clocks and of Math.random, for as long as it lives. What it gives back calls `judge` at a moment; outside of that
 * all is as it was.
 */
export function holdMoments(): <T>(moment: Moment, judge: () => T) => T {
  let held: Moment | undefined
  const [RealDate, realNow, realRandom, realElapsed] = [Date, Date.now, Math.random, performance.now.bind(performance)]
  const realTimer = process.hrtime

  const HeldDate = new Proxy(RealDate, {
    construct: (target, args, made) => Reflect.construct(target, held !== undefined && args.length === 0 ? [held.time] : args, made),
    apply: () => new HeldDate().toString(),
  })
  RealDate.prototype.constructor = HeldDate
  RealDate.now = () => held?.time ?? realNow()
  globalThis.Date = HeldDate
  Math.random = () => held?.draw() ?? realRandom()
  performance.now = () => held?.time ?? realElapsed()
  const nanoseconds = () => (held === undefined ? realTimer.bigint() : BigInt(Math.floor(held.time)) * 1_000_000n)
  process.hrtime = Object.assign(
    (since: [number, number] = [0, 0]): [number, number] => {
      const elapsed = nanoseconds() - (BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]))
      return [Number(elapsed / 1_000_000_000n), Number(elapsed % 1_000_000_000n)]
    },
    { bigint: nanoseconds },
  )

  return (moment, judge) => {
    held = moment
    try {
      return judge()
    } finally {
      held = undefined
    }
  }
}
