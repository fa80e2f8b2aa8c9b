// The arguments of a call for a person who decides about them: exactly what the tool would get,
// nothing left out and nothing that looks like something else.
// ARGUMENT-LINES-1. Two texts that differ are shown as different lines, and no line of them stands
//     left of its indent, where Weir's own words begin.
// ARGUMENT-LINES-2. Blanks are seen: those that stand together, or where a line is broken or ends,
//     are ␣. Only one between two words, and what indents a line, stay blank.

import { printable } from './printable.ts'
import { brokenAnywhere } from './word-wrap.ts'

/**
 * Blanks that are no blank of ASCII, letters without a shape, and our own sign for a blank: shown
 * as their numbers.
 */
const blankLike = /(?! )\p{Zs}|[\u{115f}\u{1160}\u{2800}\u{3164}\u{ffa0}␣]/gu

const indent = '    '
/** A line end of our own, which the text does not have. */
const indentBehindBreak = '  ↪ '

/** `columns`: of a line with its indent; infinite where nothing needs to be broken. */
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
