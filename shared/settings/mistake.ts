// A mistake in an agent file, and the one error that lists them all. The author of the file reads
// it on a terminal, so it names the place, the problem and the accepted values. It may quote the
// file, except where secrets can stand, and never the value of an environment variable.

import { everyInvisible } from '../contract/arguments/name-text.ts'
import { WeirError } from '../lib/errors.ts'

/** Keys and indexes, from the top of a file. */
export type Path = readonly (string | number)[]

/** Both count from 1. */
export type Place = { line: number; column: number }

/**
 * `text` completes the path to a sentence: "is missing; must be ...". An empty path means the whole
 * file.
 */
export type Mistake = Place & { file: string; path: Path; text: string }

const mistakesShownMax = 100
const shownCharactersMax = 60

/** The start of mistakes in a program: it has no file, and the path says it all. */
export const inCode: Pick<Mistake, 'file' | keyof Place> = { file: '', line: 0, column: 0 }

/**
 * The error `agent.invalid`, with a line `file:line:column path: text` for each mistake, ordered by
 * file and line.
 */
export function cannotUse(mistakes: readonly Mistake[]): WeirError {
  const files = [...new Set(mistakes.map(({ file }) => file))]
  const sorted = mistakes.toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column, // stable: mistakes of one place keep their order
  )
  const lines = sorted.slice(0, mistakesShownMax).map(lineOf)
  if (sorted.length > mistakesShownMax) lines.push(`and ${sorted.length - mistakesShownMax} more`)
  const subject = sorted.every(({ file }) => file === inCode.file) ? 'Agents' : 'Agent files'
  const title = `${subject} cannot be used: ${sorted.length} mistake${sorted.length === 1 ? '' : 's'}.`
  return new WeirError('agent.invalid', [title, ...lines].join('\n  '))
}

function lineOf({ file, line, column, path, text }: Mistake): string {
  if (file === inCode.file) return `${pathText(path)}: ${text}`
  const where = `${file}:${line}:${column}`
  return path.length === 0 ? `${where}: ${text}` : `${where} ${pathText(path)}: ${text}`
}

/** The steps of a JSON pointer. A key of digits becomes an index: both find the same value. */
export function pathOf(pointer: string): Path {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) =>
    /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~'),
  )
}

/** `tools[2].http.url` */
export function pathText(path: Path): string {
  const text = path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${bounded(step)}`))
    .join('')
  return visible(text.replace(/^\./, ''))
}

/** A value in a mistake: short, on one line. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return visible(JSON.stringify(bounded(value)))
  return typeof value === 'object' ? kindOf(value) : String(value)
}

/** The kind of a value that may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === '') return 'empty'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}

/** "a", "a or b", "a, b or c". */
export function alternatives(names: readonly string[], last = 'or'): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`
}

function bounded(text: string): string {
  return text.length > shownCharactersMax
    ? `${text.slice(0, shownCharactersMax).toWellFormed()}…`
    : text
}

/** Escapes control characters and characters that make a text look like another one. */
function visible(text: string): string {
  return text.replace(everyInvisible, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`)
}
