// `weir budget set` and `weir budget remove`: each writes one record to `policies`.

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
import { budgetId, budgetKeyPrefix, eachName } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { removeSetting } from '../../../shared/runtime/settings/removed-settings.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { agentInLog, conversationInLog, tenantInLog } from '../../history/agents-in-log.ts'
import { withExistingRegistry, withRegistry } from '../../history/registry.ts'
import { shownAmount } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { unseenNameText, unseenTenantText, unseenText } from '../policy/layers.ts'
import { tokensOf, usdOf } from './amounts.ts'
import { storedBudgets } from './stored.ts'

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
  out.write(`it counts from now on; to remove it: weir budget remove '${printable(id)}'\n`)
  for (const text of unseen) errors.write(`weir: warning: ${text}\n`)
}

/** Warnings about names that nothing in the log has: a budget of a wrong name counts nothing. */
async function unseenSubjects(
  { tenant, scope, name }: NewBudget,
  log: Parameters<typeof agentInLog>[1],
): Promise<string[]> {
  const ofTenant =
    tenant === eachName ? undefined : unseenTenantText(tenant, await tenantInLog(tenant, log))
  const ofAgent =
    scope === 'agent' && name !== eachName
      ? unseenText(name, await agentInLog(name, log))
      : undefined
  const ofConversation =
    scope === 'conversation' && name !== eachName
      ? unseenNameText('no conversation', name, await conversationInLog(name, log))
      : undefined
  return [ofTenant, ofAgent, ofConversation].filter((text) => text !== undefined)
}

type BudgetsTable = Parameters<typeof removeSetting>[0]

/** Writes the budget. Returns the one that it replaces. Throws `usage`. */
export async function placeBudget(
  { bus, topicPrefix }: BudgetsTable,
  budget: NewBudget,
  by: string,
): Promise<OperatorBudget | undefined> {
  const id = budgetId(budget)
  const budgets = await storedBudgets({ bus, topicPrefix })
  const known = budgets.find((one) => one.id === id)
  if (budgets.length >= limits.budgetsMax && known === undefined)
    throw new WeirError(
      'usage',
      `${budgets.length} budgets are in force, which is the limit; remove one (weir budget remove)`,
    )
  const setAt = bus.clock.now()
  const message = { type: 'operator-budget', ...budget, setBy: by, setAt } as const
  await bus.append([toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })])
  return known?.budget
}

/** Throws `budget.unknown`. */
export async function removeStoredBudget(
  table: BudgetsTable,
  id: string,
  by: string,
): Promise<void> {
  const budgets = await storedBudgets(table)
  if (!budgets.some((budget) => budget.id === id)) {
    const ids = budgets.map((budget) => budget.id).join(', ')
    throw new WeirError(
      'budget.unknown',
      printable(`no budget has the id ${id}; budgets in force: ${ids === '' ? 'none' : ids}`),
    )
  }
  await removeSetting(table, budgetKeyPrefix + id, by)
}

/** Throws `budget.unknown`. */
export async function removeBudget(
  id: string,
  { by = personHere() }: { by?: string },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  await withExistingRegistry(settings, (registry) => removeStoredBudget(registry, id, by))
  out.write(`${printable(id)} is removed, effective from the next model request\n`)
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
