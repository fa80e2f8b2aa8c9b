// The policy in force for a round, stamped on it so that no later stage looks anything up (R2): the
// agent's own, as it came with the user's message; over it what an operator has set for all agents,
// then for this one; then the operator's caps, and the guards. All of it is read anew for each
// attempt, so a change counts from the next model response on, and touches no process. Its version
// is a hash of its content: each round says which policy judged it.

import type { Logger } from 'pino'
import { type EntryFault, readEntries } from '../../shared/agents/policy/entries.ts'
import { overlaid } from '../../shared/agents/policy/overlay.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { AgentPolicy, Policy } from '../../shared/contract/messages.ts'
import type { PerformerContext } from '../../shared/contract/performer.ts'
import { everyAgent, guardKeyPrefix, policyKeyPrefix } from '../../shared/contract/topology.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { guardsInForce, withGuards } from './guards-in-force.ts'
import { withOperatorCaps } from './operator-caps.ts'

/**
 * A text: why it cannot be known, so that no round may be asked for (R6). Rejects where the table
 * cannot be read.
 */
export async function policyInForce(
  { policy: read, policies: list }: Pick<PerformerContext, 'policy' | 'policies'>,
  { agent, own, log }: { agent: string; own: Policy; log: Pick<Logger, 'warn'> },
): Promise<Policy | string> {
  const ofAgents = [policyKeyPrefix + everyAgent, policyKeyPrefix + agent]
  const [operator, guardsSet, ...set] = await Promise.all([
    read('operator-limits'),
    list(guardKeyPrefix),
    ...ofAgents.map(read),
  ])
  if (operator !== undefined && operator.type !== 'operator-limits')
    return `the policy 'operator-limits' is a ${operator.type}`
  const guards = guardsInForce(guardsSet)
  if (typeof guards === 'string') return guards
  let policy = own
  for (const [at, message] of set.entries()) {
    if (message === undefined) continue
    if (message.type !== 'agent-policy')
      return `the policy '${ofAgents[at]}' is a ${message.type}; remove it with weir policy unset`
    const laid = withAgentPolicy(policy, message)
    policy = laid.policy
    if (laid.faults.length > 0)
      log.warn(
        { policy: ofAgents[at], ...told(laid.faults) },
        'what an operator has set is left aside where it cannot be used',
      )
  }
  return withGuards(withOperatorCaps(policy, operator), guards)
}

/** What cannot be used is left aside: then the agent's own holds, which is never nothing. */
export function withAgentPolicy(
  policy: Policy,
  { entries }: AgentPolicy,
): { policy: Policy; faults: EntryFault[] } {
  const { content, faults } = readEntries(entries)
  return { policy: overlaid(policy, content), faults }
}

/** One line of the log, whatever somebody's program has written there. */
function told(faults: EntryFault[]): { faults: string[]; more: number } {
  const shown = faults
    .slice(0, 10)
    .map(({ key, text }) => shortened(`${key} ${text}`, limits.reasonBytesMax))
  return { faults: shown, more: faults.length - shown.length }
}
