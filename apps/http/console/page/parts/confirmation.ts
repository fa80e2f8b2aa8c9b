// The confirmation before a change of an operator: its effect, the same change as a command, and the
// fields that it needs.
// Here: parts that several pages use. Not here: a part of a single page.

import { html } from '../../../../page/kit/html.ts'
import { alert, closeButton, dialog, select } from '../../../../page/kit/parts.ts'
import type { FilterData } from '../console-state.ts'
import { read, send } from './server.ts'

/**
 * `values`: the choices of a field. Null: any text, of the `kind`. `lines`: several lines. `hint`: an
 * example of a value. `suggests`: names of this kind. `isShown`: false: the field has no effect.
 */
export type Field = {
  name: string
  label: string
  value: string
  values: readonly string[] | null
  kind: 'text' | 'number' | 'lines'
  hint?: string
  isOptional?: boolean
  suggests?(values: Values): Suggestion
  isShown?(values: Values): boolean
}

/** A key of the filters, whose known names it has. `open`: the conversations with an open turn. */
export type Suggestion = 'agent' | 'tenant' | 'tool' | 'open'

/** The values of the fields, by their names. */
export type Values = Record<string, string>

/** `path`, `body`: of the request. `done`: with its answer, a text for the page. */
export type Change = {
  title: string
  text: string
  fields: Field[]
  label: string
  command(values: Values): string
  path: string
  body(values: Values): object
  done(values: Values, answer: unknown): string
  onChanged?(): void
}

export type Confirmations = {
  /** Opens the dialog. */
  open(change: Change): void
  /** The dialog. False: none is open. */
  view(): unknown
  /** The result of the last change. Null: none. */
  readonly note: string | null
  /** Another page: closes the dialog, and forgets the note. */
  leave(): void
}

/** `openConversations`: those that a field suggests. */
export function confirmations(
  onChange: () => void,
  openConversations: () => string[],
): Confirmations {
  let filters: FilterData[] = []
  let change: Change | undefined
  let values: Values = {}
  let isBusy = false
  let problem: string | null = null
  let note: string | null = null

  async function confirm(own: Change): Promise<void> {
    isBusy = true
    problem = null
    onChange()
    try {
      const answer = await send(own.path, own.body(values))
      own.onChanged?.()
      note = own.done(values, answer)
      if (change === own) change = undefined
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error)
    }
    isBusy = false
    onChange()
  }

  /** Without an answer, the fields suggest nothing. */
  async function readNames(): Promise<void> {
    filters = await read<FilterData[]>('filters').catch(() => [])
    onChange()
  }

  function suggested(kind: Suggestion): readonly string[] {
    if (kind === 'open') return openConversations()
    return filters.find(({ key }) => key === kind)?.known ?? []
  }

  function field({
    name,
    label,
    values: choices,
    kind,
    hint,
    isOptional = false,
    suggests,
  }: Field) {
    const set = (value: string) => {
      values = { ...values, [name]: value }
      onChange()
    }
    const value = values[name] ?? ''
    const onInput = (event: Event) => set((event.target as HTMLInputElement).value)
    const list = suggests === undefined ? undefined : `names-of-${name}`
    const given = {
      name,
      value,
      list,
      placeholder: hint,
      autocomplete: 'off',
      required: !isOptional,
      onInput,
    }
    const text =
      kind === 'lines'
        ? html`<textarea rows="12" spellcheck="false" ...${given} />`
        : html`<input type=${kind} ...${given} />
            ${suggests !== undefined && html`<datalist id=${list}>${suggested(suggests(values)).map((one) => html`<option value=${one} />`)}</datalist>`}`
    return html`<label class="field" key=${name}>
      <span>${label}</span>
      ${choices === null ? text : select({ name, value, values: choices, onChange: set })}
    </label>`
  }

  function submit(event: Event): void {
    event.preventDefault()
    if (!isBusy && change !== undefined) void confirm(change)
  }

  return {
    get note() {
      return note
    },
    leave() {
      change = undefined
      note = null
    },
    open(given) {
      change = given
      values = Object.fromEntries(given.fields.map(({ name, value }) => [name, value]))
      problem = null
      note = null
      if (given.fields.some(({ suggests }) => suggests !== undefined)) void readNames()
      onChange()
    },
    view() {
      if (change === undefined) return false
      const { title, text, fields, command, label } = change
      const onClose = () => {
        change = undefined
        onChange()
      }
      return dialog(
        { kind: 'stop', title, onClose },
        html`<p>${text}</p>
          <form onSubmit=${submit}>
            ${fields.filter(({ isShown }) => isShown?.(values) ?? true).map(field)}
            <p class="faint">The same in a terminal:</p>
            <pre class="quote" tabindex="0" aria-label="Command">${command(values)}</pre>
            ${alert(problem)}
            <p class="buttons">
              <button type="submit" class="danger" disabled=${isBusy}>${label}</button>
              ${closeButton()}
            </p>
          </form>`,
      )
    },
  }
}
