// The arguments of a call in one canonical form. Key order, blanks, the spelling of a number, and
// members that are absent, null, blank or `{}` make no difference. Linear in the argument text,
// except for the sorting of keys.

import { posix } from 'node:path'
import { isObject } from '../../lib/json/json-object.ts'
import { limits } from '../limits.ts'
import { type IdentityHints, identityOf } from './identity.ts'

export type ReadArguments = {
  canonical: string
  /** The parsed value. Undefined: the text is not JSON. */
  value: unknown
}

/** The form of empty arguments: `{}`, `{"command":""}` and no text at all. */
const nothing = '{}'

/**
 * `hints`: those of the tool. A text that is not JSON, or nested too deep, is its own canonical
 * form.
 */
export function readArguments(raw: string, hints?: IdentityHints | null): ReadArguments {
  if (raw.trim() === '') return { canonical: nothing, value: {} }
  try {
    const value = parse(raw)
    return { canonical: canonical(identityOf(value, hints)) ?? nothing, value }
  } catch {
    return { canonical: `text:${raw.trim()}`, value: undefined }
  }
}

type ReviveWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown

/** Keeps integers apart that a double cannot distinguish: ids are often that long. */
function parse(raw: string): unknown {
  if (!/\d{16}/.test(raw)) return JSON.parse(raw)
  // TypeScript's declaration of JSON.parse does not know the reviver's third parameter yet.
  const parseWithSource = JSON.parse as ReviveWithSource
  return parseWithSource(raw, (_, value, { source }) =>
    typeof value === 'number' &&
    source !== undefined &&
    /^-?\d+$/.test(source) &&
    !Number.isSafeInteger(value)
      ? BigInt(source)
      : value,
  )
}

/** Undefined: the value means the same as its absence. Throws RangeError for a value nested too deep. */
export function canonical(value: unknown, isPath = false, depth = 0): string | undefined {
  if (depth > limits.argumentDepthMax) throw new RangeError('nested too deep')
  if (value === null) return undefined
  if (typeof value === 'string') {
    const given = isPath ? cleanPath(value) : value
    if (plain.test(given)) return `"${given}"`
    const text = withoutBlanks(given)
    return text === '' ? undefined : quoted(text)
  }
  if (Array.isArray(value))
    return `[${value.map((item) => canonical(item, isPath, depth + 1) ?? 'null').join()}]`
  if (!isObject(value)) return String(value)

  let members = ''
  for (const key of Object.keys(value).sort()) {
    const member = canonical(value[key], namesPath(key), depth + 1)
    if (member !== undefined) members += `${members === '' ? '{' : ','}${quoted(key)}:${member}`
  }
  return members === '' ? undefined : `${members}}`
}

/** As JSON writes it. To escape: quote, backslash, control character, lone surrogate. */
function quoted(text: string): string {
  return /[^ !#-[\]-\ud7ff\ue000-\uffff]/.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** Most texts: words with single blanks between them, and nothing to escape. */
const plain = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/

/**
 * Blanks in a text of several lines may have a meaning: the indentation, also that of the first
 * line. In a single line they have none.
 */
function withoutBlanks(text: string): string {
  const trimmed = text.trim()
  if (!blanks.test(trimmed)) return trimmed // most texts
  if (!trimmed.includes('\n')) return trimmed.replace(/\s+/g, ' ')
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
}

const blanks = /\s\s|[^\S ]/

export function namesPath(key: string): boolean {
  return /(?:path|file|filename|dir|directory|folder|cwd)$/i.test(key)
}

/** `./a`, `.//a` and `b/../a` are one file. */
export function cleanPath(path: string): string {
  if (!/\.\/|\/\/|\/\.|\/$/.test(path) || path.includes('://') || path.includes('\n')) return path
  const clean = posix.normalize(path.trim())
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}

/**
 * Strings in the arguments that an error may repeat, longest first. Bounded in number and length.
 */
export function echoesOf(value: unknown): string[] {
  const found: string[] = []
  collectEchoes(value, found, 0)
  return found.sort((a, b) => b.length - a.length)
}

function collectEchoes(value: unknown, found: string[], depth: number): void {
  if (found.length >= limits.loopEchoesMax || depth > limits.argumentDepthMax) return
  if (typeof value === 'string') {
    const text = value.trim()
    if (text.length >= echoCharsMin && text.length <= limits.loopEchoCharsMax) found.push(text)
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) collectEchoes(member, found, depth + 1)
  }
}

/** Names of members that an error may repeat, longest first. */
export function membersOf(value: unknown): string[] {
  if (!isObject(value)) return []
  return Object.keys(value)
    .slice(0, limits.loopEchoesMax)
    .filter(({ length }) => length >= echoCharsMin && length <= limits.loopEchoCharsMax)
    .sort((a, b) => b.length - a.length)
}

/** Shorter strings occur in any sentence by chance. */
const echoCharsMin = 3
