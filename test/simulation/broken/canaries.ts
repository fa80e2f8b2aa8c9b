// Systems with one broken part, each with the checker that must report it. They prove that the
// checkers work.

import { type FaultRates, faultKinds } from '../faults.ts'
import type { Rolled } from '../simulation.ts'
import type { System } from '../system.ts'
import { findsNoValues, grantsEveryReservation } from './budgets.ts'
import {
  answersAtOnce,
  dropsEarlyOutcomes,
  forgetsKeys,
  keyByPosition,
  keyWithoutCount,
  silentHead,
  verdictByCallId,
} from './guests.ts'
import { anyClaimStarts, noClock, ownerIsInstance } from './performers.ts'
import {
  commitFirst,
  newestMarks,
  noMarks,
  reversesOutputs,
  skipsFailedSends,
  skipsInvalid,
  throwsLater,
} from './readers.ts'
import {
  approvesRejections,
  attemptsTogether,
  countsInProcess,
  forgetsCancel,
  forgetsExpiry,
  forgetsGuards,
  forgetsMessageIds,
  forgetsRequests,
  forgetsShadowModes,
  forgetsStops,
  historyWithoutResults,
  noDeadline,
  noDeadlines,
  skippedThoughLapsed,
} from './stages.ts'

/**
 * `weather` and `impatience`: the conditions that expose the defect. Otherwise the seed rolls them.
 * `exposedBy`: the seed that the test tries first, because many earlier seeds hide the defect.
 */
export type Canary = {
  system: System
  foundBy: string
  exposedBy?: number
  weather?: FaultRates
  impatience?: number
  guarded?: boolean
  withApprovers?: boolean
  operated?: boolean
  hasGuests?: boolean
  hasTrees?: boolean
  hasOnce?: boolean
}

export const quiet = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultRates
const sleepy: FaultRates = { ...quiet, pause: 0.004, suspend: 0.003, 'slow-write': 0.03 }
const deadly: FaultRates = { ...quiet, crash: 0.01 }
const slow: FaultRates = { ...quiet, 'slow-reader': 0.3 }

export const canaries: Canary[] = [
  { system: noMarks, foundBy: 'replay-equals-log' },
  { system: commitFirst, foundBy: 'messages-end' },
  { system: newestMarks, foundBy: 'weir-replay' },
  { system: reversesOutputs, foundBy: 'one-content-per-id' },
  { system: skipsFailedSends, foundBy: 'one-content-per-id', exposedBy: 2 },
  { system: skipsInvalid, foundBy: 'readable', exposedBy: 3 },
  { system: throwsLater, foundBy: 'nothing-stops', exposedBy: 2 },
  { system: skippedThoughLapsed, foundBy: 'one-result-per-call', exposedBy: 8, weather: deadly },
  { system: attemptsTogether, foundBy: 'whole-model-answers' },
  { system: forgetsMessageIds, foundBy: 'messages-end', exposedBy: 3 },
  { system: noDeadline, foundBy: 'commits', exposedBy: 2, weather: deadly },
  { system: noDeadlines, foundBy: 'messages-end', weather: deadly },
  { system: countsInProcess, foundBy: 'one-content-per-id', exposedBy: 2 },
  { system: historyWithoutResults, foundBy: 'history-valid' },
  { system: forgetsCancel, foundBy: 'starts', exposedBy: 12, weather: slow, impatience: 1 },
  {
    system: forgetsExpiry,
    foundBy: 'starts',
    exposedBy: 121,
    weather: { ...slow, crash: deadly.crash },
    impatience: 0,
  },
  { system: forgetsGuards, foundBy: 'denied-never-start', guarded: true },
  { system: forgetsRequests, foundBy: 'no-unapproved-start', exposedBy: 12, guarded: true },
  { system: forgetsShadowModes, foundBy: 'shadow-only-reports', exposedBy: 15, operated: true },
  { system: forgetsStops, foundBy: 'starts', exposedBy: 48, operated: true, guarded: true },
  { system: grantsEveryReservation, foundBy: 'budget-kept', exposedBy: 12, operated: true },
  {
    system: { ...grantsEveryReservation, name: 'the executor grants every place of a tree' },
    foundBy: 'tree-caps',
    exposedBy: 4,
    hasTrees: true,
  },
  {
    system: { ...grantsEveryReservation, name: 'a front grants every place of a session' },
    foundBy: 'guest-trees',
    exposedBy: 2,
    hasTrees: true,
    hasGuests: true,
  },
  { system: findsNoValues, foundBy: 'once-effects', exposedBy: 12, weather: quiet, hasOnce: true },
  { system: approvesRejections, foundBy: 'no-unapproved-start', exposedBy: 4, withApprovers: true },
  { system: noClock, foundBy: 'starts', exposedBy: 9, weather: sleepy },
  { system: ownerIsInstance, foundBy: 'starts', exposedBy: 9, weather: deadly },
  { system: anyClaimStarts, foundBy: 'starts', exposedBy: 6 },
  { system: keyWithoutCount, foundBy: 'guest-all-judged', exposedBy: 7, hasGuests: true },
  { system: keyByPosition, foundBy: 'guest-result-own', exposedBy: 53, hasGuests: true },
  { system: verdictByCallId, foundBy: 'guest-runs', hasGuests: true },
  { system: forgetsKeys, foundBy: 'guest-rounds', hasGuests: true },
  { system: answersAtOnce, foundBy: 'guest-advice-next', hasGuests: true },
  {
    system: dropsEarlyOutcomes,
    foundBy: 'guest-advice-next',
    exposedBy: 10,
    weather: quiet,
    hasGuests: true,
  },
  {
    system: silentHead,
    foundBy: 'guest-advice-next',
    exposedBy: 3,
    weather: quiet,
    hasGuests: true,
  },
]

/** The settings of a canary's runs: a seed with several processes, which meet on one partition. */
export function rolledFor(
  { weather, impatience, guarded, withApprovers, operated, hasGuests, hasTrees, hasOnce }: Canary,
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
    ...(withApprovers !== undefined && { withApprovers }),
    ...(operated !== undefined && { operated }),
    hasGuests: hasGuests ?? false,
    hasTrees: hasTrees ?? false,
    hasOnce: hasOnce ?? false,
    rates: { ...rates, ...weather },
  }
}
