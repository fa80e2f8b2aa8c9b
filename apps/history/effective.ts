// The effective policy, key by key, with the origin of each value. The agent file is not in the
// log. So a key that nobody has set shows its default, and the agent file may override it.

import { defaultPolicy } from '../../shared/agents/agents.ts'
import {
  type EntryFault,
  policyKey,
  policyKeys,
  readEntries,
} from '../../shared/agents/policy/entries.ts'
import type { AgentPolicy, Policy, PolicyEntry } from '../../shared/contract/messages.ts'
import { everyAgent } from '../../shared/contract/topology.ts'

/**
 * operator: set for this agent. operator-all: set for all agents. default: not set; a value in the
 * agent file wins over it.
 */
export type Origin = 'operator' | 'operator-all' | 'default'

/** `value`: in the form that commands accept. Null: no cap. */
export type EffectiveValue = { value: string | null; origin: Origin }

export type Effective = ReadonlyMap<string, EffectiveValue>

/**
 * Has all keys. `entries`: the present or proposed entries of the agent. Ignores unusable entries,
 * as the gateway does.
 */
export function effective(
  agent: string,
  entries: readonly PolicyEntry[],
  stored: ReadonlyMap<string, AgentPolicy>,
): Effective {
  const isAll = agent === everyAgent
  const ownValues = usable(isAll ? [] : entries)
  const allValues = usable(isAll ? entries : (stored.get(everyAgent)?.entries ?? []))
  return new Map(
    policyKeys.map((key): [string, EffectiveValue] => {
      const [mine, all] = [ownValues.get(key), allValues.get(key)]
      if (mine !== undefined) return [key, { value: mine, origin: 'operator' }]
      if (all !== undefined) return [key, { value: all, origin: 'operator-all' }]
      return [key, { value: valueIn(defaultPolicy, key), origin: 'default' }]
    }),
  )
}

/** The entries of this record that the gateway ignores. */
export function faultsOf(policy: AgentPolicy | undefined): EntryFault[] {
  return readEntries(policy?.entries ?? []).faults
}

/** The last entry of a key counts, as in the gateway. */
function usable(entries: readonly PolicyEntry[]): Map<string, string> {
  const values = new Map(entries.map(({ key, value }) => [policyKey(key) ?? key, value]))
  for (const { key } of readEntries(entries).faults) values.delete(key)
  return values
}

/** The values that differ from the defaults, by key. */
export function notDefault(policy: Policy): Record<string, string | null> {
  const all = policyKeys.map((key): [string, string | null] => [key, valueIn(policy, key)])
  return Object.fromEntries(all.filter(([key, value]) => value !== valueIn(defaultPolicy, key)))
}

/** In the form that commands accept. Null: no cap. */
function valueIn(policy: Policy, key: string): string | null {
  const [section = '', name = ''] = key.split('.')
  if (section === 'rule') return policy.shadowed.includes(name) ? 'shadow' : 'enforce'
  const values: Record<string, unknown> = { ...policy[section as 'loop' | 'empty' | 'caps'] }
  return values[name] === null ? null : String(values[name])
}
