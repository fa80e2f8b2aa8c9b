// Small pieces of text and markup that several parts of the page use.

import { printable } from '../../terminal/printable.ts'
import type { Phrase } from './data.ts'
import { type Child, element } from './element.ts'

export function phrases(sentence: Phrase[]): Child[] {
  return sentence.map((phrase) => (typeof phrase === 'string' ? phrase : code(phrase.code)))
}

/** On one line: a line end in it is shown as such. */
export function code(text: string, kind = ''): HTMLElement {
  return element('code', { class: kind }, printable(text))
}

/**
 * Texts beyond this are cut until somebody wants all of them: a browser lays out all that it is
 * given.
 */
const quotedCharactersMax = 4_000

/** Text that somebody else wrote, with its own lines. */
export function quote(text: string, kind = ''): HTMLElement {
  const block = element(
    'pre',
    { class: `quote ${kind}`, tabindex: text.length > 400 ? '0' : undefined },
    text.slice(0, quotedCharactersMax),
  )
  if (text.length <= quotedCharactersMax) return block
  const rest = element(
    'button',
    { type: 'button', class: 'more' },
    `Show all ${text.length.toLocaleString('en')} characters`,
  )
  rest.addEventListener('click', () => {
    const whole = element('pre', { class: `quote ${kind}`, tabindex: '0' }, text)
    frame.replaceWith(whole)
    whole.focus()
  })
  const frame = element('div', {}, block, rest)
  return frame
}

export function number(value: number): string {
  return value.toLocaleString('en')
}

export function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`
}
