// `weir budget list`: the budgets in force, and their use in the windows that are open.

import type { OperatorBudget } from '../../../shared/contract/messages.ts'
import type { Account } from '../../../shared/runtime/budgets/ledger.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { shownAmount } from '../../terminal/money-text.ts'
import { printable, printableJson } from '../../terminal/printable.ts'
import { budgetAccounts, type StoredBudget, storedBudgets } from './stored.ts'

/**
 * `--json`: one object per line. The fields of the budget are null if its record cannot be read.
 * Amounts of money are billionths of a US dollar. `held`: reserved by model requests that run.
 */
export type ShownBudget = { id: string } & {
  [Key in Exclude<keyof OperatorBudget, 'type'>]: OperatorBudget[Key] | null
} & { use: Pick<Account, 'tenant' | 'subject' | 'window' | 'used' | 'held'>[] }

export async function listBudgets(
  { json = false }: { json?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { budgets, accounts } = await withLog(settings, async (log) => {
    const budgets = await storedBudgets(log)
    return { budgets, accounts: budgets.length === 0 ? [] : await budgetAccounts(log) }
  })
  if (budgets.length === 0 && !json) out.write('no budget is in force\n')
  for (const stored of budgets) {
    const use = accounts.filter(({ id }) => id === stored.id)
    if (json) out.write(`${printableJson(shownBudget(stored, use))}\n`)
    else for (const line of lines(stored, use)) out.write(`${printable(line)}\n`)
  }
}

export function shownBudget({ id, budget }: StoredBudget, use: Account[]): ShownBudget {
  const { tenant = null, scope = null, name = null, window = null } = budget ?? {}
  const { unit = null, soft = null, hard = null, unpriced = null } = budget ?? {}
  const { setBy = null, setAt = null } = budget ?? {}
  return {
    ...{ id, tenant, scope, name, window, unit, soft, hard, unpriced, setBy, setAt },
    use: use.map(({ tenant, subject, window, used, held }) => ({
      ...{ tenant, subject, window, used, held },
    })),
  }
}

/** At most so many accounts of one budget: one of each turn could have thousands. */
const accountsShown = 20

function lines({ id, budget }: StoredBudget, use: Account[]): string[] {
  if (budget === undefined)
    return [`${id}  cannot be read; no model request starts until it is removed`]
  const { unit, soft, hard, setBy } = budget
  const amounts = [
    ...(soft === null ? [] : [`soft ${shownAmount(soft, unit)}`]),
    ...(hard === null ? [] : [`hard ${shownAmount(hard, unit)}`]),
  ]
  const accounts = [...use].sort((a, b) => b.used + b.held - (a.used + a.held))
  const more = accounts.length - accountsShown
  return [
    `${id}  ${amounts.join(', ')}, set by ${setBy}`,
    ...accounts.slice(0, accountsShown).map((account) => accountLine(account)),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ]
}

function accountLine({ tenant, subject, window, unit, used, held }: Account): string {
  const place = [tenant, ...(subject === '' ? [] : [subject]), window].join('  ')
  const reserved = held === 0 ? '' : `, ${shownAmount(held, unit)} reserved`
  return `    ${place}  ${shownAmount(used, unit)} used${reserved}`
}
