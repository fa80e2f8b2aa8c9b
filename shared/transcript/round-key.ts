// The key of a guest's round: a hash of its words, a hash of its call ids, a dot and a number. The
// number counts the rounds with these words in the turn. Every front computes the same key from the
// same history, so no front has to remember anything. test/vectors/round-keys.json has examples for
// other languages.
// Reasoning, text next to calls and results are not part of a key, because clients
// drop, shorten and rewrite them.
// Two spellings of the same arguments have one key. Numbers count by their value,
// because clients parse arguments and write them again.
// The call ids stand apart in the key, in any order: a host that rewrites its history
// keeps them. They decide only where the words do not (services/guest/identity.ts).

import { hash } from 'node:crypto'
import { meansNoArguments } from '../contract/arguments/no-arguments.ts'

/** The part of a response that identifies it. */
export type Words = {
  /** The visible text. It counts only without calls. */
  text: string
  calls: readonly { id: string; name: string; arguments: string }[]
}

const wordsDigits = 32
const idsDigits = 16

/**
 * The first 16 bytes of the SHA-256 of the words, in hex, and the first 8 of that of the call ids.
 * Without ids, or with one twice, nothing but the words identifies the round.
 */
export function wordsHash({ text, calls }: Words): string {
  const words =
    calls.length === 0
      ? ['text', text.replace(/\s+/g, ' ').trim()]
      : ['calls', calls.map((call) => [call.id, call.name, canonicalArguments(call.arguments)])]
  const ids = new Set(calls.map(({ id }) => id))
  const identifies = calls.length > 0 && ids.size === calls.length && !ids.has('')
  return digest(words, wordsDigits) + (identifies ? digest([...ids].sort(), idsDigits) : '')
}

function digest(value: unknown, digits: number): string {
  return hash('sha256', JSON.stringify(value)).slice(0, digits)
}

/** `n`: how often these words have occurred in the turn, this time included. */
export function roundKey(words: string, n: number): string {
  return `${words}.${n}`
}

/** The hashes in a key: all but the number. */
export function hashOfKey(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')))
}

export function numberOfKey(key: string): number {
  return Number(key.slice(key.lastIndexOf('.') + 1))
}

/** The hash of the call ids in a key. Empty: they do not identify the round. */
export function idsOfKey(key: string): string {
  return hashOfKey(key).slice(wordsDigits)
}

/**
 * JSON with sorted keys, one text for both spellings of the same arguments. Text that
 * is not JSON stays, without the blanks around it.
 */
export function canonicalArguments(text: string): string {
  if (text !== canonical.of) canonical = { of: text, text: canonicalText(text) }
  return canonical.text
}

/** The last result: a front needs it for an answer, and again for the history with that answer. */
let canonical = { of: '{}', text: '{}' }

function canonicalText(text: string): string {
  if (meansNoArguments(text)) return '{}'
  try {
    return JSON.stringify(sorted(JSON.parse(text)))
  } catch {
    return text.trim() // also nested too deeply for the stack
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  // A null prototype, so a key __proto__ stays a key.
  const result: Record<string, unknown> = Object.create(null)
  for (const [key, inner] of fields.sort(([one], [other]) => (one < other ? -1 : 1)))
    result[key] = sorted(inner)
  return result
}
