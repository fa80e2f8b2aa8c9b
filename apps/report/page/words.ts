// Small texts and elements that several parts of the page use.

import { printable } from '../../terminal/text/printable.ts'
import type { Phrase } from './data.ts'
import { type Child, element } from './element.ts'

export function phrases(sentence: Phrase[]): Child[] {
  return sentence.map((phrase) => (typeof phrase === 'string' ? phrase : code(phrase.code)))
}

/** On one line, with visible line ends. */
export function code(text: string, kind = ''): HTMLElement {
  return element('code', { class: kind }, printable(text))
}

/**
 * Longer texts are cut until the user opens them: a browser lays out all text on the page.
 */
const quotedCharactersMax = 4_000

/** Foreign text with its own line breaks. */
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
