// The arguments of a call, for a person who decides about it: exactly the arguments that the tool
// gets, complete and unambiguous.
// Two different texts never look the same. Each line starts with an indent, so
// arguments cannot imitate Weir's own lines.
// Consecutive, trailing and broken blanks are shown as ␣. A single blank between
// two words and the indentation of a line stay blank.

import { printable } from './printable.ts'
import { brokenAnywhere } from './word-wrap.ts'

/**
 * Blanks other than the ASCII blank, letters without a shape, and our own sign for a blank. They
 * are shown as their numbers.
 */
const blankLike = /(?! )\p{Zs}|[\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}␣]/gu

const indent = '    '
/** Marks a line break that is not part of the text. */
const indentBehindBreak = '  ↪ '

/** `columns`: the width of a line with its indent. Infinite: no line is broken. */
export function argumentLines(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const shown = printable(line).replace(
      blankLike,
      (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`,
    )
    return brokenAnywhere(shown, columns - indent.length).map(
      (piece, i) => (i === 0 ? indent : indentBehindBreak) + withVisibleBlanks(piece, i > 0),
    )
  })
}

function withVisibleBlanks(piece: string, goesOn: boolean): string {
  return piece.replace(goesOn ? /^ +|(?<=\S) {2,}| +$/g : /(?<=\S) {2,}| +$/g, (blanks) =>
    '␣'.repeat(blanks.length),
  )
}
