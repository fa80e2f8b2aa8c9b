// The changes that operators make in the console, by the last part of their path. Each one calls the
// function of its command.

import { guardModes } from '../../../shared/contract/guard/guard.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { switchGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import { removeStored } from '../../../shared/runtime/settings/operator-setting.ts'
import { settingKinds } from '../../../shared/settings/setting-words.ts'
import type { withExistingRegistry } from '../../history/registry.ts'
import { placeRules, rulesIn } from '../../service/approvals/rules.ts'
import { type BudgetOptions, budgetOf, placeBudget } from '../../service/budgets/change.ts'
import { operatorSettings } from '../../service/operator-settings.ts'
import { changePolicy, removeValues } from '../../service/policy/change.ts'
import { placeStop } from '../../service/stops/change.ts'
import { scopeOf } from '../../service/stops/scope.ts'
import { HttpError } from '../http-error.ts'
import { textIn } from '../request-body.ts'
import { oneOf } from './route-parts.ts'

type Table = Parameters<Parameters<typeof withExistingRegistry>[1]>[0]

/** `by`: the name of the principal. Returns the answer. */
export type OperatorChange = (
  table: Table,
  body: Record<string, unknown>,
  by: string,
) => Promise<object>

export const operatorChanges: Readonly<Record<string, OperatorChange>> = {
  policy(table, body, by) {
    const changes = [`${textIn(body, 'key')}=${textIn(body, 'value')}`]
    return changePolicy(table, textIn(body, 'agent'), { changes, by })
  },
  async 'policy-unset'(table, body, by) {
    const keys = [textIn(body, 'key')]
    return { differences: await removeValues(table, textIn(body, 'agent'), { keys, by }) }
  },
  'guard-mode': (table, body, by) =>
    switchGuard(table, textIn(body, 'guard'), { mode: oneOf(body, 'mode', guardModes), by }),
  async 'approval-rules'(table, body, by) {
    await rulesPlaced(table, textIn(body, 'rules'), by)
    return {}
  },
  async budget(table, body, by) {
    await placeBudget(table, budgetOf(budgetIn(body)), by)
    return {}
  },
  async stop(table, body, by) {
    const kind = oneOf(body, 'scope', stopScopes)
    const scope = scopeOf(kind === 'all' ? { all: true } : { [kind]: textIn(body, 'name') })
    const mode = oneOf(body, 'mode', stopModes)
    await placeStop(table, { ...scope, mode, reason: textIn(body, 'reason'), setBy: by })
    return {}
  },
  /** Of any kind. */
  async remove(table, body, by) {
    const setting = operatorSettings[oneOf(body, 'setting', settingKinds)]
    await removeStored(setting, table, { id: textIn(body, 'id'), by })
    return {}
  },
}

const stopScopes = ['all', 'tenant', 'agent', 'tool', 'conversation'] as const
const stopModes = ['drain', 'now'] as const
const budgetSubjects = ['tenant', 'agent', 'conversation'] as const
const budgetWindows = ['turn', 'day', 'month'] as const

async function rulesPlaced(table: Table, text: string, by: string): Promise<void> {
  try {
    await placeRules(table, rulesIn('the text', text), by)
  } catch (error) {
    throw asBadRules(error)
  }
}

/** A fault in the rules is one of the request. Its text names nothing of the server. */
function asBadRules(error: unknown): unknown {
  return error instanceof WeirError && error.code === 'settings.invalid'
    ? new HttpError(400, error.code, error.message, { cause: error })
    : error
}

/** An empty amount is none. Without a tenant, that of one conversation is in its id. */
function budgetIn(body: Record<string, unknown>): BudgetOptions {
  const subject = oneOf(body, 'subject', budgetSubjects)
  const unit = oneOf(body, 'unit', ['tokens', 'usd'] as const)
  const [tenant, hard, soft] = ['tenant', 'hard', 'soft'].map((name) => textIn(body, name).trim())
  return {
    window: oneOf(body, 'window', budgetWindows),
    ...(tenant && { tenant }),
    ...(subject !== 'tenant' && { [subject]: textIn(body, 'name').trim() }),
    ...(hard && { [unit === 'tokens' ? 'tokens' : 'money']: hard }),
    ...(soft && { [unit === 'tokens' ? 'softTokens' : 'softMoney']: soft }),
    ...(unit === 'usd' && { unpriced: oneOf(body, 'unpriced', ['allow', 'deny'] as const) }),
  }
}
