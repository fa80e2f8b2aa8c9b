// `weir policy set` and `weir policy unset`: each writes one record to `policies`, effective from
// the next model response.

import { personHere } from '../../../services/approval/person.ts'
import { policyKey, unknownKey } from '../../../shared/agents/policy/entries.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { effective } from '../../history/effective.ts'
import { withExistingRegistry, withRegistry } from '../../history/registry.ts'
import { printable, printableJson } from '../../terminal/printable.ts'
import { differencesOf, type PolicyDifference, printDifferences } from './difference.ts'
import { type OwnPolicyOptions, policyInFile, readLayers, unseenText } from './layers.ts'
import { type Change, changed, checkAgent } from './named-agent.ts'
import { nameOf, nothingSet, removePolicy, storedPolicies, storePolicy } from './stored.ts'
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
  const { differences, unseen } = await withRegistry(settings, async (registry) => {
    const layers = await readLayers(agent, { agentFile }, registry)
    const stored = layers.stored.get(agent)?.entries ?? []
    const entries = changed(stored, change)
    if (JSON.stringify(entries) !== JSON.stringify(stored))
      await storePolicy(registry, { agent, entries, setBy: by })
    return {
      differences: differencesOf(
        effective(agent, stored, layers),
        effective(agent, entries, layers),
      ),
      unseen: unseenText(agent, layers.found),
    }
  })
  print(agent, differences, { json, out })
  if (unseen !== undefined)
    errors.write(`weir: warning: ${unseen}. The values count once an agent of this name is asked\n`)
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
  const removed = keys.map((key) => {
    const known = policyKey(key)
    if (known === undefined) throw new WeirError('usage', `'${printable(key)}' ${unknownKey(key)}`)
    return known
  })
  const differences = await withExistingRegistry(settings, async (registry) => {
    if (removed.length === 0 && !(await isReadable(registry))) {
      await removePolicy(registry, agent)
      return []
    }
    const layers = await readLayers(agent, { agentFile }, registry)
    const stored = layers.stored.get(agent)?.entries
    if (stored === undefined) throw nothingSet(agent, [...layers.stored.keys()])
    const entries =
      removed.length === 0
        ? []
        : stored.filter(({ key }) => !removed.includes(policyKey(key) ?? key))
    if (entries.length === 0) await removePolicy(registry, agent)
    else if (entries.length < stored.length)
      await storePolicy(registry, { agent, entries, setBy: by })
    return differencesOf(effective(agent, stored, layers), effective(agent, entries, layers))
  })
  print(agent, differences, { json, out })
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
