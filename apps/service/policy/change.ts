// `weir policy set` and `weir policy unset`: one record in `policies` each, in force from the next
// model response on.

import { personHere } from '../../../services/approval/person.ts'
import { policyKey, unknownKey } from '../../../shared/agents/policy/entries.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { effective } from '../../history/effective.ts'
import { withKnownRegistry, withRegistry } from '../../history/registry.ts'
import { printable, printableJson } from '../../terminal/printable.ts'
import { differencesOf, type PolicyDifference, printDifferences } from './difference.ts'
import { type Change, changed, checkAgent } from './named-agent.ts'
import { nameOf, nothingSet, removePolicy, storedPolicies, storePolicy } from './stored.ts'
import { inForceFrom } from './words.ts'

export type ChangeOptions = { json?: boolean; by?: string }

/** Throws `usage`. */
export async function setPolicy(
  agent: string,
  { json = false, by = personHere(), ...change }: Change & ChangeOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  checkAgent(agent)
  if (change.changes.length === 0 && change.file === undefined)
    throw new WeirError(
      'usage',
      'nothing to set: give KEY=VALUE, as loop.identicalFailures=2 or rule.cycle=shadow, or --file',
    )
  changed([], change) // before anything is opened
  const differences = await withRegistry(settings, async (registry) => {
    const policies = await storedPolicies(registry)
    const stored = policies.get(agent)?.entries ?? []
    const entries = changed(stored, change)
    if (JSON.stringify(entries) !== JSON.stringify(stored))
      await storePolicy(registry, { agent, entries, setBy: by })
    return differencesOf(effective(agent, stored, policies), effective(agent, entries, policies))
  })
  tell(agent, differences, { json, out })
}

/**
 * Without keys all that is set for the agent. Throws `policy.unknown`, and `usage` for a key that
 * there is none of.
 */
export async function unsetPolicy(
  agent: string,
  keys: readonly string[],
  { json = false, by = personHere() }: ChangeOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const meant = keys.map((key) => {
    const known = policyKey(key)
    if (known === undefined) throw new WeirError('usage', `'${printable(key)}' ${unknownKey(key)}`)
    return known
  })
  const differences = await withKnownRegistry(settings, async (registry) => {
    if (meant.length === 0 && !(await isReadable(registry))) {
      await removePolicy(registry, agent)
      return []
    }
    const policies = await storedPolicies(registry)
    const stored = policies.get(agent)?.entries
    if (stored === undefined) throw nothingSet(agent, [...policies.keys()])
    const entries =
      meant.length === 0 ? [] : stored.filter(({ key }) => !meant.includes(policyKey(key) ?? key))
    if (entries.length === 0) await removePolicy(registry, agent)
    else if (entries.length < stored.length)
      await storePolicy(registry, { agent, entries, setBy: by })
    return differencesOf(effective(agent, stored, policies), effective(agent, entries, policies))
  })
  tell(agent, differences, { json, out })
}

/** A record that cannot be read must not keep anybody from removing it. */
async function isReadable(registry: Parameters<typeof storedPolicies>[0]): Promise<boolean> {
  return storedPolicies(registry).then(
    () => true,
    () => false,
  )
}

function tell(
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
