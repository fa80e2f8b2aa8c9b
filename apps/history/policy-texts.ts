// The values of a policy as text, for commands and for the console's page, which loads this file.

import { elapsed } from '../terminal/text/quantities.ts'
import type { EffectiveValue, Origin } from './effective.ts'

export const originTexts: Record<Origin, string> = {
  operator: 'set for this agent',
  'operator-all': 'set for all agents',
  'operator-limits': "the operator's caps",
  'agent-file': 'agent file',
  log: "the agent's newest message",
  default: "Weir's default, and the agent's own value",
  'each-agent': "each agent's own value",
  unknown: "unknown: the agent's own value",
}

/** `?`: no source has it. A time has its unit too. */
export function valueText(key: string, { value, origin, atMost }: EffectiveValue): string {
  if (origin === 'unknown' || origin === 'each-agent') return '?'
  if (value === null) return 'not capped'
  const text = key.endsWith('Ms') ? `${value} (${elapsed(Number(value))})` : value
  return atMost ? `at most ${text}` : text
}
