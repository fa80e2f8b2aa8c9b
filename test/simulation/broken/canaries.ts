// Systems with one broken part, each with the checker that must report it. They prove that the
// checkers work.

import { type FaultRates, faultKinds } from '../faults.ts'
import type { Rolled } from '../simulation.ts'
import type { System } from '../system.ts'
import { anyClaimStarts, noClock, ownerIsInstance } from './performers.ts'
import {
  commitFirst,
  newestMarks,
  noMarks,
  silent,
  skipped,
  stopping,
  unordered,
} from './readers.ts'
import {
  attemptsTogether,
  forgetsCancel,
  forgetsExpiry,
  forgetsGuards,
  forgetsMessageIds,
  forgetsShadows,
  hearsOnlyYes,
  historyWithoutResults,
  impure,
  noDeadline,
  noDeadlines,
  skippedThoughLapsed,
} from './stages.ts'

/**
 * `weather` and `impatience`: the conditions that expose the defect. Otherwise the seed rolls them.
 */
export type Canary = {
  system: System
  foundBy: string
  weather?: FaultRates
  impatience?: number
  guarded?: boolean
  peopled?: boolean
  operated?: boolean
}

const quiet = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultRates
const sleepy: FaultRates = { ...quiet, pause: 0.004, suspend: 0.003, 'slow-write': 0.03 }
const deadly: FaultRates = { ...quiet, crash: 0.01 }
const slow: FaultRates = { ...quiet, 'slow-reader': 0.3 }

export const canaries: Canary[] = [
  { system: noMarks, foundBy: 'replay-equals-log' },
  { system: commitFirst, foundBy: 'turns-end' },
  { system: newestMarks, foundBy: 'replay-equals-log' },
  { system: unordered, foundBy: 'one-content-per-id' },
  { system: skipped, foundBy: 'one-content-per-id' },
  { system: silent, foundBy: 'dead-letters' },
  { system: stopping, foundBy: 'nothing-stops' },
  { system: skippedThoughLapsed, foundBy: 'one-result-per-call', weather: deadly },
  { system: attemptsTogether, foundBy: 'no-splice' },
  { system: forgetsMessageIds, foundBy: 'turns-end' },
  { system: noDeadline, foundBy: 'units-close', weather: deadly },
  { system: noDeadlines, foundBy: 'turns-end', weather: deadly },
  { system: impure, foundBy: 'one-content-per-id' },
  { system: historyWithoutResults, foundBy: 'history-valid' },
  { system: forgetsCancel, foundBy: 'no-late-start', weather: slow, impatience: 1 },
  {
    system: forgetsExpiry,
    foundBy: 'no-late-start',
    weather: { ...slow, crash: deadly.crash },
    impatience: 0,
  },
  { system: forgetsGuards, foundBy: 'no-vetoed-start', guarded: true },
  { system: forgetsShadows, foundBy: 'shadow-only-tells', operated: true },
  { system: hearsOnlyYes, foundBy: 'no-unapproved-start', peopled: true },
  { system: noClock, foundBy: 'no-late-start', weather: sleepy },
  { system: ownerIsInstance, foundBy: 'starts-bounded', weather: deadly },
  { system: anyClaimStarts, foundBy: 'starts-bounded' },
]

/** The settings of a canary's runs: a seed with several processes, which meet on one partition. */
export function rolledFor(
  { weather, impatience, guarded, peopled, operated }: Canary,
  rolled: Rolled,
): Rolled {
  const { seed, durationMs, storage, rates } = rolled
  return {
    seed,
    durationMs,
    storage,
    places: 3,
    partitions: 1,
    impatience: impatience ?? rolled.impatience,
    ...(guarded !== undefined && { guarded }),
    ...(peopled !== undefined && { peopled }),
    ...(operated !== undefined && { operated }),
    rates: { ...rates, ...weather },
  }
}
