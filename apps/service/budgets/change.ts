// `weir budget set`: writes one record to `policies`.
// Here: `weir budget`, its amounts and its list. Not here: reservations
// (services/llm-gateway/performer/budgets, shared/runtime/budgets).

import { conversationIdFault } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  BudgetScope,
  BudgetUnit,
  BudgetWindow,
  OperatorBudget,
  Unpriced,
} from '../../../shared/contract/messages.ts'
import { defaultTenant, isTenant, tenantOf, tenantRule } from '../../../shared/contract/tenant.ts'
import { budgetId, eachName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { placeSetting, storedSettings } from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import { shownAmount } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { budgetSetting } from '../operator-settings.ts'
import { type SettingChange, warning } from '../setting-command.ts'
import { unseenScope } from '../unseen.ts'
import { tokensOf, usdOf } from './amounts.ts'

export type BudgetOptions = {
  tenant?: string
  agent?: string
  conversation?: string
  window: BudgetWindow
  tokens?: string
  money?: string
  softTokens?: string
  softMoney?: string
  unpriced?: Unpriced
}

type NewBudget = Omit<OperatorBudget, 'type' | 'setBy' | 'setAt'>

/**
 * Replaces a budget of the same tenant, subject, window and unit. Throws `usage`. Warns about names
 * that the log does not know.
 */
export const budgetChange: SettingChange<
  BudgetOptions,
  NewBudget,
  { budget: NewBudget; before: OperatorBudget | undefined }
> = {
  createsLog: true, // so it can count from the first request on
  read: budgetOf,
  async write(table, budget, { by }) {
    const id = budgetId(budget)
    const known = (await storedSettings(budgetSetting, table)).find((one) => one.id === id)
    const setAt = table.bus.clock.now()
    const message = { type: 'operator-budget', ...budget, setBy: by, setAt } as const
    await placeSetting(budgetSetting, table, message)
    return { budget, before: known?.value }
  },
  notes: ({ budget }, { table }) => unseenSubjects(budget, table),
  lines({ budget, before }) {
    const id = budgetId(budget)
    return [
      `${id}: for ${subjectText(budget)}, ${effectOf(budget)}`,
      ...(before === undefined ? [] : [`it replaces: ${effectOf(before)}`]),
      `it counts from now on; to remove it: ${removalCommand('budget', id)}`,
    ]
  },
}

/** Warnings about names that nothing in the log has: a budget of a wrong name counts nothing. */
async function unseenSubjects(
  { tenant, scope, name }: NewBudget,
  log: Parameters<typeof unseenScope>[1],
): Promise<(string | undefined)[]> {
  const subjects = [
    { scope: 'tenant' as const, name: tenant },
    ...(scope === 'tenant' ? [] : [{ scope, name }]),
  ].filter(({ name }) => name !== eachName)
  return Promise.all(subjects.map(async (subject) => warning(await unseenScope(subject, log))))
}

/** Throws `usage`. */
export function budgetOf({ window, unpriced, ...options }: BudgetOptions): NewBudget {
  const { scope, name } = subjectOf(options)
  const tenant = tenantIn(options)
  const { unit, soft, hard } = amountsOf(options)
  if (scope === 'conversation' && name !== eachName && tenant !== eachName) {
    const owner = tenantOf(name)
    if (owner !== tenant)
      throw new WeirError(
        'usage',
        `the conversation '${printable(name)}' belongs to the tenant ${owner}, not to ${tenant}: the tenant is the part of an id before the first colon, as in ${tenant}:order-7`,
      )
  }
  if (unit === 'tokens' && unpriced !== undefined)
    throw new WeirError('usage', '--unpriced has no effect on tokens: leave it out')
  if (soft !== null && hard !== null && soft > hard)
    throw new WeirError('usage', 'the soft amount is above the hard one: give a lower one')
  return { tenant, scope, name, window, unit, soft, hard, unpriced: unpriced ?? 'deny' }
}

function subjectOf({ agent, conversation }: Pick<BudgetOptions, 'agent' | 'conversation'>): {
  scope: BudgetScope
  name: string
} {
  if (agent !== undefined && conversation !== undefined)
    throw new WeirError('usage', 'give --agent or --conversation, not both')
  if (conversation !== undefined) {
    const fault = conversation === eachName ? undefined : conversationIdFault(conversation)
    if (fault !== undefined) throw new WeirError('usage', `--conversation: ${fault}`)
    return { scope: 'conversation', name: conversation }
  }
  if (agent === undefined) return { scope: 'tenant', name: '' }
  const bytes = Buffer.byteLength(agent)
  if (bytes < 1 || bytes > limits.agentNameBytesMax)
    throw new WeirError(
      'usage',
      `--agent has ${bytes} bytes; it must have 1 to ${limits.agentNameBytesMax}`,
    )
  return { scope: 'agent', name: agent }
}

/** A budget of an agent or of each conversation holds in each tenant, so none is left without it. */
function tenantIn({ tenant, agent, conversation }: Omit<BudgetOptions, 'window'>): string {
  if (tenant === undefined) {
    if (agent !== undefined || conversation === eachName) return eachName
    return conversation === undefined ? defaultTenant : tenantOf(conversation)
  }
  if (tenant === eachName || isTenant(tenant)) return tenant
  throw new WeirError(
    'usage',
    `--tenant '${printable(tenant)}' is no tenant: ${tenantRule}, or * for each tenant`,
  )
}

function amountsOf({ tokens, money, softTokens, softMoney }: Omit<BudgetOptions, 'window'>): {
  unit: BudgetUnit
  soft: number | null
  hard: number | null
} {
  const hasTokens = tokens !== undefined || softTokens !== undefined
  const hasMoney = money !== undefined || softMoney !== undefined
  if (hasTokens === hasMoney)
    throw new WeirError(
      'usage',
      hasTokens
        ? 'tokens and money are given: a budget counts one of them, so set two budgets'
        : 'no amount is given: give --tokens, --money, or their soft forms',
    )
  return hasTokens
    ? {
        unit: 'tokens',
        soft: softTokens === undefined ? null : tokensOf('--soft-tokens', softTokens),
        hard: tokens === undefined ? null : tokensOf('--tokens', tokens),
      }
    : {
        unit: 'usd',
        soft: softMoney === undefined ? null : usdOf('--soft-money', softMoney),
        hard: money === undefined ? null : usdOf('--money', money),
      }
}

function subjectText({ tenant, scope, name }: NewBudget): string {
  const ofTenant = tenant === eachName ? 'each tenant' : `the tenant ${tenant}`
  switch (scope) {
    case 'tenant':
      return ofTenant
    case 'agent':
      return `${name === eachName ? 'each agent' : `the agent ${printable(name)}`} of ${ofTenant}`
    case 'conversation':
      return name === eachName
        ? `each conversation of ${ofTenant}`
        : `the conversation ${printable(name)}`
  }
}

function effectOf({ window, unit, soft, hard }: NewBudget): string {
  const time = window === 'turn' ? 'in a turn' : `in a ${window} (UTC)`
  return [
    ...(soft === null ? [] : [`an event from ${shownAmount(soft, unit)} ${time}`]),
    ...(hard === null ? [] : [`no model request from ${shownAmount(hard, unit)} ${time}`]),
  ].join(', ')
}
