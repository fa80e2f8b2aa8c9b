// Colours, if the terminal supports them: none if the output is piped or NO_COLOR is set.

import { styleText } from 'node:util'

/** The role of a text, independent of its look. */
export type Tone = 'plain' | 'title' | 'faint' | 'good' | 'warning' | 'bad'

const formats = {
  plain: undefined,
  title: 'bold',
  faint: 'dim',
  good: 'green',
  warning: 'yellow',
  bad: 'red',
} as const

/** `text` must be printable already. */
export function painted(out: NodeJS.WriteStream, tone: Tone, text: string): string {
  const format = formats[tone]
  return format === undefined || text === '' ? text : styleText(format, text, { stream: out })
}

/**
 * The number of columns at which a text is cut: the terminal's width. Files and pipes have no such
 * limit.
 */
export function columnsToCut(out: NodeJS.WriteStream): number {
  return out.isTTY === true ? Math.max(40, out.columns || 80) : Number.POSITIVE_INFINITY
}

/** The columns of a line: the terminal's width, limited to a readable range. */
export function columnsOfOutput(out: NodeJS.WriteStream): number {
  return Math.max(40, Math.min(out.isTTY === true ? out.columns || 80 : 80, 100))
}
