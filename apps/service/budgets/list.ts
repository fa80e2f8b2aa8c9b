// `weir budget list`: the budgets in force, and their use in the windows that are open.

import type { Account } from '../../../shared/runtime/budgets/ledger.ts'
import {
  type Shown,
  type StoredSetting,
  shownSetting,
  storedSettings,
} from '../../../shared/runtime/settings/operator-setting.ts'
import type { OpenLog } from '../../history/open-log.ts'
import { type NumberOf, readTurnNumbers, turnText } from '../../history/turn-numbers.ts'
import { shownAmount } from '../../terminal/text/money-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { budgetSetting } from '../operator-settings.ts'
import type { SettingList } from '../setting-command.ts'
import { budgetAccounts } from './accounts.ts'

/**
 * `--json`: one object per line. `window`: a day, a month, or a conversation and its turn. The fields
 * of the budget are null if its record cannot be read. Amounts of money are billionths of a US dollar.
 * `held`: reserved by model requests that run.
 */
export type ShownBudget = Shown<'operator-budget', (typeof fields)[number]> & {
  use: Pick<Account, 'tenant' | 'subject' | 'window' | 'used' | 'held'>[]
}
const ofBudget = ['tenant', 'scope', 'name', 'window', 'unit', 'soft', 'hard', 'unpriced'] as const
const fields = [...ofBudget, 'setBy', 'setAt'] as const

/** At most so many accounts of one budget: one of each turn could have thousands. */
const accountsShown = 20

type ListedBudget = {
  stored: StoredSetting<'operator-budget'>
  use: Account[]
  shown: Account[]
  numberOf: NumberOf
}

export const budgetList: SettingList<{ json?: boolean }, ListedBudget> = {
  read: ({ json }) =>
    async function budgetsWithUse(log) {
      const stored = await storedSettings(budgetSetting, log)
      const accounts = stored.length === 0 ? [] : await budgetAccounts(log)
      const budgets = stored.map((budget) => {
        const use = useOf(budget.id, accounts)
        return { stored: budget, use, shown: json ? use : use.slice(0, accountsShown) }
      })
      const numberOf = await numbersOfTurns(
        log,
        budgets.flatMap(({ shown }) => shown),
      )
      return budgets.map((budget) => ({ ...budget, numberOf }))
    },
  json: ({ stored, use, numberOf }) => shownBudget(stored, use, numberOf),
  lines({ stored, use, shown, numberOf }) {
    const accounts = shown.map((account) => accountLine(account, numberOf))
    const more = use.length > shown.length ? [`    and ${use.length - shown.length} more`] : []
    return [budgetLine(stored), ...accounts, ...more].map(printable)
  },
  none: 'no budget is in force',
}

/** The accounts of one budget, the most used first. */
export function useOf(budget: string, accounts: readonly Account[]): Account[] {
  return accounts
    .filter(({ id }) => id === budget)
    .sort((a, b) => b.used + b.held - (a.used + a.held))
}

export function shownBudget(
  budget: StoredSetting<'operator-budget'>,
  use: Account[],
  numberOf: NumberOf,
): ShownBudget {
  return {
    ...shownSetting(budget, fields),
    use: use.map((account) => {
      const { tenant, subject, used, held } = account
      return { tenant, subject, window: windowText(account, numberOf), used, held }
    }),
  }
}

/** Only with an index: otherwise it would read the whole history, and offsets name the turns. */
async function numbersOfTurns(log: OpenLog, accounts: readonly Account[]): Promise<NumberOf> {
  if (!log.hasIndex) return () => undefined
  return readTurnNumbers(log, new Set(accounts.flatMap(({ turn }) => turn?.conversation ?? [])))
}

function windowText({ window, turn }: Account, numberOf: NumberOf): string {
  return turn === null ? window : `${turn.conversation} ${turnText(numberOf, turn)}`
}

function budgetLine({ id, value: budget }: StoredSetting<'operator-budget'>): string {
  if (budget === undefined)
    return `${id}  cannot be read; no model request starts until it is removed`
  const { unit, soft, hard, setBy } = budget
  const amounts = [
    ...(soft === null ? [] : [`soft ${shownAmount(soft, unit)}`]),
    ...(hard === null ? [] : [`hard ${shownAmount(hard, unit)}`]),
  ]
  return `${id}  ${amounts.join(', ')}, set by ${setBy}`
}

function accountLine(account: Account, numberOf: NumberOf): string {
  const { tenant, subject, unit, used, held } = account
  const place = [tenant, ...(subject === '' ? [] : [subject]), windowText(account, numberOf)]
  const reserved = held === 0 ? '' : `, ${shownAmount(held, unit)} reserved`
  return `    ${place.join('  ')}  ${shownAmount(used, unit)} used${reserved}`
}
