// Guards as `weir inspect` shows them: its page for a terminal, as elements.

import type { GuardTimeline } from '../../../../shared/view/timeline.ts'
import type { Page } from '../../../history/inspect/page.ts'
import { printGuard } from '../../../history/inspect/print-guard.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { quote } from '../../../page/kit/parts.ts'

export function guardLines(guards: GuardTimeline[]): Child {
  const lines: Child[] = []
  const add = (indent: number, text: string, tone: string) =>
    lines.push(html`<p class=${`${tone}${indent > 4 ? ' under' : ''}`}>${text}</p>`)
  const page: Page = {
    lines: [],
    line: (indent, text, tone = 'plain') => add(indent, text, tone),
    entry: (indent, label, text, tone = 'plain') =>
      add(indent, label === 'guard' ? text : `${label} ${text}`, tone),
    quote: (_, text) => lines.push(quote(text)),
    entryOrQuote: (indent, label, before, text) =>
      add(indent, `${label} ${before} ${text}`, 'plain'),
    blank: () => {},
  }
  for (const guard of guards) printGuard(page, guard)
  return html`<div class="lines">${lines}</div>`
}
