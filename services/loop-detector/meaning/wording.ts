// The wording of a search without hits. Questions in ever new words ask one thing. Patterns do so if
// they share a word; otherwise they may be the list of an audit.

import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { commandIn } from '../evidence/effect.ts'
import { soughtBy } from './sql.ts'

/**
 * The beginnings of the words of a pattern. `fields`: each of them may be another question. `about`: the
 * tables of a statement of SQL, for which no rows may be the good answer. Its texts are the pattern.
 */
export type Wording = 'question' | 'fields' | { words: string[]; about?: string }

export function wordingOf(value: unknown): Wording {
  if (!isObject(value)) return 'fields'
  const statement = soughtBy(value)
  if (statement !== undefined) {
    return { words: wordsIn(statement.texts.join(' ')), about: statement.tables.join(' ') }
  }
  const command = commandIn(value)
  if (command !== undefined) return { words: wordsIn(patternIn(command)) }
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string') continue
    if (questionName.test(name)) return 'question'
    if (patternName.test(name)) return { words: wordsIn(member) }
  }
  return 'fields'
}

/** The quoted texts, otherwise the first argument. */
function patternIn(command: string): string {
  const quoted = [...command.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, two]) => one ?? two)
  return quoted.length > 0
    ? quoted.join(' ')
    : (command.split(/\s+/).find((word, index) => index > 0 && !word.startsWith('-')) ?? '')
}

/** The beginnings of the words. A word may begin with a number, and has a letter. */
export function wordsIn(pattern: string): string[] {
  const words = pattern
    .slice(0, patternCharsMax)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/(?=\d*\p{L})[\p{L}\d]{2,}/gu)
  return words?.map((word) => word.slice(0, stemChars)) ?? []
}

/** The beginnings of the longer words, each once. */
export function stemsIn(text: string): string[] {
  return [...new Set(wordsIn(text).filter((word) => word.length > 3))]
}

/** The names in a text for a reader: paths, addresses, numbers, and words with an inner capital. */
export function namesIn(text: string): string[] {
  const tokens = text.slice(0, limits.loopMaskedCharsMax).match(token) ?? []
  return tokens.filter((one) => name.test(one))
}

const questionName =
  /^(?:query|q|search(?:_?(?:query|term|text))?|terms?|keywords?|text|prompt|question)$/i
const patternName = /^(?:pattern|regex|glob)$/i
const patternCharsMax = 512
/** `retry` and `retries` begin alike. */
const stemChars = 4
const token = /[\w./:@#~\\-]+/g
/** A digit, an inner sign or an inner capital. One pattern for both would take quadratic time. */
const name = /\d|\w[./:@_\\]\w|[a-z][A-Z]/
