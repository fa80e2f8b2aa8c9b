// `weir budget set`: writes one record to `policies`.

import { personHere } from '../../../services/approval/performer/person.ts'
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
import {
  placeSetting,
  storedSettings,
  type WritableTable,
} from '../../../shared/runtime/settings/operator-setting.ts'
import { removalCommand } from '../../../shared/settings/setting-words.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withRegistry } from '../../history/registry.ts'
import { shownAmount } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { budgetSetting } from '../operator-settings.ts'
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
  by?: string
}

/**
 * Replaces a budget of the same tenant, subject, window and unit. A budget may be the first record of
 * a log, so it can count from the first request on. Throws `usage`. `errors`: warnings about names
 * that the log does not know.
 */
export async function setBudget(
  { by = personHere(), ...options }: BudgetOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
  errors: NodeJS.WriteStream = process.stderr,
): Promise<void> {
  const budget = budgetOf(options)
  const id = budgetId(budget)
  const { before, unseen } = await withRegistry(settings, async (registry) => ({
    before: await placeBudget(registry, budget, by),
    unseen: await unseenSubjects(budget, registry),
  }))
  out.write(`${printable(id)}: for ${subjectText(budget)}, ${effectOf(budget)}\n`)
  if (before !== undefined) out.write(`it replaces: ${effectOf(before)}\n`)
  out.write(`it counts from now on; to remove it: ${removalCommand('budget', id)}\n`)
  for (const text of unseen) errors.write(`weir: warning: ${text}\n`)
}

/** Warnings about names that nothing in the log has: a budget of a wrong name counts nothing. */
async function unseenSubjects(
  { tenant, scope, name }: NewBudget,
  log: Parameters<typeof unseenScope>[1],
): Promise<string[]> {
  const subjects = [
    { scope: 'tenant' as const, name: tenant },
    ...(scope === 'tenant' ? [] : [{ scope, name }]),
  ].filter(({ name }) => name !== eachName)
  const texts = await Promise.all(subjects.map((subject) => unseenScope(subject, log)))
  return texts.filter((text) => text !== undefined)
}

/** Writes the budget. Returns the one that it replaces. Throws `usage`. */
export async function placeBudget(
  table: WritableTable,
  budget: NewBudget,
  by: string,
): Promise<OperatorBudget | undefined> {
  const id = budgetId(budget)
  const known = (await storedSettings(budgetSetting, table)).find((one) => one.id === id)
  const setAt = table.bus.clock.now()
  await placeSetting(budgetSetting, table, { type: 'operator-budget', ...budget, setBy: by, setAt })
  return known?.value
}

type NewBudget = Omit<OperatorBudget, 'type' | 'setBy' | 'setAt'>

/** Throws `usage`. */
export function budgetOf({ window, unpriced, ...options }: Omit<BudgetOptions, 'by'>): NewBudget {
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
