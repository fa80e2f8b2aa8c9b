// The parts of both pages: figures, tables, cards, dialogs, fields and notes.

import { number } from '../../terminal/text/quantities.ts'
import { type Child, html, stateful } from './html.ts'

type Attributes = Record<string, unknown>

/** `about`: next to the value. */
export type Figure = { name: string; value: string; about?: Child; isBad?: boolean }

export function figures(items: Figure[]): Child {
  return html`<dl class="figures">
    ${items.map(
      ({ name, value, about = false, isBad = false }) =>
        html`<div class=${isBad ? 'bad' : ''}>
          <dt>${name}</dt><dd><b>${value}</b>${about && html`<span>${about}</span>`}</dd>
        </div>`,
    )}
  </dl>`
}

/** Names and values. A value that is false, null or undefined is left out with its name. */
export function pairs(items: (readonly [name: Child, value: Child])[]): Child {
  return html`<dl class="pairs">
    ${items.map(
      ([name, value]) =>
        value !== false && value != null && html`<dt>${name}</dt><dd>${value}</dd>`,
    )}
  </dl>`
}

/** `class`: of each cell; `digits` is also for the head. */
type Column<Row> = {
  title: Child
  cell: (row: Row) => Child
  class?: string | ((row: Row) => string)
}

export type Table<Row> = {
  columns: Column<Row>[]
  rows: readonly Row[]
  class?: string
  /** The attributes of a row, such as its key. */
  row?: (row: Row) => Attributes
}

export function table<Row>({ columns, rows, row = () => ({}), class: kind }: Table<Row>): Child {
  const classOf = (of: Column<Row>['class'], one: Row) => (typeof of === 'function' ? of(one) : of)
  return html`<table class=${kind}>
    <thead>
      <tr>
        ${columns.map(
          ({ title, class: of }) =>
            html`<th scope="col" class=${typeof of === 'string' ? of : undefined}>${title}</th>`,
        )}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (one) => html`<tr ...${row(one)}>
          ${columns.map(({ cell, class: of }) => html`<td class=${classOf(of, one)}>${cell(one)}</td>`)}
        </tr>`,
      )}
    </tbody>
  </table>`
}

/** A table that scrolls to the side. */
export function wideTable<Row>(label: string, options: Table<Row>, kind = ''): Child {
  return html`<div class=${`wide ${kind}`} tabindex="0" role="region" aria-label=${label}>
    ${table(options)}
  </div>`
}

/** `kind`, `id`: its data attribute. `head`: next to the name. */
type Card = { kind: string; id: string; name?: string; head?: Child; class?: string }

/** `attributes`: others, such as a tabindex. */
export function card(
  { kind, id, name = id, head, class: own = kind }: Card,
  body: Child,
  attributes: Attributes = {},
): Child {
  const title = `${kind}-${id}`
  const data = { [`data-${kind}`]: id, ...attributes }
  return html`<div
    class=${`card ${own}`} role="listitem" key=${id} aria-labelledby=${title} ...${data}
  >
    <header><h2 id=${title}><code>${name}</code></h2>${head}</header>
    ${body}
  </div>`
}

/** `label`: of all cards. */
export function cards(label: string, items: Child[]): Child {
  return html`<div class="waiting" role="list" aria-label=${label}>${items}</div>`
}

/** `head`: next to the title. */
type Dialog = { kind: string; title: string; onClose: () => void; head?: Child }

/** Opens at its first drawing. The page removes it in `onClose`. */
export function dialog({ kind, title, onClose, head }: Dialog, body: Child): Child {
  const open = (node: HTMLDialogElement | null) => {
    if (node !== null && !node.open) node.showModal()
  }
  return html`<dialog class=${`help ${kind}`} aria-labelledby="dialog-title" onClose=${onClose} ref=${open}>
    <header><h2 id="dialog-title">${title}</h2>${head}</header>
    ${body}
  </dialog>`
}

/** Closes the dialog around it. */
export const closeButton = (focus = false) =>
  html`<button
    type="button" class="quiet" autofocus=${focus}
    onClick=${(event: Event) => (event.currentTarget as HTMLElement).closest('dialog')?.close()}
  >Close</button>`

/** `values`: with their texts if these differ. */
export type Select = {
  name: string
  value: string | undefined
  values: readonly (string | readonly [value: string, text: string])[]
  onChange: (value: string) => void
}

export function select({ name, value, values, onChange }: Select): Child {
  const change = (event: Event) => onChange((event.currentTarget as HTMLSelectElement).value)
  return html`<select name=${name} onChange=${change}>
    ${values.map((one) => {
      const [own, text] = typeof one === 'string' ? [one, one] : one
      return html`<option value=${own} selected=${own === value}>${text}</option>`
    })}
  </select>`
}

/** A page that still reads its data. */
export function readingPage(title: Child, text: string): Child {
  return html`<main>
    <h1 class="title">${title}</h1>
    <p class="faint" role="status">${text}</p>
  </main>`
}

/** Null: no problem. */
export function alert(problem: string | null): Child {
  return problem !== null && html`<p class="bad" role="alert">${problem}</p>`
}

/** Null: no note. */
export function status(note: string | null | undefined, tone = 'warning'): Child {
  return note != null && html`<p class=${tone} role="status">${note}</p>`
}

/** Its content is made when it is opened first. */
export const folded = (kind: string, summary: Child, content: () => Child): Child =>
  html`<${Folded} kind=${kind} summary=${summary} content=${content} />`

type FoldedProps = { kind: string; summary: Child; content: () => Child }

const Folded = stateful(false, ({ kind, summary, content }: FoldedProps, isMade, set) => {
  const onToggle = (event: Event) => {
    if ((event.currentTarget as HTMLDetailsElement).open) set(true)
  }
  return html`<details class=${kind} onToggle=${onToggle}>
    <summary>${summary}</summary>${isMade && content()}
  </details>`
})

/** A button that its content replaces. */
export const more = (text: string, content: () => Child): Child =>
  html`<${More} text=${text} content=${content} />`

const More = stateful(
  false,
  ({ text, content }: { text: string; content: () => Child }, isMade, set) =>
    isMade
      ? content()
      : html`<button type="button" class="more" onClick=${() => set(true)}>${text}</button>`,
)

/** Longer texts are cut until the user opens them: a browser lays out all text on the page. */
const quotedCharactersMax = 4_000

/** Foreign text with its own line breaks. */
export function quote(text: string, kind = ''): Child {
  return html`<${Quote} text=${text} kind=${kind} />`
}

const Quote = stateful(false, ({ text, kind }: { text: string; kind: string }, isWhole, set) => {
  const name = `quote ${kind}`
  if (isWhole) return html`<pre class=${name} tabindex="0" ref=${focus}>${text}</pre>`
  const tabindex = text.length > 400 ? '0' : undefined
  const block = html`<pre class=${name} tabindex=${tabindex}>${text.slice(0, quotedCharactersMax)}</pre>`
  if (text.length <= quotedCharactersMax) return block
  return html`<div>
    ${block}
    <button type="button" class="more" onClick=${() => set(true)}>
      Show all ${number(text.length)} characters
    </button>
  </div>`
})

function focus(node: HTMLElement | null): void {
  node?.focus()
}
