// The other judges of a tool's calls: the guards and approval rules in the policy of the round.

import type { Schema } from '../../shared/contract/arguments/schema-place.ts'
import type { Policy } from '../../shared/contract/messages.ts'
import { ruledFields } from '../../shared/runtime/guards/ruled-fields.ts'
import { modeFor } from '../../shared/runtime/guards/tool-pattern.ts'

/**
 * `isGuarded`: a guard other than the approval guard enforces for the tool. A guard in shadow must
 * change nothing. `ruled`: the fields that approval rules name (ruled-fields.ts).
 */
export type Watch = { isGuarded: boolean; ruled: Schema[] }

const nobody: Watch = { isGuarded: false, ruled: [] }

export function watchOf(tool: string, { guards }: Policy): Watch {
  if (guards.length === 0) return nobody
  const enforcing = guards.filter((guard) => modeFor(guard, tool) === 'enforce')
  return {
    isGuarded: enforcing.some(({ rules }) => rules === null),
    ruled: enforcing.flatMap(({ rules }) => (rules === null ? [] : ruledFields(rules, tool))),
  }
}
