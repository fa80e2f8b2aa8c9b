// Evaluates the words of a script, as far as its text determines them.
// Owns: expansions, quotes, splitting.
// Does not own: the scripts in substitutions (script.ts walks them), a command's use of its words.
//
// SHELL-WORDS-1. A field without a placeholder is exactly the word that the command gets. In doubt,
//     a placeholder stands for it.
// SHELL-WORDS-2. An unquoted expansion may become several words, or none. An unknown beginning of a
//     field counts as any possible option.

import type { CommandExpansionPart, HereDoc, ParameterExpansionPart, Word, WordPart } from 'unbash'
import {
  anyCharacter,
  anyName,
  anything,
  condensed,
  isPlain,
  list,
  ownProcess,
  pipeName,
  withNames,
} from './field.ts'
import type { State } from './place.ts'
import { Refusal, shown } from './refusal.ts'

const fieldMax = 65_536
const fieldsMax = 10_000

/** The fields that a command's words become. */
export function fieldsOf(words: readonly Word[], state: State): string[] {
  const fields: string[] = []
  for (const word of words) {
    for (const parts of withoutBraces(word)) fields.push(...split(parts, state))
    if (fields.length > fieldsMax)
      throw new Refusal(
        'unknowable',
        `it has more than ${fieldsMax} words`,
        'Split it into several shorter commands.',
      )
  }
  return fields
}

/** A word that Bash neither splits nor matches against names: an assignment, a here-string. */
export function textOf(word: Word, state: State): string {
  const parts = partsOf(word)
  return bounded(
    parts.map((part, i) => (i === 0 && tilde(part, parts, state)) || whole(part, state)).join(''),
  )
}

/** The text of a here-document. */
export function bodyOf({ body, delimiter }: HereDoc, state: State): string {
  if (body.parts !== undefined)
    return bounded(body.parts.map((part) => whole(part, state)).join(''))
  return delimiter?.quoted === false ? body.text.replace(/\\([$`\\])|\\\n/g, '$1') : body.text
}

function bounded(text: string): string {
  return text.length > fieldMax ? anything : condensed(text)
}

function partsOf({ parts, pos, end, value, text }: Word): readonly WordPart[] {
  return parts ?? [{ type: 'Literal', pos, end, value, text }]
}

/** A word's parts, once for each text of its braces. Only plain lists and numbers are read. */
function withoutBraces(word: Word): (readonly WordPart[])[] {
  let variants: WordPart[][] = [[]]
  for (const part of partsOf(word)) {
    const texts = part.type === 'BraceExpansion' ? braced(part.text) : undefined
    if (part.type === 'BraceExpansion' && (texts?.length ?? 256) * variants.length >= 256)
      throw new Refusal(
        'unknowable',
        `${shown(part.text)} stands for words that cannot be seen beforehand`,
        'Write the words out instead of using braces.',
      )
    const choices: WordPart[] = texts?.map(
      (text) => ({ ...part, type: 'Literal', value: text, text }) as WordPart,
    ) ?? [part]
    variants = variants.flatMap((variant) => choices.map((choice) => [...variant, choice]))
  }
  return variants
}

/** `{a,b}` and `{1..9}`. Undefined: nested, quoted or with expansions. */
function braced(text: string): string[] | undefined {
  const inner = text.slice(1, -1)
  if (/^-?\d{1,9}\.\.-?\d{1,9}$/.test(inner)) return [anyName]
  return /['"\\$`{}]|\.\./.test(inner) ? undefined : inner.split(',').map(withNames)
}

function split(parts: readonly WordPart[], state: State): string[] {
  const fields: string[] = []
  let field: string | undefined
  for (const [i, part] of parts.entries()) {
    const home = i === 0 ? tilde(part, parts, state) : undefined
    const isSplit = /^(Simple|Parameter|Command)Expansion$/.test(part.type)
    const text = home ?? whole(part, state)
    const words = isSplit ? splitText(text, state) : [text]
    for (const [j, word] of words.entries()) {
      if (j > 0 && field !== undefined) {
        fields.push(field)
        field = undefined
      }
      field = bounded((field ?? '') + word)
    }
  }
  return field === undefined ? fields : [...fields, field]
}

/** Bash's treatment of an unquoted expansion: it splits at blanks and matches names. */
function splitText(text: string, { variables }: State): string[] {
  if (variables.has('IFS') && isPlain(text)) return [anything]
  // Blanks at its ends separate it from its neighbours, and the joined word is unknown.
  if (/^\s|\s$/.test(text)) return [anything]
  return list(text).map(withNames)
}

/** `~` and `~/…` at the beginning of a word. Undefined: there is none. */
function tilde(
  part: WordPart,
  { length }: readonly WordPart[],
  { variables }: State,
): string | undefined {
  if (part.type !== 'Literal' || !part.text.startsWith('~')) return undefined
  const folder = variables.get('HOME') ?? anything
  if (part.text === '~') return length === 1 ? folder : anything
  return part.text[1] === '/' ? folder + part.value.slice(1) : anything
}

/** The text of a part that is not split. */
function whole(part: WordPart, state: State): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => whole(child, state)).join('')
    case 'Glob':
      return part.kind === 'star' ? anyName : anyCharacter
    case 'ExtendedGlob':
      return anything
    case 'BraceExpansion':
      return part.text // braces are plain text where nothing is split
    case 'SimpleExpansion':
      return variable(part.text.slice(1), state)
    case 'ParameterExpansion':
      return parameter(part, state)
    case 'CommandExpansion':
      return output(part, state)
    case 'ArithmeticExpansion':
      return '1' // some number: any number works as part of a path
    case 'ProcessSubstitution':
      return pipeName
    default:
      return unknownPart(part)
  }
}

function unknownPart(part: never): never {
  throw new Refusal(
    'unreadable',
    `it has a part that this guard does not know (${shown(JSON.stringify(part) ?? '')})`,
    'Write it more simply.',
  )
}

const numbers = list('? $ # RANDOM SRANDOM LINENO SECONDS UID EUID PPID BASHPID EPOCHSECONDS SHLVL')

function variable(name: string, { folders, variables }: State): string {
  const value = variables.get(name)
  if (value !== undefined) return value
  if (name === '!') return ownProcess
  if (name === 'PWD') return folders?.length === 1 ? (folders[0] as string) : anything
  return numbers.includes(name) ? '1' : anything
}

function parameter({ prefix, index, operation, parameter }: ParameterExpansionPart, state: State) {
  if (prefix === '#') return '1'
  if (prefix !== undefined || index !== undefined) return anything
  const value = variable(parameter, state)
  if (operation === undefined) return value
  const keepsValue = operation.type === 'Default' && !operation.operator.endsWith('+')
  return keepsValue && isPlain(value) && value !== '' ? value : anything
}

/** The output of a command. Known only for a few commands, well enough to write below it. */
function output({ script }: CommandExpansionPart, state: State): string {
  const command = script?.commands[0]?.command
  if (script?.commands.length !== 1 || command?.type !== 'Command') return anything
  const words = [command.name, ...command.args]
  if (command.redirects.length > 0 || command.prefix.length > 0) return anything
  if (!words.every((word) => word?.type === 'Word' && word.parts === undefined)) return anything
  const text = words.map((word) => (word?.type === 'Word' ? word.value : '')).join(' ')
  if (text === 'pwd') return variable('PWD', state)
  if (text === 'jobs -p') return ownProcess
  if (/^mktemp( -d)?$/.test(text) && !state.variables.has('TMPDIR')) return `/tmp/tmp.${anyName}`
  return /^date \+(%[YmdHMSFTjsyNu]|[A-Za-z0-9_:-])+$/.test(text) ? anyName : anything
}
