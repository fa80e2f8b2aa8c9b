// Fields of JSON that somebody else wrote. What is not as it must be is an error that says where it
// stands, what it is, and what would be taken.

import { isObject } from '../../shared/lib/json/json-object.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { invalid } from './transcript.ts'

export type Json = Record<string, unknown>

/** `where` ends with the path of the value. */
export function objectAt(value: unknown, where: string): Json {
  if (isObject(value)) return value
  throw invalid(where, `is ${shown(value)}; must be an object`)
}

export function listAt(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value
  throw invalid(where, `is ${shown(value)}; must be a list`)
}

export function textAt(fields: Json, name: string, where: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw invalid(
    `${where}.${name}`,
    value === undefined ? 'is missing; must be a text' : `is ${shown(value)}; must be a text`,
  )
}

/**
 * The first of these names that is there, as a text; `callId` and `call_id` are the same to whoever
 * wrote them.
 */
export function firstTextAt(fields: Json, names: string[], where: string): string {
  const name = names.find((one) => typeof fields[one] === 'string')
  return name === undefined ? textAt(fields, names[0] as string, where) : String(fields[name])
}

/** An argument text: as it stands, or of an object that was parsed already. */
export function argumentTextAt(value: unknown, where: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (isObject(value)) return JSON.stringify(value)
  throw invalid(where, `is ${shown(value)}; must be the arguments, as a text or an object`)
}

/**
 * Whether a result that carries no mark reads as a failure: its first line names an error, or it is
 * an object with an error in it. OpenAI's formats have no mark, and a loop of failures is known
 * earlier than one of successes.
 */
export function readsAsError(text: string): boolean {
  const start = text.trimStart().slice(0, 4096)
  if (
    /^(an? )?(uncaught )?([\w$]+\.)*\w*(error|exception|traceback|fatal|panic|failed|failure)\b/i.test(
      start,
    )
  )
    return true
  if (!start.startsWith('{')) return false
  try {
    const { error, isError, is_error: marked } = JSON.parse(text) as Json
    return (
      isError === true ||
      marked === true ||
      (error !== undefined && error !== null && error !== false && error !== '')
    )
  } catch {
    return false
  }
}

export const notPutTogether =
  'an answer in a form that Weir does not know, such as a stream of chunks: log it as a whole'

/** A text that is an answer, and not the events of a stream of which one was to be made. */
export function isPlain(answer: unknown): answer is string {
  return typeof answer === 'string' && !/^\s*(data|event):/.test(answer)
}
