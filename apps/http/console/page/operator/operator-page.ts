// A page of an operator's settings: a title, the result of the last change, and a card for each
// setting, read again while the page is open.

import { type Child, html } from '../../../../page/kit/html.ts'
import { alert, cards, status } from '../../../../page/kit/parts.ts'
import type { Confirmations } from '../parts/confirmation.ts'
import { polled } from '../parts/poll.ts'

export type OperatorPage = { open(): void; leave(): void; view(now: number): Child }

type Context = { now: number; refresh: () => void }

export type OperatorPageOptions<Data> = {
  path: string
  refreshMs: number
  intro: string
  /** Of all cards. */
  label: string
  /** `data` undefined: not read yet. */
  title(data: Data | undefined): string
  cards(data: Data, context: Context): Child[]
  below(data: Data | undefined, context: Context): Child
}

export function operatorPage<Data>(
  onChange: () => void,
  confirmations: Confirmations,
  options: OperatorPageOptions<Data>,
): OperatorPage {
  const polling = polled<Data>(onChange, options.refreshMs)
  return {
    open: () => polling.open(options.path),
    leave: () => polling.leave(),
    view(now) {
      const { data, problem, refresh } = polling
      const context = { now, refresh }
      return html`<main class="operator">
        <h1 class="title">${options.title(data)}</h1>
        <p class="faint">${options.intro}</p>
        ${status(confirmations.note, 'good')} ${alert(problem)}
        ${cards(options.label, data === undefined ? [] : options.cards(data, context))}
        ${options.below(data, context)}
      </main>`
    },
  }
}
