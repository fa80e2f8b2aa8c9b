// The bar above the list: the selection of rounds, a search, the number of matches.

import { type Child, html } from '../../../page/kit/html.ts'
import { count } from '../../../terminal/text/quantities.ts'
import { type Kind, kinds } from './search.ts'

export type Toolbar = {
  /** `found`: a number of rounds. Undefined: all are shown. */
  view(kind: Kind, found: number | undefined): Child
  focus(): void
  /** Empties the search. False: it was empty already. */
  empty(): boolean
  /** Another view draws the bar from now on. */
  leave(): void
}

export type ToolbarActions = {
  onKind: (kind: Kind) => void
  onTyped: (query: string) => void
  /** The user types no more. */
  onQuiet: () => void
  onHelp: () => void
}

/** Waits while the user types: a search over thousands of rounds would block typing. */
const quietMs = 120

export function toolbar({ onKind, onTyped, onQuiet, onHelp }: ToolbarActions): Toolbar {
  let field: HTMLInputElement | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  const ref = (node: HTMLInputElement | null) => {
    field = node
  }

  function onInput(): void {
    onTyped(field?.value ?? '')
    clearTimeout(timer)
    timer = setTimeout(onQuiet, quietMs)
  }

  return {
    view: (kind, found) => html`<div class="toolbar" role="search">
      <fieldset class="kinds">
        <legend class="unseen">Which rounds</legend>
        ${kinds.map(
          (one) => html`<label>
            <input type="radio" name="kind" value=${one} checked=${one === kind} onChange=${() => onKind(one)} />
            <span>${one}</span>
          </label>`,
        )}
      </fieldset>
      <input
        type="search" placeholder="Search" aria-label="Search rounds" autocomplete="off"
        spellcheck="false" ref=${ref} onInput=${onInput}
      />
      <output class="faint" aria-live="polite">${found !== undefined && count(found, 'round')}</output>
      <button type="button" class="quiet" aria-haspopup="dialog" onClick=${onHelp}>Help<kbd>?</kbd></button>
    </div>`,
    focus() {
      field?.focus()
      field?.select()
    },
    empty() {
      clearTimeout(timer)
      if (field === null || field.value === '') return false
      field.value = ''
      return true
    },
    leave: () => clearTimeout(timer),
  }
}
