// Text for a terminal that somebody else wrote: a model, a tool, a user, a file. A terminal obeys
// control sequences (it moves the cursor, sets the clipboard, answers with keystrokes), and some
// characters make a text look like another one. What is unseen is shown as its number, so nothing
// is obeyed and nothing is lost.
// PRINTABLE-1. What comes out has no control character, no format character but the joiner inside
//     of an emoji, and no half of a surrogate pair.

/**
 * Cc: controls, C1 among them. Cf: directions, joiners, tags. Cs: half characters. Zl, Zp: line
 * ends that are none for us.
 */
const unseen =
  /(?!(?<=\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)\u{200d}(?=\p{Extended_Pictographic}))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Most texts, and much quicker to tell than to look closely at each character. */
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
 * Line by line: line ends are kept as such, and a tab is two spaces. A line end at the end makes no
 * empty line.
 */
export function printableLines(text: string): string[] {
  const lines = text.split(/\r\n|\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines.map((line) => printable(line.replaceAll('\t', '  ')))
}

/**
 * JSON on one line, and the same value for whoever parses it: what a terminal might obey is written
 * as an escape of JSON.
 */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(unseen, (found) => found.split('').map(escaped).join(''))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
