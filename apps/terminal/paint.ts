// Colour, where the terminal wants it: none when the output is piped, or NO_COLOR is set.

import { styleText } from 'node:util'

/** What a piece of text is, not how it looks. */
export type Tone = 'plain' | 'title' | 'faint' | 'good' | 'warning' | 'bad'

const formats = {
  plain: undefined,
  title: 'bold',
  faint: 'dim',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
} as const

/** `text` is printable already. */
export function painted(out: NodeJS.WriteStream, tone: Tone, text: string): string {
  const format = formats[tone]
  return format === undefined || text === '' ? text : styleText(format, text, { stream: out })
}

/**
 * Columns behind which a text is cut: those of a terminal. Elsewhere nothing is: whoever reads a
 * file or a pipe has no line to keep to.
 */
export function columnsToCut(out: NodeJS.WriteStream): number {
  return out.isTTY === true ? Math.max(40, out.columns || 80) : Number.POSITIVE_INFINITY
}

/** Columns of a line: those of a terminal where there is one, within what reads well. */
export function columnsOfOutput(out: NodeJS.WriteStream): number {
  return Math.max(40, Math.min(out.isTTY === true ? out.columns || 80 : 80, 100))
}
