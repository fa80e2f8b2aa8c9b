// `weir policy set` and `weir policy unset`: each writes one record to `policies`, effective from
// the next model response.

import { personHere } from '../../../services/approval/performer/person.ts'
import { policyKey, unknownKey } from '../../../shared/agents/policy/entries.ts'
import type { AgentPolicy } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import {
  placeSetting,
  removeStored,
  type WritableTable,
} from '../../../shared/runtime/settings/operator-setting.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type Effective, effective } from '../../history/effective.ts'
import { withExistingRegistry, withRegistry } from '../../history/registry.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { nameOf, policySetting } from '../operator-settings.ts'
import { differencesOf, type PolicyDifference, printDifferences } from './difference.ts'
import {
  type OwnPolicyOptions,
  policyInFile,
  readLayers,
  storedPolicies,
  unseenText,
} from './layers.ts'
import { type Change, changed, checkAgent } from './named-agent.ts'
import { inForceFrom } from './words.ts'

export type ChangeOptions = OwnPolicyOptions & { json?: boolean; by?: string }

/** `errors`: warnings. */
export type ChangeStreams = { out: NodeJS.WriteStream; errors: NodeJS.WriteStream }

/** Throws `usage`. */
export async function setPolicy(
  agent: string,
  { json = false, by = personHere(), agentFile, ...change }: Change & ChangeOptions,
  settings: Settings,
  { out, errors }: ChangeStreams,
): Promise<void> {
  checkAgent(agent)
  if (change.changes.length === 0 && change.file === undefined)
    throw new WeirError(
      'usage',
      'nothing to set: give KEY=VALUE, such as loop.identicalFailures=2 or rule.cycle=shadow, or --file',
    )
  changed([], change) // checks the change before the log is opened
  if (agentFile !== undefined) policyInFile(agent, agentFile)
  const { differences, unseen } = await withRegistry(settings, (registry) =>
    changePolicy(registry, agent, { ...change, agentFile, by }),
  )
  print(agent, differences, { json, out })
  if (unseen !== undefined)
    errors.write(`weir: warning: ${unseen}. The values count once an agent of this name is asked\n`)
}

type PolicyTable = Parameters<typeof readLayers>[2] & WritableTable

/** `unseen`: a warning about an agent that the log does not know. Throws `usage`. */
export async function changePolicy(
  table: PolicyTable,
  agent: string,
  { by, agentFile, ...change }: Change & OwnPolicyOptions & { by: string },
): Promise<{ differences: PolicyDifference[]; unseen: string | undefined }> {
  checkAgent(agent)
  const layers = await readLayers(agent, { agentFile }, table)
  const stored = layers.stored.get(agent)?.entries ?? []
  const entries = changed(stored, change)
  if (JSON.stringify(entries) !== JSON.stringify(stored))
    await storePolicy(table, { agent, entries, setBy: by })
  const [before, after] = [stored, entries].map((own) => effective(agent, own, layers))
  return {
    differences: differencesOf(before as Effective, after as Effective),
    unseen: unseenText(agent, layers.found),
  }
}

/**
 * Without keys, it removes all values of the agent. Throws `policy.unknown`, and `usage` for an
 * unknown key.
 */
export async function unsetPolicy(
  agent: string,
  keys: readonly string[],
  { json = false, by = personHere(), agentFile }: ChangeOptions,
  settings: Settings,
  { out }: Pick<ChangeStreams, 'out'>,
): Promise<void> {
  if (agentFile !== undefined) policyInFile(agent, agentFile)
  const removed = keysOf(keys)
  const differences = await withExistingRegistry(settings, (registry) =>
    removeValues(registry, agent, { keys: removed, agentFile, by }),
  )
  print(agent, differences, { json, out })
}

/** As unsetPolicy. */
export async function removeValues(
  table: PolicyTable,
  agent: string,
  { keys, agentFile, by }: OwnPolicyOptions & { keys: readonly string[]; by: string },
): Promise<PolicyDifference[]> {
  const removed = keysOf(keys)
  if (removed.length === 0 && !(await isReadable(table))) {
    await removeStored(policySetting, table, { id: agent, by })
    return []
  }
  const layers = await readLayers(agent, { agentFile }, table)
  const stored = layers.stored.get(agent)?.entries
  if (stored === undefined) throw policySetting.unknown(agent, [...layers.stored.keys()])
  const entries =
    removed.length === 0 ? [] : stored.filter(({ key }) => !removed.includes(policyKey(key) ?? key))
  if (entries.length === 0) await removeStored(policySetting, table, { id: agent, by })
  else if (entries.length < stored.length) await storePolicy(table, { agent, entries, setBy: by })
  return differencesOf(effective(agent, stored, layers), effective(agent, entries, layers))
}

function keysOf(keys: readonly string[]): string[] {
  return keys.map((key) => {
    const known = policyKey(key)
    if (known === undefined) throw new WeirError('usage', `'${printable(key)}' ${unknownKey(key)}`)
    return known
  })
}

/** Replaces all values of the agent. */
export async function storePolicy(
  table: WritableTable,
  policy: Omit<AgentPolicy, 'type' | 'setAt'>,
): Promise<void> {
  const setAt = table.bus.clock.now()
  await placeSetting(policySetting, table, { type: 'agent-policy', ...policy, setAt })
}

/** An unreadable record must stay removable. */
async function isReadable(registry: Parameters<typeof storedPolicies>[0]): Promise<boolean> {
  return storedPolicies(registry).then(
    () => true,
    () => false,
  )
}

function print(
  agent: string,
  differences: PolicyDifference[],
  { json, out }: { json: boolean; out: NodeJS.WriteStream },
): void {
  if (json) for (const difference of differences) out.write(`${printableJson(difference)}\n`)
  else if (differences.length === 0) out.write(`nothing changes for ${printable(nameOf(agent))}\n`)
  else {
    out.write(`for ${printable(nameOf(agent))}, ${inForceFrom}:\n`)
    printDifferences(differences, out)
  }
}
