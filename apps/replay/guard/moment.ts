// What time it is for a guard while it judges in a replay, and what chance gives it. A guard is
// pure (shared/contract/guard.ts), and one that is not would be believed: what it says now about a
// round of last week is nothing that it would have said then. So each round is judged at two
// moments (guard-child.ts), and an answer that hangs on the clock or on chance is found out where
// the two differ.
// MOMENT-1. Both moments come from the round alone: of what held-clocks.ts and held-chance.ts hold
//     the same replay finds the same, whenever it runs.

import { createHash } from 'node:crypto'
import type { GuardedRound } from '../../../shared/contract/guard.ts'
import { holdChance } from './held-chance.ts'
import { holdClocks } from './held-clocks.ts'
import type { Moment } from './held-moment.ts'

/**
 * Another year, month, weekday, time of day and millisecond, whatever the first ones are. Odd ones
 * are even, and the last digits are moved by half: for milliseconds always, for minutes and seconds
 * unless there is something to carry, and that is not so in each round.
 */
const apartMs = (465 * 24 + 13) * 3_600_000 + 37 * 60_000 + 5_555

/**
 * When the round was cleared, by a process that has just begun; and another time, by one that began
 * in 1970, at which whatever chance made of the first is made otherwise.
 */
export const moments: readonly ((round: GuardedRound) => Moment)[] = [
  (round) => ({ time: round.time, elapsed: youngMs, ...chanceOf(round, { moved: false }) }),
  (round) => ({
    time: round.time + apartMs,
    elapsed: elapsedSince1970(round.time + apartMs),
    ...chanceOf(round, { moved: true }),
  }),
]

const youngMs = 1_000

/**
 * Not before that time, with its last digits moved from those of the young process in the same way.
 */
function elapsedSince1970(time: number): number {
  return Math.ceil(time / 100_000) * 100_000 + youngMs + 55_555
}

/**
 * `moved`: by half, each byte too, so that of whatever is held against a bound the rarer outcome
 * never comes in both.
 */
function chanceOf(
  { conversation, turn, round }: GuardedRound,
  { moved }: { moved: boolean },
): Pick<Moment, 'draw' | 'fill'> {
  let drawn = 0
  function bytesOf(length: number): Buffer {
    const place = JSON.stringify([conversation, turn, round, drawn])
    drawn += 1
    return createHash('shake256', { outputLength: length }).update(place).digest()
  }
  return {
    draw: () => (bytesOf(6).readUIntBE(0, 6) / 2 ** 48 + (moved ? 0.5 : 0)) % 1,
    fill(bytes) {
      if (bytes.length > 0)
        bytes.set(bytesOf(bytes.length).map((byte) => (moved ? byte ^ 128 : byte)))
      return bytes
    },
  }
}

/**
 * Puts itself in the place of the process's clocks and of its chance, for as long as it lives. What
 * it gives back calls `judge` at a moment; outside of that all is as it was. For the names that
 * others have imported, syncBuiltinESMExports is to be called (seal.ts).
 */
export function holdMoments(): <T>(moment: Moment, judge: () => T) => T {
  let held: Moment | undefined
  holdClocks(() => held)
  holdChance(() => held)

  return (moment, judge) => {
    held = moment
    try {
      return judge()
    } finally {
      held = undefined
    }
  }
}
