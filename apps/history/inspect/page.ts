// A page of text, line by line: labels on the left, text next to them, quotes below. Lines have a
// tone and no colour. The page makes all text printable, so callers cannot forget it.

import type { Tone } from '../../terminal/paint.ts'
import { printable, printableLines } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { columnsOf, cutToColumns, wrapped } from '../../terminal/text/word-wrap.ts'

export type Line = { text: string; tone: Tone }

export type Page = {
  readonly lines: Line[]
  /** Adds a line. */
  line(indent: number, text: string, tone?: Tone): void
  /** Adds a label with a text next to it. Further lines of the text start below the first. */
  entry(indent: number, label: string, text: string, tone?: Tone): void
  /**
   * Adds a foreign text with its own line breaks, after a bar. Shortens long texts and reports
   * that.
   */
  quote(indent: number, text: string): void
  /**
   * As entry, if `before` and the text fit on one line. Otherwise `before`, with the text as a
   * quote below.
   */
  entryOrQuote(indent: number, label: string, before: string, text: string): void
  blank(): void
}

/** `full`: does not shorten quotes. */
export type PageOptions = { columns: number; full: boolean }

/** Limits of a shortened quote: lines, and characters of each. */
const quotedLinesMax = 12
const quotedCharactersMax = 400
const labelColumns = 10

export function createPage({ columns, full }: PageOptions): Page {
  const lines: Line[] = []

  /**
   * Adds the text in lines. The first one follows `start`, the others `indent`, which is as wide.
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
