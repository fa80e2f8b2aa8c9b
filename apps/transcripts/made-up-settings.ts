// The settings that a transcript is played with. No run wrote them: they let everything go the way
// it went (PLAYED-1 of played.ts), and whoever judges a conversation by its own settings has none
// here. They mark it, also where there is no bundle any more, in what `weir inspect --json`
// printed.

import { rules } from '../../services/loop-detector/rules.ts'
import { defaultSettings, policyOf } from '../../shared/agents/agents.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentSettings } from '../../shared/contract/messages.ts'
import { countsAt, thresholds } from '../../shared/contract/thresholds.ts'
import type { RoundTimeline } from '../history/inspect/timeline.ts'

/**
 * What a bundle of such conversations says of where it comes from begins so; behind it stands the
 * format.
 */
export const transcriptSource = 'transcript '

/** No threshold can hold these rules back, so they stay in shadow. */
const rulesWithoutThreshold = rules
  .filter(({ thresholds }) => thresholds.length === 0)
  .map(({ name }) => name)
  .sort()

/** Beyond what an agent file or an operator may say (agent.schema.json). */
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
 * Whether a conversation was played: no run of Weir wrote it, and its times are made up too
 * (PLAYED-4 of played.ts). Each that was has a response.
 */
export function isPlayed(
  turns: readonly { rounds: readonly Pick<RoundTimeline, 'policy'>[] }[],
): boolean {
  return turns.some(({ rounds }) =>
    rounds.some(({ policy }) => policy?.differs['loop.identicalFailures'] === String(outOfReach)),
  )
}
