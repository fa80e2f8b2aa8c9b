// `weir policy set` and `weir policy unset`: each writes one record to `policies`, effective from
// the next model response.

import { policyKey, unknownKey } from '../../../shared/agents/policy/entries.ts'
import type { AgentPolicy } from '../../../shared/contract/messages.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { AuditedTable } from '../../../shared/runtime/settings/audited-change.ts'
import { placeSetting, removeStored } from '../../../shared/runtime/settings/operator-setting.ts'
import { printable } from '../../terminal/text/printable.ts'
import { nameOf, policySetting } from '../operator-settings.ts'
import { type SettingChange, warning } from '../setting-command.ts'
import { differenceLines, differencesOf, type PolicyDifference } from './difference.ts'
import {
  type OwnPolicyOptions,
  policyInFile,
  readLayers,
  storedPolicies,
  unseenText,
} from './layers.ts'
import { changed, checkAgent, type NamedChange } from './named-agent.ts'
import { inForceFrom } from './words.ts'

type Changed = { agent: string; differences: PolicyDifference[] }

/** Throws `usage`. Warns about an agent that the log does not know. */
export const policyChange: SettingChange<
  NamedChange,
  NamedChange,
  Changed & { unseen: string | undefined }
> = {
  createsLog: true,
  json: ({ differences }) => differences,
  lines: changeLines,
  read(change) {
    const { agent, changes, file, agentFile } = change
    checkAgent(agent)
    if (changes.length === 0 && file === undefined)
      throw new WeirError(
        'usage',
        'nothing to set: give KEY=VALUE, such as loop.identicalFailures=2 or rule.cycle=shadow, or --file',
      )
    changed([], change)
    if (agentFile !== undefined) policyInFile(agent, agentFile)
    return change
  },
  async write(table, { agent, agentFile, ...change }, { by }) {
    const layers = await readLayers(agent, { agentFile }, table)
    const stored = layers.stored.get(agent)?.entries ?? []
    const entries = changed(stored, change)
    if (JSON.stringify(entries) !== JSON.stringify(stored))
      await storePolicy(table, { agent, entries, setBy: by })
    const differences = differencesOf(agent, [stored, entries], layers)
    return { agent, differences, unseen: unseenText(agent, layers.found) }
  },
  notes: ({ unseen }) => [
    warning(unseen && `${unseen}. The values count once an agent of this name is asked`),
  ],
}

type Removal = OwnPolicyOptions & { agent: string; keys: readonly string[] }

/**
 * Without keys, it removes all values of the agent. Throws `policy.unknown`, and `usage` for an
 * unknown key.
 */
export const policyRemoval: SettingChange<Removal, Removal, Changed> = {
  json: ({ differences }) => differences,
  lines: changeLines,
  read({ agent, keys, agentFile }) {
    if (agentFile !== undefined) policyInFile(agent, agentFile)
    return { agent, keys: keysOf(keys), agentFile }
  },
  async write(table, { agent, keys, agentFile }, { by }) {
    const isAll = keys.length === 0
    if (isAll && !(await isReadable(table))) {
      await removeStored(policySetting, table, { id: agent, by })
      return { agent, differences: [] }
    }
    const layers = await readLayers(agent, { agentFile }, table)
    const stored = layers.stored.get(agent)?.entries
    if (stored === undefined) throw policySetting.unknown(agent, [...layers.stored.keys()])
    const entries = isAll ? [] : stored.filter(({ key }) => !keys.includes(policyKey(key) ?? key))
    if (entries.length === 0) await removeStored(policySetting, table, { id: agent, by })
    else if (entries.length < stored.length) await storePolicy(table, { agent, entries, setBy: by })
    const differences = differencesOf(agent, [stored, entries], layers)
    return { agent, differences }
  },
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
  table: AuditedTable,
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

function changeLines({ agent, differences }: Changed): string[] {
  return differences.length === 0
    ? [`nothing changes for ${nameOf(agent)}`]
    : [`for ${nameOf(agent)}, ${inForceFrom}:`, ...differenceLines(differences)]
}
