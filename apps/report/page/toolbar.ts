// The bar above the list: the selection of rounds, a search, the number of matches.

import { count } from '../../terminal/text/quantities.ts'
import { element, fill } from './element.ts'
import { type Kind, kinds } from './search.ts'

export type Toolbar = {
  node: HTMLElement
  /** Undefined: show all. */
  found(rounds: number | undefined): void
  focus(): void
  /** Shows all again. False: all were shown already. */
  clear(): boolean
}

/** Waits while the user types: a search over thousands of rounds would block typing. */
const quietMs = 120

export function toolbar({
  onKind,
  onQuery,
}: {
  onKind: (kind: Kind) => void
  onQuery: (query: string) => void
}): Toolbar {
  const search = element('input', {
    type: 'search',
    placeholder: 'Search   /',
    'aria-label': 'Search rounds',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const result = element('output', { class: 'faint', 'aria-live': 'polite' })
  const help = element(
    'button',
    { type: 'button', class: 'quiet', 'data-help': '', 'aria-haspopup': 'dialog' },
    'Help',
    element('kbd', {}, '?'),
  )
  const choices = kinds.map((kind) => {
    const radio = element('input', {
      type: 'radio',
      name: 'kind',
      value: kind,
      checked: kind === 'all',
      on: { change: () => onKind(kind) },
    })
    return element('label', {}, radio, element('span', {}, kind))
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  search.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => onQuery(search.value), quietMs)
  })

  const node = element(
    'div',
    { class: 'toolbar', role: 'search' },
    element(
      'fieldset',
      { class: 'kinds' },
      element('legend', { class: 'unseen' }, 'Which rounds'),
      choices,
    ),
    search,
    result,
    help,
  )
  return {
    node,
    found: (rounds) => fill(result, rounds === undefined ? '' : count(rounds, 'round')),
    focus() {
      search.focus()
      search.select()
    },
    clear() {
      const all = node.querySelector<HTMLInputElement>('input[value="all"]')
      if (search.value === '' && all?.checked === true) return false
      search.value = ''
      if (all !== null) all.checked = true
      clearTimeout(timer)
      onQuery('')
      onKind('all')
      return true
    },
  }
}
