// The list of an operator's settings. Each command and page that lists, sets or removes one reads it.

import { limits } from '../../shared/contract/limits.ts'
import {
  budgetKeyPrefix,
  everyAgent,
  policyKeyPrefix,
  stopKeyPrefix,
} from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { OperatorSetting } from '../../shared/runtime/settings/operator-setting.ts'
import { shellWord } from '../terminal/shell-word.ts'
import { printable } from '../terminal/text/printable.ts'

export const stopSetting: OperatorSetting<'operator-stop'> = {
  scope: stopKeyPrefix,
  schema: 'operator-stop',
  effect: (id) =>
    id.startsWith('tool:')
      ? 'released: its calls run again'
      : 'released: new questions run again, and turns that have ended stay ended',
  words: {
    removal: (id) => `weir release ${shellWord(id)}`,
    unknown: (id, ids) => noneWith('stop', id, ids),
  },
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
  scope: budgetKeyPrefix,
  schema: 'operator-budget',
  effect: () => 'removed, effective from the next model request',
  words: {
    removal: (id) => `weir budget remove '${printable(id)}'`,
    unknown: (id, ids) => noneWith('budget', id, ids),
  },
  limit: {
    max: limits.budgetsMax,
    error: (count) =>
      new WeirError(
        'usage',
        `${count} budgets are in force, which is the limit; remove one (weir budget remove)`,
      ),
  },
}

/** The values of one agent, or of all. `weir policy unset` prints the effect of a removal. */
export const policySetting: OperatorSetting<'agent-policy'> = {
  scope: policyKeyPrefix,
  schema: 'agent-policy',
  effect: () => 'removed, effective from the next model response',
  words: {
    removal: (agent) => `weir policy unset '${agent}'`,
    unknown(agent, agents) {
      const others =
        agents.length === 0
          ? 'and for no other either'
          : `it is for ${agents.map(nameOf).join(', ')}`
      return new WeirError('policy.unknown', `nothing is set for ${nameOf(agent)}; ${others}`)
    },
  },
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
