// Makes foreign text safe for a terminal: text of a model, a tool, a user or a file. A terminal
// obeys control sequences: it moves the cursor, sets the clipboard, answers with keystrokes. Other
// characters make a text look like another one. Invisible characters are shown as their numbers,
// so the terminal obeys none and the text stays complete.
// The result has no control character, no half of a surrogate pair, and no invisible
// character but the joiner and the variation of an emoji.

import {
  controls,
  directionBegins,
  directionEnds,
  directionOverrides,
  formats,
  tags,
} from '../../../shared/lib/text/invisible.ts'

/** The joiner and the variation of an emoji, and of a key. */
const ofEmoji =
  /(?<=\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)\u{200d}(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})[\u{fe0e}\u{fe0f}]|\u{fe0f}(?=\u{20e3})/u

const unseen = new RegExp(`(?!${ofEmoji.source})[${controls}${formats}]`, 'gu')

/** True for most texts, and much faster than a look at each character. */
const isPlain = /^[\x20-\x7e]*$/

const names: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** On one line: a line end becomes `\n`, ESC becomes `\u{1b}`. */
export function printable(text: string): string {
  if (isPlain.test(text)) return text
  return text.replace(
    unseen,
    (found) => names[found] ?? `\\u{${found.codePointAt(0)?.toString(16)}}`,
  )
}

/**
 * Keeps line ends, and turns a tab into two spaces. A line end at the end of the text adds no
 * empty line.
 */
export function printableLines(text: string): string[] {
  const lines = text.split(/\r\n|\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines.map((line) => printable(line.replaceAll('\t', '  ')))
}

/** But tab and line end. Joiners stay, because languages need them. */
const obeyed = new RegExp(
  `(?![\\t\\n])[${controls}${directionBegins}${directionEnds}${directionOverrides}${tags}]`,
  'gu',
)

/** For a file or a pipe, which may end on a terminal: removes the characters that a terminal obeys. */
export function withoutControls(text: string): string {
  return isPlain.test(text) ? text : text.replace(obeyed, '')
}

/**
 * JSON on one line with the same value. Characters that a terminal might obey are JSON escapes.
 */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(unseen, (found) => found.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
