// The rule of tools that must not run twice with equal values.

import type { Declaration, OnceRule } from '../messages.ts'

/** The guard without which no call of a `once` tool runs. */
export const onceGuard = 'once'

/** Undefined: the tool has no rule. Also in a log from before there was `once`. */
export function onceRuleOf({ hints }: Pick<Declaration, 'hints'>): OnceRule | undefined {
  return hints?.once ?? undefined
}
