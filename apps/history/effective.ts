// The effective policy of an agent, key by key, with the origin of each value. The layers are those
// of the gateway (policy-in-force.ts): the agent's own policy, the operator's values for all agents,
// those for this agent, the operator's caps.
// Weir's default never stands for an agent's value. A value without a source is
// unknown.

import {
  type EntryFault,
  policyKey,
  policyKeys,
  readEntries,
} from '../../shared/agents/policy/entries.ts'
import { defaultPolicy } from '../../shared/agents/policy/policy.ts'
import type {
  AgentPolicy,
  OperatorLimits,
  Policy,
  PolicyEntry,
} from '../../shared/contract/messages.ts'
import { everyAgent } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

/**
 * `operator`: set for this agent. `operator-all`: set for all agents. `operator-limits`: the
 * operator's record of caps. The agent's own value is from its file (`agent-file`), from its newest
 * message in the log (`log`), or from one of them and equal to Weir's default (`default`).
 * `unknown`: no source has it. `each-agent`: every agent has its own value.
 */
export type Origin =
  | 'operator'
  | 'operator-all'
  | 'operator-limits'
  | 'agent-file'
  | 'log'
  | 'default'
  | 'each-agent'
  | 'unknown'

/**
 * `value`: in the form that commands accept. Null: no cap; with the origins each-agent and unknown:
 * there is none to show. `atMost`: an operator's cap, over an unknown one of the agent that may be
 * lower.
 */
export type EffectiveValue = { value: string | null; origin: Origin; atMost?: true }

export type Effective = ReadonlyMap<string, EffectiveValue>

/** The agent's policy without the operator's layers. `at`: the time of the message that carries it. */
export type OwnPolicy =
  | { from: 'agent-file'; file: string; policy: Policy }
  | { from: 'log'; at: Milliseconds; policy: Policy }

/** `stored`: the operator's values, by agent. `own` undefined: unknown. */
export type PolicyLayers = {
  own: OwnPolicy | undefined
  stored: ReadonlyMap<string, AgentPolicy>
  limits: OperatorLimits | undefined
}

/**
 * Has all keys. `entries`: the present or proposed entries of the agent. Ignores unusable entries,
 * as the gateway does.
 */
export function effective(
  agent: string,
  entries: readonly PolicyEntry[],
  { own, stored, limits }: PolicyLayers,
): Effective {
  const isAll = agent === everyAgent
  const ownValues = usable(isAll ? [] : entries)
  const allValues = usable(isAll ? entries : (stored.get(everyAgent)?.entries ?? []))
  const base = (key: string): EffectiveValue => (isAll ? ofEachAgent : ownValue(own, key))
  return new Map(
    policyKeys.map((key): [string, EffectiveValue] => {
      const set = [
        valueFrom('operator', ownValues.get(key)),
        valueFrom('operator-all', allValues.get(key)),
      ].filter((value) => value !== undefined)
      const [, cap] = /^(?:caps|tree)\.(.*)$/.exec(key) ?? []
      if (cap === undefined) return [key, set[0] ?? base(key)]
      const isOfTurn = key.startsWith('caps.')
      const limit = isOfTurn
        ? (limits?.caps[cap as keyof OperatorLimits['caps']] ?? undefined)
        : undefined
      const ofLimits = valueFrom('operator-limits', limit === undefined ? undefined : `${limit}`)
      return [key, lowest([...set, ...(ofLimits === undefined ? [] : [ofLimits])], base(key))]
    }),
  )
}

const ofEachAgent: EffectiveValue = { value: null, origin: 'each-agent' }

function valueFrom(origin: Origin, value: string | undefined): EffectiveValue | undefined {
  return value === undefined ? undefined : { value, origin }
}

function ownValue(own: OwnPolicy | undefined, key: string): EffectiveValue {
  if (own === undefined) return { value: null, origin: 'unknown' }
  const value = valueIn(own.policy, key)
  return { value, origin: value === valueIn(defaultPolicy, key) ? 'default' : own.from }
}

/** The lowest cap counts; of equals, the operator's. A cap of the agent that is unknown may be lower. */
function lowest(set: readonly EffectiveValue[], base: EffectiveValue): EffectiveValue {
  const [least] = set.toSorted((a, b) => Number(a.value) - Number(b.value))
  if (least === undefined) return base
  if (base.origin === 'unknown' || base.origin === 'each-agent') return { ...least, atMost: true }
  return base.value !== null && Number(base.value) < Number(least.value) ? base : least
}

/** Weir's default, in the form that commands accept. Null: no cap. */
export function defaultValue(key: string): string | null {
  return valueIn(defaultPolicy, key)
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
  const values: Record<string, unknown> = {
    ...policy[section as 'loop' | 'empty' | 'caps' | 'tree'],
  }
  return values[name] == null ? null : String(values[name])
}
