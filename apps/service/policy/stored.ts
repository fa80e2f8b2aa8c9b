// The values that an operator set for agents, in the table `policies`: one record for each agent,
// and one for all agents.

import { decode } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { AgentPolicy, OperatorLimits } from '../../../shared/contract/messages.ts'
import { everyAgent, policyKeyPrefix } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { removeSetting } from '../../../shared/runtime/settings/removed-settings.ts'

type Table = { bus: Pick<Bus, 'list'>; topicPrefix: string }

/** By agent, in the order of their names. Throws `policies.unreadable` with the remedy. */
export async function storedPolicies({
  bus,
  topicPrefix,
}: Table): Promise<Map<string, AgentPolicy>> {
  const records = await bus.list({
    topic: `${topicPrefix}policies`,
    partition: 0,
    prefix: policyKeyPrefix,
  })
  const known = records.flatMap(({ key, value }) => (value === null ? [] : [policyIn(key, value)]))
  return new Map(
    known.sort((a, b) => (a.agent < b.agent ? -1 : 1)).map((policy) => [policy.agent, policy]),
  )
}

function policyIn(key: string, value: Uint8Array): AgentPolicy {
  const message = decode(value)
  if (message.type === 'agent-policy') return message
  const agent = key.slice(policyKeyPrefix.length)
  throw new WeirError(
    'policies.unreadable',
    `the record ${key} in policies is a ${message.type}; remove it with weir policy unset '${agent}'`,
  )
}

/** The operator's caps for all agents. Undefined: there are none. Throws as storedPolicies. */
export async function storedLimits({
  bus,
  topicPrefix,
}: Table): Promise<OperatorLimits | undefined> {
  const key = 'operator-limits'
  const records = await bus.list({ topic: `${topicPrefix}policies`, partition: 0, prefix: key })
  const value = records.find((record) => record.key === key)?.value ?? null
  if (value === null) return undefined
  const message = decode(value)
  if (message.type === 'operator-limits') return message
  throw new WeirError('policies.unreadable', `the record ${key} in policies is a ${message.type}`)
}

/** Replaces all values of the agent. */
export async function storePolicy(
  { bus, topicPrefix }: { bus: Pick<Bus, 'append' | 'clock'>; topicPrefix: string },
  policy: Omit<AgentPolicy, 'type' | 'setAt'>,
): Promise<void> {
  const message: AgentPolicy = { type: 'agent-policy', ...policy, setAt: bus.clock.now() }
  await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])
}

/** Removes a record by its key, even an unreadable one. Throws `policy.unknown`. */
export async function removePolicy(
  { bus, topicPrefix }: { bus: Pick<Bus, 'append' | 'list' | 'clock'>; topicPrefix: string },
  agent: string,
  by: string,
): Promise<void> {
  const topic = `${topicPrefix}policies`
  const there = await bus.list({ topic, partition: 0, prefix: policyKeyPrefix })
  const agents = there.flatMap(({ key, value }) =>
    value === null ? [] : [key.slice(policyKeyPrefix.length)],
  )
  if (!agents.includes(agent)) throw nothingSet(agent, agents)
  await removeSetting({ bus, topicPrefix }, policyKeyPrefix + agent, by)
}

/** `agents`: the agents with set values. */
export function nothingSet(agent: string, agents: string[]): WeirError {
  const others =
    agents.length === 0 ? 'and for no other either' : `it is for ${agents.map(nameOf).join(', ')}`
  return new WeirError('policy.unknown', `nothing is set for ${nameOf(agent)}; ${others}`)
}

export function nameOf(agent: string): string {
  return agent === everyAgent ? 'all agents' : `agent ${agent}`
}
