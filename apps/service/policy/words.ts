// The values of a policy as text.

import type { EffectiveValue, Origin } from '../../history/effective.ts'

const origins: Record<Origin, string> = {
  operator: 'set for this agent',
  'operator-all': 'set for all agents',
  default: 'default or agent file',
}

/** A cap applies if it is lower than the agent file's. */
export function valueText(key: string, { value, origin }: EffectiveValue): string {
  if (value === null) return 'not capped'
  return key.startsWith('caps.') && origin !== 'default' ? `at most ${value}` : value
}

export function originText({ origin }: EffectiveValue): string {
  return origins[origin]
}

/** `3 (default or agent file)`. */
export function valueWithOrigin(key: string, effective: EffectiveValue): string {
  return `${valueText(key, effective)} (${originText(effective)})`
}

export const inForceFrom = 'from the next model response on, without a restart'
