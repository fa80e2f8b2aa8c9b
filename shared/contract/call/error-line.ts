// Finds the error line in a failed program's output: the short reason of the result. It identifies
// loops of failures, so it must differ for different errors. The first line of a stack trace does
// not.

import { stripVTControlCharacters } from 'node:util'
import { onOneLine, shortened } from '../../lib/text-cut.ts'
import { codexResult } from '../codex-header.ts'
import { limits } from '../limits.ts'

/**
 * Frames, quoted sources and markers are indented. The others are lines that interpreters print
 * around every error.
 */
const noise = [
  /^\s/,
  /^Traceback \(most recent call last\):/,
  /^\S+:\d+(:\d+)?$/,
  /^Node\.js v\d/,
  /^(npm )?(warn(ing)?|info|debug)\b/i,
  /^\(node:\d+\)/,
]
/**
 * Characters of the output, and of each line, to search for the error. Bounded because removing
 * terminal codes is quadratic on hostile texts.
 */
const lookedAtMax = 64 * 1024
const lineLookedAtMax = 2_048
const namesAnError = /^(uncaught )?([\w$]+\.)*\w*(error|exception|panic|fatal)\w*\b/i

/** A line that only announces errors: `ERRORS:`, `=== FAILURES ===`, `Found 3 errors:`. */
const heading =
  /^[\s=*#_-]*(?:[\w-]+ ){0,4}(?:errors?|failures?|failed|exceptions?|problems?)(?: [\w-]+){0,2}(?: ?\(\d+\))?(?: *:|[ :]*[=*#_-]{2,})\s*$/i

/**
 * The line that names an error, otherwise the first line with text. A heading is no reason, so the
 * next line with text follows it. Undefined if there is none.
 */
export function errorLine(text: string): string | undefined {
  const ofCodex = codexResult(text.trimStart())
  if (ofCodex === undefined) return lineIn(text)
  return lineIn(ofCodex.output) ?? lineIn(ofCodex.ending)
}

function lineIn(output: string): string | undefined {
  const all = output
    .slice(0, lookedAtMax)
    .split(/\r?\n/)
    .map((line) => stripVTControlCharacters(line.slice(0, lineLookedAtMax)))
    .filter((line) => line.trim() !== '')
  const telling = all.filter((line) => !noise.some((pattern) => pattern.test(line)))
  const first = telling.find((candidate) => namesAnError.test(candidate)) ?? telling[0] ?? all[0]
  const line = first !== undefined && heading.test(first) ? lineAfter(all, first) : first
  return line === undefined ? undefined : shortened(onOneLine(line), limits.reasonBytesMax)
}

/** The first line after this heading that is none. The heading itself, if it is alone. */
function lineAfter(all: string[], first: string): string {
  return all.slice(all.indexOf(first) + 1).find((line) => !heading.test(line)) ?? first
}
