// The difference between two states of an agent's policy, key by key.

import type { PolicyEntry } from '../../../shared/contract/messages.ts'
import { type EffectiveValue, effective, type PolicyLayers } from '../../history/effective.ts'
import { valueWithOrigin } from './words.ts'

/** `weir policy diff --json`: one object per line. */
export type PolicyDifference = { key: string; before: EffectiveValue; after: EffectiveValue }

/** A key with only a new origin is no difference: its value stays in force. */
export function differencesOf(
  agent: string,
  [before, after]: readonly [readonly PolicyEntry[], readonly PolicyEntry[]],
  layers: PolicyLayers,
): PolicyDifference[] {
  const earlier = effective(agent, before, layers)
  return [...effective(agent, after, layers)].flatMap(([key, now]) => {
    const then = earlier.get(key)
    return then === undefined || isSame(then, now) ? [] : [{ key, before: then, after: now }]
  })
}

/** An unknown value never equals a set one. A cap over an unknown one is known only as a bound. */
function isSame(one: EffectiveValue, other: EffectiveValue): boolean {
  return (
    one.value === other.value && isUnknown(one) === isUnknown(other) && one.atMost === other.atMost
  )
}

function isUnknown({ origin }: EffectiveValue): boolean {
  return origin === 'unknown' || origin === 'each-agent'
}

export function differenceLines(differences: readonly PolicyDifference[]): string[] {
  return differences.map(
    ({ key, before, after }) =>
      `${key}: ${valueWithOrigin(key, before)} → ${valueWithOrigin(key, after)}`,
  )
}
