// Texts of guards for the model: a nudge, or one more paragraph of the detector's own intervention.
// A guard can veto calls, but it cannot end a turn.

import { limits } from '../../shared/contract/limits.ts'
import type { GuardWish, Intervention } from '../../shared/contract/messages.ts'
import { cutToBytes, shortened } from '../../shared/lib/text-cut.ts'

/** Bytes of the interventions by all guards of a round together. */
const guardInterventionsBytesMax = 16 * 1024

export function withGuardInterventions(
  intervention: Intervention | null,
  wishes: GuardWish[],
  round: number,
): Intervention | null {
  if (wishes.length === 0 || intervention?.action === 'end') return intervention
  const text = cutToBytes(wishes.map(({ text }) => text).join('\n\n'), guardInterventionsBytesMax)
  if (intervention !== null) return { ...intervention, text: `${intervention.text}\n\n${text}` }
  const guards = wishes.map(({ guard }) => guard).join(', ')
  const reasons = wishes.map(({ guard, reason }) => `${guard}: ${reason}`).join('; ')
  return {
    action: 'nudge',
    ordinary: false,
    rule: 'guard',
    ruleVersion: 1,
    key: shortened(guards, limits.reasonBytesMax),
    reason: shortened(reasons, limits.reasonBytesMax),
    text,
    class: null,
    evidence: [{ round, ordinal: -1 }],
  }
}
