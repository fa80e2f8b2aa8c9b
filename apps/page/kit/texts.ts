// Numbers and texts that both pages show.

import { printable } from '../../terminal/text/printable.ts'
import { type Child, html } from './html.ts'

export function number(value: number): string {
  return value.toLocaleString('en')
}

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`
}

/** `1 call`, `2,000 calls`. */
export function counted(value: number, noun: string): string {
  return `${number(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** On one line, with visible line ends. */
export function code(text: string): Child {
  return html`<code>${printable(text)}</code>`
}
