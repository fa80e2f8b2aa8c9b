// The filters of a list: a field for each key, and their values in the address.

import { html } from '../../../../page/kit/html.ts'
import { select } from '../../../../page/kit/parts.ts'
import type { FilterData } from '../console-state.ts'

/** The values of the address, by key of the filter, and `sort`. */
export type Filters = Record<string, string>

/** The filters of an address, such as `#/conversations?text=700`. */
export function filtersIn(hash: string): Filters {
  const [, query = ''] = hash.split('?', 2)
  return Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value !== ''))
}

/** The address of a page that has these filters. */
export function addressOf(page: string, filters: Filters): string {
  const query = `${new URLSearchParams(filters)}`
  return `#/${page}${query === '' ? '' : `?${query}`}`
}

/** An empty value removes the filter. */
export function withFilter(filters: Filters, key: string, value: string): Filters {
  const { [key]: _, ...others } = filters
  return value === '' ? others : { ...others, [key]: value }
}

/** Labels that differ from the key. */
const labels: Record<string, string> = {
  call: 'calls',
  failureClass: 'class',
  cap: 'limit',
  minTokens: 'tokens, at least',
  minCost: 'cost, at least',
  longerThan: 'longer than',
}

const examples: Record<string, string> = {
  minTokens: '100000',
  minCost: '0.5USD',
  longerThan: '5m',
  since: '1d ago',
  until: '1h ago',
}

/** The text that a person is typing into a field, which a redraw must keep. */
let draft: { key: string; text: string } | undefined

type Field = { value: string; onFilter(key: string, value: string): void }

export function filterField({ key, accepted, known }: FilterData, { value, onFilter }: Field) {
  const set = (given: string) => onFilter(key, given)
  const textOf = (event: Event) => (event.target as HTMLInputElement).value
  const onInput = (event: Event) => {
    draft = { key, text: textOf(event) }
  }
  const onChange = (event: Event) => {
    draft = undefined
    set(textOf(event))
  }
  // Follows the event of a change if there is one.
  const onBlur = () => {
    draft = undefined
  }
  const shown = draft?.key === key ? draft.text : value
  const list = `known-${key}`
  return html`<label key=${key} class="filter">
    <span class="name">${labels[key] ?? key}</span>
    ${
      accepted === null
        ? html`<input type="text" name=${key} value=${shown} placeholder=${examples[key] ?? 'all'} list=${known === null ? undefined : list} onInput=${onInput} onChange=${onChange} onBlur=${onBlur} />`
        : select({
            name: key,
            value,
            values: [['', 'all'], ...accepted.map(choice)],
            onChange: set,
          })
    }
    ${known !== null && html`<datalist id=${list}>${known.map((one) => html`<option value=${one}></option>`)}</datalist>`}
  </label>`
}

/** The value `any` of interventions. */
function choice(value: string): readonly [string, string] {
  return [value, value === 'any' ? 'any intervention' : value.replaceAll('_', ' ')]
}
