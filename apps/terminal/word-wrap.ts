// Lines of a bounded width. A width is counted in columns of a terminal: wide characters take two,
// marks none. All texts here are printable already.

/**
 * Takes no column of its own: marks on a character, joiners, variation selectors (which are Mn).
 */
const markless = /\p{Mn}|\p{Me}|\p{Cf}/u
/**
 * Takes two: East Asian wide characters and emoji. Close enough to Unicode's tables for breaking
 * lines: an error of a column breaks one early.
 */
const wide =
  /[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\p{Emoji_Presentation}]/u

/** Columns that a text takes. */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let columns = 0
  for (const character of text)
    columns += markless.test(character) ? 0 : wide.test(character) ? 2 : 1
  return columns
}

/** The text's beginning, as far as `columns` go; what was cut ends in an ellipsis. */
export function cutToColumns(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : `${text.slice(0, lengthWithin(text, columns - 1))}…`
}

/**
 * A text on one line as lines, broken between words; the second and later ones are indented by
 * `indent`.
 */
export function wrapped(text: string, columns: number, indent = ''): string[] {
  const { lines, rest } = flow('', text, columns, indent)
  return [...lines, rest]
}

/**
 * A text on one line as lines that are full, broken wherever that is; joined they are the text.
 * Each takes at least a character.
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
 * A line that grows: the lines that are full, and what is left of it. A word that does not fit into
 * a line is broken. Nothing but the blanks at a break is left out, so the indentation of code
 * stays. Each line takes at least a character of the text, however narrow it is.
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
 * Where to break a text of which `fits` characters fit: after the last blank between two words, or
 * in the middle of a long one; never in the indent, which comes back on the next line, so that
 * nothing would get shorter.
 */
function breakAt(text: string, fits: number, indent: number): number {
  const [next = ''] = text.slice(indent)
  const middle = Math.max(fits, indent + next.length)
  const first = text.slice(indent).search(/\S/) + indent
  if (first < indent || first >= fits) return middle
  const blank = text.lastIndexOf(' ', fits)
  return blank > first ? blank + 1 : middle
}

/** How many code units of a text fit into `columns`; never half a character. */
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
