// The list of an operator's settings. Each command and page that lists, sets or removes one reads it.
// Approval rules are the registration of the guard `approval`, so they are in it too.

import { limits } from '../../shared/contract/limits.ts'
import {
  budgetKeyPrefix,
  everyAgent,
  policyKeyPrefix,
  stopKeyPrefix,
} from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { guardSetting } from '../../shared/runtime/guards/guard-registry.ts'
import type { OperatorSetting } from '../../shared/runtime/settings/operator-setting.ts'
import type { SettingKind } from '../../shared/settings/setting-words.ts'
import { printable } from '../terminal/text/printable.ts'

export const stopSetting: OperatorSetting<'operator-stop'> = {
  kind: 'stop',
  scope: stopKeyPrefix,
  schema: 'operator-stop',
  unknown: (id, ids) => noneWith('stop', id, ids),
  limit: {
    max: limits.stopsMax,
    error: (count) =>
      new WeirError(
        'stop.taken',
        `${count} stops are in force, which is the limit. Release one (weir release), or stop with a wider scope`,
      ),
  },
}

export const budgetSetting: OperatorSetting<'operator-budget'> = {
  kind: 'budget',
  scope: budgetKeyPrefix,
  schema: 'operator-budget',
  unknown: (id, ids) => noneWith('budget', id, ids),
  limit: {
    max: limits.budgetsMax,
    error: (count) =>
      new WeirError(
        'usage',
        `${count} budgets are in force, which is the limit; remove one (weir budget remove)`,
      ),
  },
}

/** The values of one agent, or of all. */
export const policySetting: OperatorSetting<'agent-policy'> = {
  kind: 'policy',
  scope: policyKeyPrefix,
  schema: 'agent-policy',
  unknown(agent, agents) {
    const others =
      agents.length === 0 ? 'and for no other either' : `it is for ${agents.map(nameOf).join(', ')}`
    return new WeirError('policy.unknown', `nothing is set for ${nameOf(agent)}; ${others}`)
  },
}

export const operatorSettings: Readonly<Record<SettingKind, OperatorSetting>> = {
  stop: stopSetting,
  budget: budgetSetting,
  guard: guardSetting,
  policy: policySetting,
}

export function nameOf(agent: string): string {
  return agent === everyAgent ? 'all agents' : `agent ${agent}`
}

function noneWith(noun: 'stop' | 'budget', id: string, ids: string[]): WeirError {
  const known = ids.length === 0 ? 'none' : ids.join(', ')
  return new WeirError(
    `${noun}.unknown`,
    printable(`no ${noun} has the id ${id}; ${noun}s in force: ${known}`),
  )
}
