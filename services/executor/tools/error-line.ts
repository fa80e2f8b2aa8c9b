// The one line of a failed program's output that says what was wrong. It becomes the short reason
// of the result, by which a loop of failures is known: so it must differ where the errors differ,
// which the first line of a stack trace does not.

import { stripVTControlCharacters } from 'node:util'
import { limits } from '../../../shared/contract/limits.ts'
import { onOneLine, shortened } from '../../../shared/lib/text-cut.ts'

/**
 * Frames, quoted sources and markers are indented; the rest are lines that interpreters print
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
 * Characters of the output, and of each of its lines, in which the error is looked for: removing
 * terminal codes is quadratic on hostile texts.
 */
const lookedAtMax = 64 * 1024
const lineLookedAtMax = 2_048
const namesAnError = /^(uncaught )?([\w$]+\.)*\w*(error|exception|panic|fatal)\w*\b/i

/**
 * The line that names an error, else the first that says anything; undefined when there is none.
 */
export function errorLine(output: string): string | undefined {
  const all = output
    .slice(0, lookedAtMax)
    .split(/\r?\n/)
    .map((line) => stripVTControlCharacters(line.slice(0, lineLookedAtMax)))
    .filter((line) => line.trim() !== '')
  const telling = all.filter((line) => !noise.some((pattern) => pattern.test(line)))
  const line = telling.find((candidate) => namesAnError.test(candidate)) ?? telling[0] ?? all[0]
  return line === undefined ? undefined : shortened(onOneLine(line), limits.reasonBytesMax)
}
