// Conversations: filters, and a list that draws only the rows in the window.
// Every row has the height of the style, so a list of any length has its final height.

import type { PricedConversation } from '../../../../history/conversations/conversations.ts'
import { factTexts } from '../../../../history/facts-text.ts'
import { html } from '../../../../page/kit/html.ts'
import { alert, select } from '../../../../page/kit/parts.ts'
import { moneyText } from '../../../../terminal/text/money-text.ts'
import { count, number, wholeDuration } from '../../../../terminal/text/quantities.ts'
import type { FilterData } from '../console-state.ts'
import { conversationLink } from '../parts/ago.ts'
import { type Filters, filterField } from '../parts/filters.ts'
import type { ConversationPages } from './conversation-pages.ts'

export type ListContext = {
  now: number
  filters: Filters
  /** The keys of the filters, in the order of the form. */
  keys: readonly FilterData[]
  onFilter(key: string, value: string): void
  /** On a narrow page, whether the filters after the text are open. */
  showsFilters: boolean
  onToggle(): void
}

const orders = [
  ['', 'newest first'],
  ['cost', 'most expensive first'],
  ['tokens', 'most tokens first'],
  ['duration', 'longest turn first'],
] as const

/** Rows in front of the window and after it. */
const margin = 10

export function conversationsView(
  pages: ConversationPages,
  { now, filters, keys, onFilter, showsFilters, onToggle }: ListContext,
) {
  const used = Object.keys(filters).filter((key) => key !== 'text').length
  const { rows, problem } = pages
  return html`<main class="list">
    <h1 class="title">Conversations</h1>
    <form class=${showsFilters ? 'filters open' : 'filters'} role="search" onSubmit=${(event: Event) => event.preventDefault()}>
      <label>
        <span class="name">text</span>
        <input type="search" name="text" value=${filters.text ?? ''} placeholder="words" onInput=${(event: Event) => onFilter('text', (event.target as HTMLInputElement).value)} />
      </label>
      <button type="button" class="quiet toggle" aria-expanded=${showsFilters ? 'true' : 'false'} onClick=${onToggle}>
        Filters${used === 0 ? '' : ` (${used})`}
      </button>
      ${keys.map((one) => one.key !== 'text' && filterField(one, { value: filters[one.key] ?? '', onFilter }))}
      <label class="filter">
        <span class="name">order</span>
        ${select({ name: 'sort', value: filters.sort ?? '', values: orders, onChange: (value) => onFilter('sort', value) })}
      </label>
    </form>
    <p class="faint" role="status">${countsOf(pages)}</p>
    ${alert(problem)}
    ${windowOf(pages, rows, now)}
  </main>`
}

/** `12 of 1,212 conversations`. */
function countsOf({ rows, total, all, behind, isLoading, isWhole }: ConversationPages): string {
  const reading =
    behind === 0 ? '' : `, without ${count(behind, 'record')} that the search has still to read`
  if (total === null)
    return isLoading && rows.length === 0
      ? 'Loading the list.'
      : `${count(rows.length, 'conversation')}${isWhole ? '' : ', more below'}${reading}`
  const of = all === null || all === total ? '' : ` of ${number(all)}`
  return `${number(total)}${of} ${(all ?? total) === 1 ? 'conversation' : 'conversations'}${isLoading ? ', loading' : ''}${reading}`
}

function windowOf(pages: ConversationPages, rows: PricedConversation[], now: number) {
  const height = rowHeight()
  const top = document.querySelector<HTMLElement>('.rows')?.getBoundingClientRect().top ?? 0
  const first = Math.max(0, Math.floor(-top / height) - margin)
  const last = Math.min(rows.length, first + Math.ceil(innerHeight / height) + 2 * margin)
  if (last > rows.length - 200 && !pages.isLoading && !pages.isWhole) queueMicrotask(pages.more)
  const shown = rows.slice(first, last)
  return html`<div class="rows" role="list" aria-label="Conversations" style=${{ height: `${rows.length * height}px` }}>
    <div class="shown" style=${{ transform: `translateY(${first * height}px)` }}>
      ${shown.map((one, place) => row(one, { place: first + place, total: rows.length, now }))}
    </div>
  </div>`
}

function row(
  {
    conversation,
    agent,
    title,
    turns,
    inputTokens,
    outputTokens,
    facts,
    last,
    money,
  }: PricedConversation,
  { place, total, now }: { place: number; total: number; now: number },
) {
  const why = last.cap ?? last.class
  const tokens = inputTokens + outputTokens // of finished rounds: a first round that waits has none yet
  return html`<div role="listitem" key=${conversation} aria-posinset=${place + 1} aria-setsize=${total}>
    <a class="conversation-row" data-place=${place} href=${conversationLink(conversation)}>
    <span class="question">${title ?? 'Its text is no longer in the log.'}</span>
    <span class=${`outcome ${toneOf(last.outcome)}`}>${last.outcome}${why === null ? '' : ` (${why.replaceAll('_', ' ')})`}</span>
    <span class="faint about"><span class="id">${conversation}</span>${agent === null ? '' : ` · ${agent}`}</span>
    <span class="faint digits cost">
      ${count(turns, 'turn')}${tokens === 0 ? '' : ` · ${count(tokens, 'token')}`}${money === null ? '' : ` · ${moneyText(money)}`} · ${wholeDuration(now - last.at)} ago
    </span>
    <span class="warning notable">${factTexts(facts).join('; ')}</span>
    </a>
  </div>`
}

/** The style decides it. */
function rowHeight(): number {
  const text = getComputedStyle(document.documentElement).getPropertyValue('--conversation-height')
  return Number.parseFloat(text) || 64
}

/** The keys of the list: the next row, the one before. True: the key is used. */
export function listKey(key: string): boolean {
  if (key === '/') {
    document.querySelector<HTMLInputElement>('input[type=search]')?.focus()
    return true
  }
  if (key !== 'j' && key !== 'k') return false
  const current = Number(
    (document.activeElement as HTMLElement | null)?.dataset.place ?? (key === 'j' ? -1 : 0),
  )
  const next = document.querySelector<HTMLElement>(
    `[data-place="${current + (key === 'j' ? 1 : -1)}"]`,
  )
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
  return true
}

function toneOf(outcome: string): string {
  if (outcome === 'open' || outcome === 'forked') return 'faint'
  return outcome === 'answered' ? 'good' : 'bad'
}
