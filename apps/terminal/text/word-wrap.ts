// Breaks and cuts lines to a width in columns of a terminal: wide characters have two columns,
// marks none. All texts must be printable already.

/**
 * Characters without a column: marks on a character, joiners, variation selectors (which are Mn).
 */
const markless = /\p{Mn}|\p{Me}|\p{Cf}/u
/**
 * Characters with two columns: East Asian wide characters and emoji. An approximation of Unicode's
 * tables: an error only breaks a line one column early.
 */
const wide =
  /[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\p{Emoji_Presentation}]/u

/** The number of columns of a text. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const character of text)
    if (!markless.test(character)) columns += wide.test(character) ? 2 : 1
  return columns
}

/** The text, cut to `columns`. A cut text ends in an ellipsis. */
export function cutToColumns(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : `${text.slice(0, lengthWithin(text, columns - 1))}…`
}

/**
 * Breaks a text on one line into lines, between words. Indents the second and later ones by
 * `indent`.
 */
export function wrapped(text: string, columns: number, indent = ''): string[] {
  const { lines, rest } = flow('', text, columns, indent)
  return [...lines, rest]
}

/**
 * Breaks a text on one line into full lines, at any character. Joined, the lines are the text.
 * Each has at least one character.
 */
export function brokenAnywhere(text: string, columns: number): string[] {
  const lines: string[] = []
  let left = text
  for (;;) {
    const fits = lengthWithin(left, columns)
    if (fits === left.length) return [...lines, left]
    const [first = ''] = left
    const end = Math.max(fits, first.length)
    lines.push(left.slice(0, end))
    left = left.slice(end)
  }
}

/**
 * Adds text to a line: the full lines, and the rest. Breaks a word that does not fit into a line.
 * Only the blanks at a break are lost, so the indentation of code stays. Each line has at least one
 * character of the text, even if `columns` is smaller.
 */
export function flow(
  rest: string,
  more: string,
  columns: number,
  indent = '',
): { lines: string[]; rest: string } {
  const lines: string[] = []
  let left = rest + more
  for (;;) {
    const fits = lengthWithin(left, columns)
    if (fits === left.length) return { lines, rest: left }
    const end = breakAt(left, fits, left.startsWith(indent) ? indent.length : 0)
    lines.push(left.slice(0, end).trimEnd())
    const behind = left.slice(end).trimStart()
    if (behind === '') return { lines, rest: indent }
    left = indent + behind
  }
}

/**
 * The place to break a text of which `fits` characters fit: after the last blank between two words,
 * or inside a long word. Never in the indent: it comes back on the next line, so the rest would not
 * get shorter.
 */
function breakAt(text: string, fits: number, indent: number): number {
  const [next = ''] = text.slice(indent)
  const middle = Math.max(fits, indent + next.length)
  const first = text.slice(indent).search(/\S/) + indent
  if (first < indent || first >= fits) return middle
  const blank = text.lastIndexOf(' ', fits)
  return blank > first ? blank + 1 : middle
}

/** The number of code units that fit into `columns`. Never splits a character. */
function lengthWithin(text: string, columns: number): number {
  let length = 0
  let used = 0
  for (const character of text) {
    used += columnsOf(character)
    if (used > columns) break
    length += character.length
  }
  return length
}
