// Guards as `weir inspect` shows them: its page for a terminal, as elements.

import type { GuardTimeline } from '../../../shared/view/timeline.ts'
import type { Page } from '../../history/inspect/page.ts'
import { printGuard } from '../../history/inspect/print-guard.ts'
import { element } from './element.ts'
import { quote } from './words.ts'

export function guardLines(guards: GuardTimeline[]): HTMLElement {
  const list = element('div', { class: 'lines' })
  const add = (indent: number, text: string, tone: string) =>
    list.append(element('p', { class: `${tone}${indent > 4 ? ' under' : ''}` }, text))
  const page: Page = {
    lines: [],
    line: (indent, text, tone = 'plain') => add(indent, text, tone),
    entry: (indent, label, text, tone = 'plain') =>
      add(indent, label === 'guard' ? text : `${label} ${text}`, tone),
    quote: (_, text) => list.append(quote(text)),
    entryOrQuote: (indent, label, before, text) =>
      add(indent, `${label} ${before} ${text}`, 'plain'),
    blank: () => {},
  }
  for (const guard of guards) printGuard(page, guard)
  return list
}
