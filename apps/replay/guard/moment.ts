// The two moments at which a replay judges each round of a guard. A guard must be pure
// (shared/contract/guard.ts). The answers of one that uses time or chance differ between the
// moments.
// MOMENT-1. Both moments depend only on the round, so every replay has the same clocks and chance
//     (held-clocks.ts, held-chance.ts).

import { createHash } from 'node:crypto'
import type { GuardedRound } from '../../../shared/contract/guard.ts'
import { holdChance } from './held-chance.ts'
import { holdClocks } from './held-clocks.ts'
import type { Moment } from './held-moment.ts'

/**
 * Changes the year, month, weekday, hour and millisecond of any time. It swaps odd and even, and
 * moves the last digits by half. Minutes and seconds can carry, but not in every round.
 */
const apartMs = (465 * 24 + 13) * 3_600_000 + 37 * 60_000 + 5_555

/**
 * The first moment is the time when the round was cleared, in a process that has just begun. The
 * second is later, in a process that began in 1970, with opposite chance.
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

/** At least that time. Its last digits move from the first process's as those of `apartMs` do. */
function elapsedSince1970(time: number): number {
  return Math.ceil(time / 100_000) * 100_000 + youngMs + 55_555
}

/**
 * `moved`: by half, and so is each byte. The rarer side of a bound then never comes up in both
 * moments.
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
 * Replaces the clocks and the chance of the process for good. The result calls `judge` at a moment;
 * outside of such a call, both are real. Modules that imported the functions need
 * syncBuiltinESMExports (seal.ts).
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
