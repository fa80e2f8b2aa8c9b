// The values of a policy as text.

import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { defaultValue, type EffectiveValue, type Origin } from '../../history/effective.ts'
import { second } from '../../terminal/text/quantities.ts'

const origins: Record<Origin, string> = {
  operator: 'set for this agent',
  'operator-all': 'set for all agents',
  'operator-limits': "the operator's caps",
  'agent-file': 'agent file',
  log: "the agent's newest message",
  default: "Weir's default, and the agent's own value",
  'each-agent': "each agent's own value",
  unknown: '',
}

/** `?`: no source has it. */
export function valueText({ value, origin, atMost }: EffectiveValue): string {
  if (origin === 'unknown' || origin === 'each-agent') return '?'
  if (value === null) return 'not capped'
  return atMost ? `at most ${value}` : value
}

export function originText(key: string, { origin }: EffectiveValue): string {
  return origin === 'unknown'
    ? `unknown: the agent's own value; Weir's default is ${defaultValue(key) ?? 'no cap'}`
    : origins[origin]
}

/** `3 (set for this agent)`. */
export function valueWithOrigin(key: string, effective: EffectiveValue): string {
  return `${valueText(effective)} (${originText(key, effective)})`
}

export type OwnSource = { from: 'agent-file'; file: string } | { from: 'log'; at: Milliseconds }

/** The source of the agent's own values, for the title of a page. */
export function ownText(own: OwnSource | null): string {
  if (own === null)
    return 'its own values are unknown: the log has no message to it. To read its file: --agent FILE'
  return own.from === 'agent-file'
    ? `its own values are those of ${own.file}`
    : `its own values are those of its newest message in the log, ${second(own.at)}`
}

export const inForceFrom = 'from the next model response on, without a restart'
