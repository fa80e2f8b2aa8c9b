// Shares and code that both pages show.

import { printable } from '../../terminal/text/printable.ts'
import { type Child, html } from './html.ts'

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`
}

/** On one line, with visible line ends. */
export function code(text: string): Child {
  return html`<code>${printable(text)}</code>`
}
