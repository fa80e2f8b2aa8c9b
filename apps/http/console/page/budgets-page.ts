// Budgets: their limits, and the use of each window that is open, settled and reserved. Each change is
// behind a confirmation.

import { shownAmount } from '../../../terminal/text/money-text.ts'
import { number, personName } from './ago.ts'
import { budgetRemoval, changedBudget, newBudget } from './budget-changes.ts'
import type { Confirmations } from './confirmation.ts'
import { html } from './html.ts'
import type { BudgetsData } from './operator-state.ts'
import { polled } from './poll.ts'

export type BudgetsPage = { open(): void; leave(): void; view(): unknown }

type Budget = BudgetsData['budgets'][number]
type Unit = NonNullable<Budget['unit']>

const refreshMs = 5_000

export function budgetsPage(onChange: () => void, confirmations: Confirmations): BudgetsPage {
  const polling = polled<BudgetsData>(onChange, refreshMs)

  function card(budget: Budget) {
    const { id, unit, setBy, use, more } = budget
    const title = `budget-${id}`
    const change = changedBudget(budget, polling.refresh)
    return html`<article class="card budget" role="listitem" key=${id} data-budget=${id} aria-labelledby=${title}>
      <header>
        <h2 id=${title}><code>${id}</code></h2>
        ${setBy !== null && html`<span class="faint deadline">set by ${personName(setBy)}</span>`}
      </header>
      ${
        unit === null
          ? html`<p class="bad">The record cannot be read. No model request starts until it is removed.</p>`
          : html`<p class="amounts">${amountsText(budget, unit)}</p>
            ${use.length === 0 ? html`<p class="faint">Nothing is used in an open window.</p>` : useTable(budget, unit)}
            ${more > 0 && html`<p class="faint">${number(more)} more with less use: weir budget list prints them.</p>`}`
      }
      <p class="buttons">
        ${change !== undefined && html`<button type="button" onClick=${() => confirmations.open(change)}>Change…</button>`}
        <button type="button" onClick=${() => confirmations.open(budgetRemoval(id, polling.refresh))}>Remove…</button>
      </p>
    </article>`
  }

  return {
    open: () => polling.open('budgets'),
    leave: () => polling.leave(),
    view() {
      const { data, problem } = polling
      const budgets = data?.budgets ?? []
      return html`<main class="operator">
        <h1 class="title">${data !== undefined && budgets.length === 0 ? 'No budget is in force' : 'Budgets'}</h1>
        <p class="faint">
          Days and months are in UTC. Use is settled after an answer. A running model request reserves
          the most that it can use.
        </p>
        ${confirmations.note !== null && html`<p class="good" role="status">${confirmations.note}</p>`}
        ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
        <div class="waiting" role="list" aria-label="Budgets">${budgets.map(card)}</div>
        <p class="buttons">
          <button type="button" onClick=${() => confirmations.open(newBudget(polling.refresh))}>New budget…</button>
        </p>
      </main>`
    },
  }
}

function useTable({ id, use, hard, soft }: Budget, unit: Unit) {
  const limit = hard ?? soft ?? 0
  return html`<div class="wide" tabindex="0" role="region" aria-label=${`Use of ${id}`}>
    <table>
      <thead>
        <tr>
          <th scope="col">tenant</th><th scope="col">of</th><th scope="col">use</th>
          <th scope="col" class="digits">settled</th><th scope="col" class="digits">reserved</th>
          <th scope="col">window</th>
        </tr>
      </thead>
      <tbody>
        ${use.map(({ tenant, subject, window, used, held }) => {
          const share = limit === 0 ? 1 : (used + held) / limit
          const { tone, text } = stateOf({ share, used, soft, hard })
          const softShare = soft === null || limit === 0 ? nearlyUsed : Math.min(1, soft / limit)
          return html`<tr key=${`${tenant}/${subject}/${window}`}>
            <td>${tenant}</td><td>${subject === '' ? 'the tenant' : subject}</td>
            <td class=${tone}>
              <meter
                min="0" max="1" optimum="0" low=${Math.min(softShare, nearlyUsed)} high="0.999999"
                value=${Math.min(1, share)} aria-hidden="true"
              ></meter> ${number(Math.round(share * 100))} %${text}
            </td>
            <td class="digits">${amount(used, unit)}</td><td class="digits">${amount(held, unit)}</td>
            <td>${window}</td>
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}

/** From this share on, the bar warns. */
const nearlyUsed = 0.8

type Use = { share: number; used: number; soft: number | null; hard: number | null }

function stateOf({ share, used, soft, hard }: Use): { tone: string; text: string } {
  if (hard !== null && share >= 1) return { tone: 'bad', text: ', used up' }
  if (soft !== null && used >= soft) return { tone: 'warning', text: ', soft amount reached' }
  return { tone: share >= nearlyUsed ? 'warning' : '', text: '' }
}

function amountsText({ soft, hard, window, unpriced }: Budget, unit: Unit): string {
  const amounts = [
    ...(hard === null ? [] : [`no model request from ${amount(hard, unit)}`]),
    ...(soft === null ? [] : [`an event from ${amount(soft, unit)}`]),
  ]
  const rule =
    unpriced === 'allow' ? 'Unknown prices count nothing.' : 'Models of unknown price are refused.'
  return `In each ${window}: ${amounts.join(', ')}.${unit === 'usd' ? ` ${rule}` : ''}`
}

function amount(value: number, unit: Unit): string {
  return unit === 'tokens' ? `${number(value)} tokens` : shownAmount(value, unit)
}
