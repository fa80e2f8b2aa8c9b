// Evaluates the words of a script, as far as its text determines them.
// Owns: expansions, quotes, splitting.
// Does not own: the scripts in substitutions (script.ts walks them), a command's use of its words.
//
// A field without a placeholder is exactly the word that the command gets. In doubt,
// a placeholder stands for it.
// An unquoted expansion may become several words, or none. An unknown beginning of a
// field counts as any possible option.

import type { CommandExpansionPart, HereDoc, ParameterExpansionPart, Word, WordPart } from 'unbash'
import { Denial, notPlain, shown } from './denial.ts'
import { anyName, anything, isUnknown, list, ownProcess } from './field.ts'
import type { Facts } from './place.ts'

const fieldMax = 65_536
const fieldsMax = 10_000

/** The fields that a command's words become. */
export function fieldsOf(words: readonly Word[], facts: Facts): string[] {
  const fields: string[] = []
  for (const word of words) fields.push(...split(partsOf(word), facts))
  if (fields.length <= fieldsMax) return fields
  throw new Denial('unknowable', 'it has too many words', 'Split it into several commands.')
}

/** A word that Bash neither splits nor matches against names: an assignment, a here-string. */
export function textOf(word: Word, facts: Facts): string {
  const parts = partsOf(word)
  const texts = parts.map((part, i) => tilde(parts, i, facts) ?? whole(part, facts))
  return bounded(texts.join(''))
}

/** The text of a here-document. */
export function bodyOf({ body, delimiter }: HereDoc, facts: Facts): string {
  if (body.parts !== undefined)
    return bounded(body.parts.map((part) => whole(part, facts)).join(''))
  return delimiter?.quoted === false ? body.text.replace(/\\([$`\\])|\\\n/g, '$1') : body.text
}

/** Adjacent unknown parts become one of equal meaning. */
function bounded(text: string): string {
  if (text.length > fieldMax) return anything
  return text.replace(/[\uE000\uE001]{2,}/g, (row) => (isUnknown(row) ? anything : anyName))
}

function partsOf({ parts, pos, end, value, text }: Word): readonly WordPart[] {
  return parts ?? [{ type: 'Literal', pos, end, value, text }]
}

function split(parts: readonly WordPart[], facts: Facts): string[] {
  const fields: string[] = []
  let field: string | undefined
  for (const [i, part] of parts.entries()) {
    const isSplit = /^(Simple|Parameter|Command)Expansion$/.test(part.type)
    const text = tilde(parts, i, facts) ?? whole(part, facts)
    for (const [j, word] of (isSplit ? splitText(text) : [text]).entries()) {
      if (j > 0 && field !== undefined) fields.push(field)
      field = bounded((j > 0 ? '' : (field ?? '')) + word)
    }
  }
  return field === undefined ? fields : [...fields, field]
}

/** A plain list stands for any of its names. None is empty or begins with a dot or a dash. */
function braces(text: string): string {
  if (/^(?!.*(\.\.|[{,][-.,}]))\{[\w.,-]*\}$|^\{-?\d+\.\.-?\d+\}$/.test(text)) return anyName
  const what = `${shown(text)} stands for words that cannot be seen beforehand`
  throw new Denial('unknowable', what, 'Write the words out instead of using braces.')
}

/** Bash's treatment of an unquoted expansion: it splits at blanks and matches names. */
function splitText(text: string): string[] {
  // Blanks at its ends separate it from its neighbours, and the joined word is unknown.
  if (/^\s|\s$/.test(text)) return [anything]
  return list(text).map(withNames)
}

/** Replaces the characters with which Bash matches names. */
function withNames(text: string): string {
  return text.replace(/[*?]|\[[^\]/]+\]/g, anyName)
}

/** `~` and `~/…` at the beginning of a word. Undefined: there is none. */
function tilde(parts: readonly WordPart[], at: number, { variables }: Facts): string | undefined {
  const [part] = parts
  if (at > 0 || part?.type !== 'Literal' || !part.text.startsWith('~')) return undefined
  const folder = variables.get('HOME') ?? anything
  if (part.text === '~') return parts.length === 1 ? folder : anything
  return part.text[1] === '/' ? folder + part.value.slice(1) : anything
}

/** The text of a part that is not split. */
function whole(part: WordPart, facts: Facts): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => whole(child, facts)).join('')
    case 'Glob':
      return anyName
    case 'ExtendedGlob':
      return anything
    case 'BraceExpansion':
      return braces(part.text)
    case 'SimpleExpansion':
      return variable(part.text.slice(1), facts)
    case 'ParameterExpansion':
      return parameter(part, facts)
    case 'CommandExpansion':
      return output(part, facts)
    case 'ArithmeticExpansion':
      return '1' // some number: any number works as part of a path
    case 'ProcessSubstitution':
      return '/dev/fd/63'
    default:
      return unknownPart(part)
  }
}

function unknownPart(part: never): never {
  throw notPlain(`it has a part that this guard does not know (${JSON.stringify(part)})`)
}

function variable(name: string, { folders, variables }: Facts): string {
  const value = variables.get(name)
  if (value !== undefined) return value
  if (name === '!') return ownProcess
  if (name === 'PWD' && folders?.length === 1) return folders[0] ?? anything
  return /^([?$#]|S?RANDOM|LINENO|SECONDS|E?UID|EPOCHSECONDS)$/.test(name) ? '1' : anything
}

function parameter({ prefix, index, operation, parameter }: ParameterExpansionPart, facts: Facts) {
  if (prefix === '#') return '1'
  const isPlainRead = prefix === undefined && index === undefined && operation === undefined
  return isPlainRead ? variable(parameter, facts) : anything
}

/** The output of a command. Known only for a few commands, well enough to write below it. */
function output({ text, script }: CommandExpansionPart, facts: Facts): string {
  if (script?.commands.length !== 1) return anything
  const written = text.replace(/^\$\(\s*|\s*\)$|`/g, '')
  if (written === 'pwd') return variable('PWD', facts)
  if (written === 'jobs -p') return ownProcess
  if (/^mktemp( -d)?$/.test(written)) return `/tmp/tmp.${anyName}`
  return /^date \+(%[YmdHMSFTjsyNu]|[A-Za-z0-9_:-])+$/.test(written) ? anyName : anything
}
