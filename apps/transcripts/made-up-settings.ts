// The settings for playing a transcript. No run used them: nothing intervenes
// (played.ts). They also mark an imported conversation in the output of `weir inspect --json`.

import { hastyMs } from '../../services/loop-detector/patience.ts'
import { rules } from '../../services/loop-detector/rules.ts'
import { defaultSettings, policyOf } from '../../shared/agents/policy/policy.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentSettings } from '../../shared/contract/messages.ts'
import { countsAt, thresholds } from '../../shared/contract/thresholds.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { RoundTimeline } from '../../shared/view/timeline.ts'

/** The beginning of such a bundle's source, before the format. */
export const transcriptSource = 'transcript '

/** Rules without a threshold run in shadow: they report and do not intervene. */
const rulesWithoutThreshold = rules
  .filter(({ thresholds }) => thresholds.length === 0)
  .map(({ name }) => name)
  .sort()

/** From response to response of a session without times: nobody knows whether its agent is hasty. */
export const unknownPaceMs: Milliseconds = 2 * hastyMs

/** Beyond the bounds of agent files and operators (agent.schema.json). */
const outOfReach = 100_000

const { version: _, guards: __, ...policy } = defaultSettings.policy
export const madeUpSettings: AgentSettings = {
  ...defaultSettings,
  policy: policyOf({
    ...policy,
    caps: {
      rounds: limits.turnRoundsMax,
      calls: limits.turnCallsMax,
      wallMs: limits.turnWallMsMax,
      tokens: null,
    },
    loop: countsAt(thresholds.loop, outOfReach),
    shadowed: rulesWithoutThreshold,
    empty: countsAt(thresholds.empty, outOfReach),
  }),
}

/**
 * Whether a conversation was imported: no run of Weir wrote it, and its times are artificial
 * (played.ts). Each imported conversation has a response.
 */
export function isPlayed(
  turns: readonly { rounds: readonly Pick<RoundTimeline, 'policy'>[] }[],
): boolean {
  return turns.some(({ rounds }) =>
    rounds.some(({ policy }) => policy?.differs['loop.identicalFailures'] === String(outOfReach)),
  )
}
