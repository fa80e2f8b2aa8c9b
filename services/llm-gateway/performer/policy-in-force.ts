// Determines the policy of a round and stamps it on the round, so no later stage looks anything up
// (R2). The layers, from bottom to top: the agent's policy from the user's message, the operator's
// settings for all agents, those for this agent, the operator's caps, the guards, the stops.
//
// Every attempt reads all of it again, so a change counts from the next model response on, without
// a restart. The version is a hash of the content: each round names the policy that judged it.

import { type EntryFault, readEntries } from '../../../shared/agents/policy/entries.ts'
import { overlaid } from '../../../shared/agents/policy/overlay.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { AgentPolicy, Policy } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import {
  everyAgent,
  guardKeyPrefix,
  policyKeyPrefix,
  stopKeyPrefix,
} from '../../../shared/contract/topology.ts'
import type { WorkLog } from '../../../shared/lib/log/lazy-log.ts'
import { shortened } from '../../../shared/lib/text-cut.ts'
import {
  type StopTarget,
  stopsInForce,
  type TreePlace,
  withStops,
} from '../../../shared/runtime/settings/stops-in-force.ts'
import { guardsInForce, withGuards } from './guards-in-force.ts'
import { withOperatorCaps } from './operator-caps.ts'

/**
 * A text: the reason why the policy cannot be known, so no round may run (R6). Rejects if the table
 * cannot be read.
 */
export async function policyInForce(
  { policy: read, policies: list }: Pick<PerformerContext, 'policy' | 'policies'>,
  {
    agent,
    conversation,
    own,
    log,
  }: Omit<StopTarget, keyof TreePlace> & { own: Policy; log: Pick<WorkLog, 'warn'> },
): Promise<Policy | string> {
  const ofAgents = [policyKeyPrefix + everyAgent, policyKeyPrefix + agent]
  const [operator, records, ...set] = await Promise.all([
    read('operator-limits'),
    list(guardKeyPrefix, stopKeyPrefix),
    ...ofAgents.map(read),
  ])
  if (operator !== undefined && operator.type !== 'operator-limits')
    return `the policy 'operator-limits' is a ${operator.type}`
  const guardsSet = records.filter(({ key }) => key.startsWith(guardKeyPrefix))
  const guards = guardsInForce(guardsSet.map(({ message }) => message))
  if (typeof guards === 'string') return guards
  const stops = stopsInForce(records, { ...own, agent, conversation })
  if (typeof stops === 'string') return stops
  let policy = own
  for (const [at, message] of set.entries()) {
    if (message === undefined) continue
    if (message.type !== 'agent-policy')
      return `the policy '${ofAgents[at]}' is a ${message.type}; remove it with weir policy unset`
    const laid = withAgentPolicy(policy, message)
    policy = laid.policy
    if (laid.faults.length > 0)
      log.warn(
        { policy: ofAgents[at], ...loggedFaults(laid.faults) },
        'ignored unusable settings of an operator',
      )
  }
  return withStops(withGuards(withOperatorCaps(policy, operator), guards), stops)
}

/** Ignores unusable entries. The agent's value then stays, and it always has one. */
export function withAgentPolicy(
  policy: Policy,
  { entries }: AgentPolicy,
): { policy: Policy; faults: EntryFault[] } {
  const { content, faults } = readEntries(entries)
  return { policy: overlaid(policy, content), faults }
}

/** Faults for one line of the log, bounded because any program may have written the entries. */
function loggedFaults(faults: EntryFault[]): { faults: string[]; more: number } {
  const shown = faults
    .slice(0, 10)
    .map(({ key, text }) => shortened(`${key} ${text}`, limits.reasonBytesMax))
  return { faults: shown, more: faults.length - shown.length }
}
