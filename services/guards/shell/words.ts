// Evaluates the words of a script, as far as its text determines them.
// Owns: expansions, quotes, splitting.
// Does not own: the scripts in substitutions (script.ts walks them), a command's use of its words.
//
// SHELL-WORDS-1. A field without a placeholder is exactly the word that the command gets. In doubt,
//     a placeholder stands for it.
// SHELL-WORDS-2. An unquoted expansion may become several words, or none. An unknown beginning of a
//     field counts as any possible option.

import type {
  CommandExpansionPart,
  DoubleQuotedChild,
  HereDoc,
  ParameterExpansionPart,
  Word,
  WordPart,
} from 'unbash'
import { braced } from './braces.ts'
import type { Environment } from './environment.ts'
import {
  anyCharacter,
  anyName,
  anything,
  anythingFromNet,
  condensed,
  isPlain,
  netPipeName,
  pipeName,
} from './field.ts'
import { readsNet } from './net.ts'
import { nameOf, resolved } from './paths.ts'
import { Refusal, shown } from './refusal.ts'

/** The facts for evaluating a word. `home`: undefined if unknown. */
export type Scope = { environment: Environment; home: string | undefined }

const fieldMax = 65_536
const fieldsMax = 10_000

/** The fields that a command's words become. */
export function fieldsOf(words: readonly Word[], scope: Scope): string[] {
  const fields: string[] = []
  for (const word of words) {
    for (const parts of withoutBraces(word)) fields.push(...split(parts, scope))
    if (fields.length > fieldsMax)
      throw new Refusal(
        'unknowable',
        `it has more than ${fieldsMax} words`,
        'Split it into several shorter commands.',
      )
  }
  return fields
}

/**
 * A word that Bash neither splits nor matches against names: an assignment, a here-string, the
 * subject of a case.
 */
export function textOf(word: Word, scope: Scope): string {
  const parts = partsOf(word)
  const text = parts
    .map(
      (part, i) => (i === 0 ? tilde(part, parts.length, scope) : undefined) ?? whole(part, scope),
    )
    .join('')
  return bounded(text)
}

/** The text of a here-document. */
export function bodyOf({ body, delimiter }: HereDoc, scope: Scope): string {
  if (body.parts !== undefined)
    return bounded(body.parts.map((part) => whole(part, scope)).join(''))
  return delimiter?.quoted === false
    ? body.text.replace(/\\([$`\\\n])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped))
    : body.text
}

function bounded(text: string): string {
  return text.length > fieldMax ? anything : condensed(text)
}

// ── Words ──

function partsOf(word: Word): readonly WordPart[] {
  return (
    word.parts ?? [
      { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
    ]
  )
}

/** A word's parts, once for each text of its braces. */
function withoutBraces(word: Word): (readonly WordPart[])[] {
  let variants: WordPart[][] = [[]]
  for (const part of partsOf(word)) {
    if (part.type !== 'BraceExpansion') {
      for (const variant of variants) variant.push(part)
      continue
    }
    const texts = braced(part.text)
    if (texts === undefined || texts.length * variants.length > 256)
      throw new Refusal(
        'unknowable',
        `${shown(part.text)} stands for words that cannot be told beforehand`,
        'Write the words out instead of using braces.',
      )
    variants = variants.flatMap((variant) =>
      texts.map((text) => [...variant, { ...part, type: 'Literal' as const, value: text, text }]),
    )
  }
  return variants
}

function split(parts: readonly WordPart[], scope: Scope): string[] {
  const fields: string[] = []
  let field: string | undefined
  const add = (text: string) => {
    field = (field ?? '') + text
    if (field.length > fieldMax) field = anything
  }
  for (const [i, part] of parts.entries()) {
    const home = i === 0 ? tilde(part, parts.length, scope) : undefined
    if (home !== undefined) add(home)
    else if (!isUnquotedExpansion(part)) add(whole(part, scope))
    else {
      const words = splitText(whole(part, scope), scope)
      if (words.length === 0) continue
      for (const [j, word] of words.entries()) {
        if (j > 0 && field !== undefined) {
          fields.push(field)
          field = undefined
        }
        add(word)
      }
    }
  }
  return (field === undefined ? fields : [...fields, field]).map(condensed)
}

function isUnquotedExpansion(part: WordPart): boolean {
  return (
    part.type === 'SimpleExpansion' ||
    part.type === 'ParameterExpansion' ||
    part.type === 'CommandExpansion'
  )
}

/** Bash's treatment of an unquoted expansion: it splits at blanks and matches names. */
function splitText(text: string, { environment }: Scope): string[] {
  if (environment.variables.has('IFS') && isPlain(text)) return [anything]
  // Blanks at its ends separate it from its neighbours, so the joined word is unknown.
  if (/^\s|\s$/.test(text)) return [anything]
  return text
    .split(/[ \t\n]+/)
    .filter((word) => word !== '')
    .map((word) =>
      word
        .replaceAll('*', anyName)
        .replaceAll('?', anyCharacter)
        .replace(/\[[^\]/]+\]/g, anyCharacter),
    )
}

/** `~` and `~/…` at the beginning of a word. Undefined: there is none. */
function tilde(part: WordPart, parts: number, { environment, home }: Scope): string | undefined {
  if (part.type !== 'Literal' || !part.text.startsWith('~')) return undefined
  const folder = environment.variables.get('HOME') ?? home ?? anything
  if (part.text === '~') return parts === 1 ? folder : anything
  return part.text[1] === '/' ? folder + part.value.slice(1) : anything
}

// ── Parts ──

/** The text of a part that is not split. */
function whole(part: WordPart, scope: Scope): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child: DoubleQuotedChild) => whole(child, scope)).join('')
    case 'Glob':
      return part.kind === 'star' ? anyName : anyCharacter
    case 'ExtendedGlob':
      return anything
    case 'BraceExpansion':
      return part.text // braces are plain text where nothing is split
    case 'SimpleExpansion':
      return variable(part.text.slice(1), scope)
    case 'ParameterExpansion':
      return parameter(part, scope)
    case 'CommandExpansion':
      return output(part, scope)
    case 'ArithmeticExpansion':
      return '1' // some number: any number works as part of a path
    case 'ProcessSubstitution':
      return part.script !== undefined && readsNet(part.script) ? netPipeName : pipeName
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

const numbers = new Set([
  '?',
  '$',
  '!',
  '#',
  'RANDOM',
  'SRANDOM',
  'LINENO',
  'SECONDS',
  'UID',
  'EUID',
  'PPID',
  'BASHPID',
  'EPOCHSECONDS',
  'SHLVL',
])

function variable(name: string, { environment, home }: Scope): string {
  const value = environment.variables.get(name)
  if (value !== undefined) return value
  if (name === 'HOME') return home ?? anything
  if (name === 'PWD')
    return environment.cwds?.length === 1 ? (environment.cwds[0] as string) : anything
  return numbers.has(name) ? '1' : anything
}

function parameter(part: ParameterExpansionPart, scope: Scope): string {
  if (part.prefix !== undefined || part.index !== undefined)
    return part.prefix === '#' ? '1' : anything
  const value = variable(part.parameter, scope)
  if (part.operation === undefined) return value
  const keepsValue =
    part.operation.type === 'Default' &&
    [':-', '-', ':=', '=', ':?', '?'].includes(part.operation.operator)
  return keepsValue && isPlain(value) && value !== '' ? value : anything
}

/** The output of a command. Known only for a few commands, well enough to write below it. */
function output({ script }: CommandExpansionPart, scope: Scope): string {
  if (script === undefined) return anything
  if (readsNet(script)) return anythingFromNet
  const [statement] = script.commands
  const command = statement?.command
  if (
    script.commands.length !== 1 ||
    command?.type !== 'Command' ||
    command.redirects.length > 0 ||
    command.name === undefined
  )
    return anything
  if (
    scope.environment.functions.has(command.name.value) ||
    !command.args.every((arg) => arg.type === 'Word' && arg.parts === undefined)
  )
    return anything
  const args = command.args.map((arg) => (arg.type === 'Word' ? arg.value : ''))
  switch (command.name.parts === undefined ? command.name.value : '') {
    case 'pwd':
      return args.length === 0 ? variable('PWD', scope) : anything
    case 'mktemp':
      return args.every((arg) => arg === '-d') && !scope.environment.variables.has('TMPDIR')
        ? `/tmp/tmp.${anyName}`
        : anything
    case 'date':
      return args.length === 1 &&
        /^\+[^/]*$/.test(args[0] as string) &&
        !/%[-_0^#+]*[0-9]*[EO]?[DxcC]|\.\./.test(args[0] as string)
        ? anyName
        : anything
    case 'nproc':
      return '1'
    case 'basename':
      return args.length === 1 &&
        !['.', '..', '/'].includes(nameOf(args[0] as string)) &&
        resolved(args[0] as string, '/') !== undefined
        ? nameOf(args[0] as string)
        : anything
    default:
      return anything
  }
}
