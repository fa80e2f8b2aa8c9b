// A page of text for people, line by line: labels on the left, text beside them, quotes below.
// Nothing is coloured here, each line has a tone; and everything that goes in is made printable
// here, so that no caller can forget it.

import type { Tone } from '../../terminal/paint.ts'
import { printable, printableLines } from '../../terminal/printable.ts'
import { count } from '../../terminal/quantities.ts'
import { columnsOf, cutToColumns, wrapped } from '../../terminal/word-wrap.ts'

export type Line = { text: string; tone: Tone }

export type Page = {
  readonly lines: Line[]
  /** A line of its own. */
  line(indent: number, text: string, tone?: Tone): void
  /** A label and a text beside it, which goes on below itself. */
  entry(indent: number, label: string, text: string, tone?: Tone): void
  /**
   * A text that somebody else wrote, with its own lines, behind a bar. What is over the bounds is
   * left out with a word about it.
   */
  quote(indent: number, text: string): void
  /**
   * As entry where `before` and the text fit on one line together, else `before` and a quote below
   * it.
   */
  entryOrQuote(indent: number, label: string, before: string, text: string): void
  blank(): void
}

/** `full`: quotes are not cut. */
export type PageOptions = { columns: number; full: boolean }

/** Of a quote that is cut: lines as they are written, and characters of each. */
const quotedLinesMax = 12
const quotedCharactersMax = 400
const labelColumns = 10

export function createPage({ columns, full }: PageOptions): Page {
  const lines: Line[] = []

  /**
   * The text in lines, the first one behind `start`, the others behind `indent`, which is as wide.
   */
  function put(start: string, indent: string, text: string, tone: Tone): void {
    for (const [index, line] of wrapped(text, columns - columnsOf(start)).entries())
      lines.push({ text: `${index === 0 ? start : indent}${line}`.trimEnd(), tone })
  }

  const page: Page = {
    lines,

    line(indent, text, tone = 'plain') {
      const start = ' '.repeat(indent)
      put(start, start, printable(text), tone)
    },

    entry(indent, label, text, tone = 'plain') {
      const start = ' '.repeat(indent) + label.padEnd(labelColumns)
      put(start, ' '.repeat(start.length), printable(text), tone)
    },

    quote(indent, text) {
      const bar = `${' '.repeat(indent)}| `
      const all = printableLines(text)
      const shown = full ? all : all.slice(0, quotedLinesMax)
      let isCut = shown.length < all.length
      for (const line of shown) {
        const short = full ? line : cutToColumns(line, quotedCharactersMax)
        isCut ||= short !== line
        put(bar, bar, short, 'plain')
      }
      if (isCut)
        put(
          bar,
          bar,
          `… ${text.length} characters in ${count(all.length, 'line')}; --full shows all`,
          'faint',
        )
    },

    entryOrQuote(indent, label, before, text) {
      const whole = before === '' ? text : `${before} ${text}`
      const fits =
        !/[\r\n]/.test(text) && columnsOf(printable(whole)) + indent + labelColumns <= columns
      page.entry(indent, label, fits ? whole : before)
      if (!fits) page.quote(indent + 2, text)
    },

    blank: () => lines.push({ text: '', tone: 'plain' }),
  }
  return page
}
