// Budgets: their limits, and the use of each window that is open, settled and reserved. Each change is
// after a confirmation.

import { html } from '../../../../page/kit/html.ts'
import { card, wideTable } from '../../../../page/kit/parts.ts'
import { shownAmount } from '../../../../terminal/text/money-text.ts'
import { number } from '../../../../terminal/text/quantities.ts'
import type { BudgetsData } from '../operator-state.ts'
import { personName } from '../parts/ago.ts'
import type { Confirmations } from '../parts/confirmation.ts'
import { changedBudget, newBudget } from './budget-changes.ts'
import { type OperatorPage, operatorPage } from './operator-page.ts'
import { removalButton } from './setting-removal.ts'

type Budget = BudgetsData['budgets'][number]
type Unit = NonNullable<Budget['unit']>

export function budgetsPage(onChange: () => void, confirmations: Confirmations): OperatorPage {
  return operatorPage<BudgetsData>(onChange, confirmations, {
    path: 'budgets',
    refreshMs: 5_000,
    label: 'Budgets',
    intro:
      'Days and months are in UTC. Use is settled after an answer. A running model request reserves the most that it can use.',
    title: (data) =>
      data !== undefined && data.budgets.length === 0 ? 'No budget is in force' : 'Budgets',
    cards: ({ budgets }, { refresh }) =>
      budgets.map((budget) => budgetCard(budget, { confirmations, refresh })),
    below: (_, { refresh }) => html`<p class="buttons">
      <button type="button" onClick=${() => confirmations.open(newBudget(refresh))}>New budget…</button>
    </p>`,
  })
}

function budgetCard(
  budget: Budget,
  { confirmations, refresh }: { confirmations: Confirmations; refresh: () => void },
) {
  const { id, unit, setBy, use, more } = budget
  const change = changedBudget(budget, refresh)
  const body =
    unit === null
      ? html`<p class="bad">The record cannot be read. No model request starts until it is removed.</p>`
      : html`<p class="amounts">${amountsText(budget, unit)}</p>
        ${use.length === 0 ? html`<p class="faint">Nothing is used in an open window.</p>` : useTable(budget, unit)}
        ${more > 0 && html`<p class="faint">${number(more)} more with less use: weir budget list prints them.</p>`}`
  return card(
    {
      kind: 'budget',
      id,
      head: setBy !== null && html`<span class="faint deadline">set by ${personName(setBy)}</span>`,
    },
    html`${body}
      <p class="buttons">
        ${change !== undefined && html`<button type="button" onClick=${() => confirmations.open(change)}>Change…</button>`}
        ${removalButton('budget', id, { confirmations, refresh })}
      </p>`,
  )
}

function useTable({ id, use, hard, soft }: Budget, unit: Unit) {
  const limit = hard ?? soft ?? 0
  const shareOf = ({ used, held }: Use) => (limit === 0 ? 1 : (used + held) / limit)
  const stateOfUse = (one: Use) => stateOf({ share: shareOf(one), used: one.used, soft, hard })
  const softShare = soft === null || limit === 0 ? nearlyUsed : Math.min(1, soft / limit)
  return wideTable(`Use of ${id}`, {
    rows: use,
    row: ({ tenant, subject, window }) => ({ key: `${tenant}/${subject}/${window}` }),
    columns: [
      { title: 'tenant', cell: ({ tenant }) => tenant },
      { title: 'of', cell: ({ subject }) => (subject === '' ? 'the tenant' : subject) },
      {
        title: 'use',
        class: (one) => stateOfUse(one).tone,
        cell: (one) => html`<meter
            min="0" max="1" optimum="0" low=${Math.min(softShare, nearlyUsed)} high="0.999999"
            value=${Math.min(1, shareOf(one))} aria-hidden="true"
          ></meter> ${number(Math.round(shareOf(one) * 100))} %${stateOfUse(one).text}`,
      },
      { title: 'settled', class: 'digits', cell: ({ used }) => amount(used, unit) },
      { title: 'reserved', class: 'digits', cell: ({ held }) => amount(held, unit) },
      { title: 'window', cell: ({ window }) => window },
    ],
  })
}

type Use = Budget['use'][number]

/** From this share on, the bar warns. */
const nearlyUsed = 0.8

type Used = { share: number; used: number; soft: number | null; hard: number | null }

function stateOf({ share, used, soft, hard }: Used): { tone: string; text: string } {
  if (hard !== null && share >= 1) return { tone: 'bad', text: ', used up' }
  if (soft !== null && used >= soft) return { tone: 'warning', text: ', soft amount reached' }
  return { tone: share >= nearlyUsed ? 'warning' : '', text: '' }
}

function amountsText({ soft, hard, window, unpriced }: Budget, unit: Unit): string {
  const amounts = [
    ...(hard === null ? [] : [`hard limit ${amount(hard, unit)}`]),
    ...(soft === null ? [] : [`warns at ${amount(soft, unit)}`]),
  ]
  const rule =
    unpriced === 'allow' ? 'Unknown prices count nothing.' : 'Models of unknown price are refused.'
  return `In each ${window}: ${amounts.join(', ')}.${unit === 'usd' ? ` ${rule}` : ''}`
}

function amount(value: number, unit: Unit): string {
  return unit === 'tokens' ? `${number(value)} tokens` : shownAmount(value, unit)
}
