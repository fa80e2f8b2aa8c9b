// What changes between two states of an agent's policy, key by key.

import type { Effective, EffectiveValue } from '../../history/effective.ts'
import { painted } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { valueWithOrigin } from './words.ts'

/** `weir policy diff --json`: one such object a line. */
export type PolicyDifference = { key: string; before: EffectiveValue; after: EffectiveValue }

/** A key whose origin alone changes is none: what is in force stays. */
export function differencesOf(before: Effective, after: Effective): PolicyDifference[] {
  return [...after].flatMap(([key, now]) => {
    const then = before.get(key)
    return then === undefined || isSame(then, now) ? [] : [{ key, before: then, after: now }]
  })
}

/** What nobody set may be anything in the agent file, so it is never the same as what is set. */
function isSame(one: EffectiveValue, other: EffectiveValue): boolean {
  return one.value === other.value && (one.origin === 'default') === (other.origin === 'default')
}

export function printDifferences(
  differences: readonly PolicyDifference[],
  out: NodeJS.WriteStream,
): void {
  for (const { key, before, after } of differences)
    out.write(
      `${painted(out, 'plain', printable(`${key}: ${valueWithOrigin(key, before)} → ${valueWithOrigin(key, after)}`))}\n`,
    )
}
