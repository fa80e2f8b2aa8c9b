// Fields of JSON that somebody else wrote. What is not as it must be is an error that says where it stands, what it is, and what would be taken.

import { shown } from '../../../shared/agent-file/mistake.ts'
import { isObject } from '../../../shared/json-object.ts'
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
  throw invalid(`${where}.${name}`, value === undefined ? 'is missing; must be a text' : `is ${shown(value)}; must be a text`)
}

/** The first of these names that is there, as a text; `callId` and `call_id` are the same to whoever wrote them. */
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

/** The whole number of a field; 0 where there is none. */
export function countIn(fields: Json, name: string): number {
  const value = fields[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

/**
 * Whether a result that carries no mark reads as a failure: its first line names an error, or it is an object with an error in it. OpenAI's formats have
 * no mark, and a loop of failures is known earlier than one of successes.
 */
export function readsAsError(text: string): boolean {
  const start = text.trimStart().slice(0, 4096)
  if (/^(an? )?(uncaught )?([\w$]+\.)*\w*(error|exception|traceback|fatal|panic|failed|failure)\b/i.test(start)) return true
  if (!start.startsWith('{')) return false
  try {
    const { error, isError, is_error: marked } = JSON.parse(text) as Json
    return isError === true || marked === true || (error !== undefined && error !== null && error !== false && error !== '')
  } catch {
    return false
  }
}

/** The first that is a text or a number: tables of people's own count their conversations. */
export function idAmong(values: unknown[]): string | undefined {
  const id = values.find((one) => typeof one === 'string' || typeof one === 'number')
  return id === undefined ? undefined : String(id)
}
