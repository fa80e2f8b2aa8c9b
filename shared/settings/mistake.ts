// A mistake in an agent file, and the one error that lists them all. It is read on a terminal by
// who wrote the file, so it says where, what, and what would be accepted; it may show what the file
// says, except where secrets can stand, and never what a variable of the environment holds.

import { WeirError } from '../lib/errors.ts'

/** Keys and indexes from the top of a file. */
export type Path = readonly (string | number)[]

/** Both from 1. */
export type Place = { line: number; column: number }

/**
 * `text` completes the path to a sentence: "is missing; must be ...". An empty path is the file as
 * a whole.
 */
export type Mistake = Place & { file: string; path: Path; text: string }

const mistakesShownMax = 100
const shownCharactersMax = 60

/**
 * The error `agent.invalid`, with a line `file:line:column path: text` for each mistake, in the
 * order of the files given and of their lines.
 */
export function cannotUse(mistakes: readonly Mistake[]): WeirError {
  const files = [...new Set(mistakes.map(({ file }) => file))]
  const sorted = mistakes.toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column, // stable: same place, as found
  )
  const lines = sorted.slice(0, mistakesShownMax).map(lineOf)
  if (sorted.length > mistakesShownMax) lines.push(`and ${sorted.length - mistakesShownMax} more`)
  const title =
    sorted.length === 1
      ? 'Agent files cannot be used: 1 mistake.'
      : `Agent files cannot be used: ${sorted.length} mistakes.`
  return new WeirError('agent.invalid', [title, ...lines].join('\n  '))
}

function lineOf({ file, line, column, path, text }: Mistake): string {
  const where = `${file}:${line}:${column}`
  return path.length === 0 ? `${where}: ${text}` : `${where} ${pathText(path)}: ${text}`
}

/**
 * The steps of a JSON pointer. It does not tell a key of digits from an index, and what is found
 * under both is the same.
 */
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

/** A value as a mistake shows it: short, on one line. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return visible(JSON.stringify(bounded(value)))
  return value === null ? 'empty' : typeof value === 'object' ? kindOf(value) : String(value)
}

/** What can be said of a value that may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? (value === '' ? 'empty' : 'a text') : `a ${typeof value}`
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

// What a terminal would obey, or what makes a text look like another one, is escaped. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`,
  )
}
