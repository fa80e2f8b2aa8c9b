// The confirmation before a change of an operator: its effect, the same change as a command, and the
// fields that it needs.

import { html } from '../../../../page/kit/html.ts'
import { alert, closeButton, dialog, select } from '../../../../page/kit/parts.ts'
import { send } from './server.ts'

/** `values`: the choices of a field. Null: any text, of the `kind`. `lines`: several lines. */
export type Field = {
  name: string
  label: string
  value: string
  values: readonly string[] | null
  kind: 'text' | 'number' | 'lines'
  isOptional?: boolean
}

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

export function confirmations(onChange: () => void): Confirmations {
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

  function field({ name, label, values: choices, kind, isOptional = false }: Field) {
    const set = (value: string) => {
      values = { ...values, [name]: value }
      onChange()
    }
    const value = values[name] ?? ''
    const onInput = (event: Event) => set((event.target as HTMLInputElement).value)
    const given = { name, value, autocomplete: 'off', required: !isOptional, onInput }
    const text =
      kind === 'lines'
        ? html`<textarea rows="12" spellcheck="false" ...${given} />`
        : html`<input type=${kind} ...${given} />`
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
            ${fields.map(field)}
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
