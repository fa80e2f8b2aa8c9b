// The layers of an agent's policy for a command: the agent's own values, from its file or from the
// log, and the operator's records.
// Here: `weir policy` and its words. Not here: the policy that judges a round
// (services/llm-gateway/performer/policy-in-force.ts).

import { providers } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { loadAgents, loadGuests } from '../../../shared/agents/file/load-agents.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { AgentPolicy, OperatorLimits } from '../../../shared/contract/messages.ts'
import { defaultTenant } from '../../../shared/contract/tenant.ts'
import { everyAgent } from '../../../shared/contract/topology.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import {
  readableSetting,
  readableSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { type AgentInLog, agentInLog, type NameInLog } from '../../history/agents-in-log.ts'
import type { OwnPolicy, PolicyLayers } from '../../history/effective.ts'
import { printable } from '../../terminal/text/printable.ts'
import { policySetting } from '../operator-settings.ts'

type Table = { bus: Pick<Bus, 'list'>; topicPrefix: string }

/** `agentFile`: the path of an agent file, or of a folder with one for the agent. */
export type OwnPolicyOptions = { agentFile?: string | undefined }

/** `found`: the search in the log. Undefined: the file was read, or no agent was named. */
export type ReadLayers = PolicyLayers & { found: AgentInLog | undefined }

/** Throws `agent.invalid` and `usage` for the file, and `policies.unreadable`. */
export async function readLayers(
  agent: string | undefined,
  { agentFile }: OwnPolicyOptions,
  log: { bus: Pick<Bus, 'list' | 'ends' | 'read'>; topicPrefix: string },
): Promise<ReadLayers> {
  const inFile = agentFile === undefined ? undefined : policyInFile(agent, agentFile)
  const isSearched = inFile === undefined && agent !== undefined && agent !== everyAgent
  const found = isSearched ? await agentInLog(agent, log) : undefined
  return {
    own: inFile ?? found?.own,
    stored: await storedPolicies(log),
    limits: await storedLimits(log),
    found,
  }
}

/** By agent, in the order of their names. Throws `policies.unreadable` with the remedy. */
export async function storedPolicies(table: Table): Promise<Map<string, AgentPolicy>> {
  const policies = await readableSettings(policySetting, table)
  return new Map(policies.map((policy) => [policy.agent, policy]))
}

/** The operator's caps for all agents. Undefined: there are none. Throws `policies.unreadable`. */
async function storedLimits({ bus, topicPrefix }: Table): Promise<OperatorLimits | undefined> {
  const key = 'operator-limits'
  const records = await bus.list({ topic: `${topicPrefix}policies`, partition: 0, prefix: key })
  const value = records.find((record) => record.key === key)?.value ?? null
  return value === null ? undefined : readableSetting(value, 'operator-limits', key, 'remove it')
}

/** Reads no key and starts nothing. */
export function policyInFile(agent: string | undefined, file: string): OwnPolicy {
  if (agent === undefined || agent === everyAgent)
    throw usageError("--agent is for one agent: name the agent, and not '*'")
  const agents = loadAgents(file, process.env, { needs: [] }, { providers })
  const guests = loadGuests(file)
  const own = agents.get(agent) ?? guests.get(agent)
  if (own !== undefined) return { from: 'agent-file', file, policy: own.settings.policy }
  const there = [...agents.keys(), ...guests.keys()].map((name) => printable(name)).join(', ')
  throw usageError(`--agent ${printable(file)} has no agent ${printable(agent)}; it has ${there}`)
}

/** A warning about an agent that no message in the log names. Undefined: there is nothing to report. */
export function unseenText(agent: string, found: AgentInLog | undefined): string | undefined {
  if (found === undefined || found.own !== undefined) return undefined
  const what = `no message to an agent ${printable(agent)} and no round of such a guest`
  return what + placeText(agent, found)
}

/** The same about another name. `subject`: a noun phrase for its absence. */
export function unseenNameText(
  subject: string,
  name: string,
  found: NameInLog,
): string | undefined {
  return found.isKnown ? undefined : `${subject} ${printable(name)}${placeText(name, found)}`
}

/** The same about a tenant without a conversation. */
export function unseenTenantText(tenant: string, found: NameInLog): string | undefined {
  return tenant === defaultTenant
    ? undefined
    : unseenNameText('no conversation of a tenant', tenant, found)
}

function placeText(
  name: string,
  { others, isWhole }: Pick<AgentInLog, 'others' | 'isWhole'>,
): string {
  const near = nearestName(name, others)
  const meant = near === undefined ? '' : `; did you mean ${printable(near)}?`
  const there =
    near !== undefined || others.length === 0
      ? ''
      : `. The log has ${others.slice(0, 10).map(printable).join(', ')}`
  return ` is in ${isWhole ? 'the log' : 'the newest part of the log'}${meant}${there}`
}
