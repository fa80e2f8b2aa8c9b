// The values of a policy as text.

import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { defaultValue, type EffectiveValue } from '../../history/effective.ts'
import { originTexts, valueText } from '../../history/policy-texts.ts'
import { second } from '../../terminal/text/quantities.ts'

export function originText(key: string, { origin }: EffectiveValue): string {
  const text = originTexts[origin]
  return origin === 'unknown' ? `${text}; Weir's default is ${defaultValue(key) ?? 'no cap'}` : text
}

/** `3 (set for this agent)`. */
export function valueWithOrigin(key: string, effective: EffectiveValue): string {
  return `${valueText(key, effective)} (${originText(key, effective)})`
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
