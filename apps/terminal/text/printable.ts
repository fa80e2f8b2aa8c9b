// Makes foreign text safe for a terminal: text of a model, a tool, a user or a file. A terminal
// obeys control sequences: it moves the cursor, sets the clipboard, answers with keystrokes. Other
// characters make a text look like another one. Invisible characters are shown as their numbers,
// so the terminal obeys none and the text stays complete.
// PRINTABLE-1. The result has no control character, no half of a surrogate pair, and no invisible
//     character but the joiner and the variation of an emoji.

/**
 * Cc: controls, including C1. Cf: directions, joiners, tags. Cs: half characters. Zl, Zp: foreign
 * line ends. Default_Ignorable: characters without a shape, whose 256 variations can hide any bytes.
 */
const unseen =
  /(?!(?<=\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)\u{200d}(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})[\u{fe0e}\u{fe0f}]|\u{fe0f}(?=\u{20e3}))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

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

/**
 * Controls but tab and line end, half characters, foreign line ends, and the format characters that
 * turn or hide text: directions that embed, override or isolate, and tags. Joiners stay, because
 * languages need them.
 */
const obeyed =
  /(?![\t\n])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{e0000}-\u{e007f}]/gu

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
