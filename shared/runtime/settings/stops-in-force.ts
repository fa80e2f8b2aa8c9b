// The stops that concern a turn, among the operator's records of the table `policies`.
// A stop of an agent or a conversation holds also for the turns that its calls led to.

import { policyOf } from '../../agents/policy/policy.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { limits } from '../../contract/limits.ts'
import type { Policy, StopInForce } from '../../contract/messages.ts'
import type { PolicyRecord } from '../../contract/performer.ts'
import { tenantOf } from '../../contract/tenant.ts'
import { stopKeyPrefix } from '../../contract/topology.ts'
import { lineOf } from '../../contract/tree.ts'
import { shortened } from '../../lib/text-cut.ts'

/** `calledBy` and `parent`: as in the turn's policy. */
export type StopTarget = { agent: string; conversation: ConversationId } & TreePlace

/** The part of a policy with the callers of its turn. */
export type TreePlace = Pick<Policy, 'calledBy' | 'parent'>

/**
 * The stops that concern a turn, from records of `policies`: all but those of other agents, tenants
 * and conversations. A text: the reason why they cannot be known, so nothing may start (R6).
 */
export function stopsInForce(
  records: readonly PolicyRecord[],
  { agent, conversation, calledBy, parent }: StopTarget,
): StopInForce[] | string {
  const conversations = lineOf({ conversation, parent })
  const stops: StopInForce[] = []
  for (const { key, message } of records) {
    if (!key.startsWith(stopKeyPrefix)) continue
    if (message.type !== 'operator-stop')
      return `the stop ${JSON.stringify(shortened(key, 80))} in policies is a ${message.type}; remove it with weir release`
    const { scope, name, mode, reason } = message
    if (scope === 'agent' && name !== agent && !calledBy?.includes(name)) continue
    if (scope === 'conversation' && !conversations.includes(name)) continue
    if (scope === 'tenant' && name !== tenantOf(conversation)) continue
    stops.push({ scope, name, mode, reason: shortened(reason, limits.reasonBytesMax) })
  }
  return stops.length <= limits.stopsMax
    ? stops
    : `${stops.length} stops are in force; at most ${limits.stopsMax} are taken: remove some with weir release`
}

/** The policy with exactly these stops, under a new version. Unchanged if there are none. */
export function withStops(policy: Policy, stops: StopInForce[]): Policy {
  if (stops.length === 0 && policy.stops.length === 0) return policy
  const { version: _, ...content } = policy
  return policyOf({ ...content, stops })
}
