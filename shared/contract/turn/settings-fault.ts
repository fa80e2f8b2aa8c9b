// The numbers of an agent's settings that no turn can have, from a client or a front.

import { limits } from '../limits.ts'
import type { AgentSettings } from '../messages.ts'
import { countThresholds } from '../thresholds.ts'
import { reasons } from './turn-texts.ts'

type Bound = { of: (settings: AgentSettings) => number | null; min: number; max?: number }

/**
 * A cap below 1 would allow no turn. A threshold below 1 would fire at once. The two waits bound
 * the wait for a cancelled turn.
 */
const bounds = Object.entries<Bound>({
  attempts: { of: (settings) => settings.attempts, min: 1 },
  stallMs: { of: (settings) => settings.stallMs, min: 1 },
  firstByteMs: { of: (settings) => settings.firstByteMs, min: 1 },
  'policy.caps.rounds': { of: ({ policy }) => policy.caps.rounds, min: 1 },
  'policy.caps.calls': { of: ({ policy }) => policy.caps.calls, min: 1 },
  'policy.caps.wallMs': { of: ({ policy }) => policy.caps.wallMs, min: 1 },
  'policy.caps.tokens': { of: ({ policy }) => policy.caps.tokens, min: 1 },
  ...Object.fromEntries(
    countThresholds().map(({ key, min, valueIn }): [string, Bound] => [
      `policy.${key}`,
      { of: ({ policy }) => valueIn(policy), min },
    ]),
  ),
  'policy.startWithinMs': {
    of: ({ policy }) => policy.startWithinMs,
    min: 1,
    max: limits.startWithinMsMax,
  },
  'policy.graceMs': { of: ({ policy }) => policy.graceMs, min: 0, max: limits.graceMsMax },
  'policy.toolTries': { of: ({ policy }) => policy.toolTries, min: 1 },
})

/** The number that no turn can have, with its bound. Undefined: none. */
export function settingsFault(settings: AgentSettings): string | undefined {
  for (const [name, { of, min, max }] of bounds) {
    const value = of(settings)
    if (value === null) continue
    if (!(value >= min)) return reasons.tooLow(`settings.${name}`, value, min)
    if (max !== undefined && value > max) return reasons.tooHigh(`settings.${name}`, value, max)
  }
  return undefined
}
