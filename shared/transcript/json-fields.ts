// Reads fields of foreign JSON. An error names the place, the value and the accepted values.

import { codexResult } from '../contract/codex-header.ts'
import { isObject, objectIn } from '../lib/json/json-object.ts'
import { shown } from '../settings/mistake.ts'
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

/** The tools of a request. Undefined: it has no list of them. */
export function toolsAt<Tool>(
  tools: unknown,
  where: string,
  toolOf: (value: unknown, where: string) => Tool[],
): Tool[] | undefined {
  if (tools === undefined || tools === null) return undefined
  return listAt(tools, `${where} tools`).flatMap((tool, at) =>
    toolOf(tool, `${where} tools[${at}]`),
  )
}

export function textAt(fields: Json, name: string, where: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw invalid(
    `${where}.${name}`,
    value === undefined ? 'is missing; must be a text' : `is ${shown(value)}; must be a text`,
  )
}

/** The text; empty: the value is none. */
export function textOr(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The first of these fields, as a text. SDKs use both `callId` and `call_id`. */
export function firstTextAt(fields: Json, names: string[], where: string): string {
  const name = names.find((one) => typeof fields[one] === 'string')
  return name === undefined ? textAt(fields, names[0] as string, where) : String(fields[name])
}

/** An argument text, or the JSON of parsed arguments. */
export function argumentTextAt(value: unknown, where: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (isObject(value)) return JSON.stringify(value)
  throw invalid(where, `is ${shown(value)}; must be the arguments, as a text or an object`)
}

/** The tools of Codex that report their own failure. */
const codexFailure = /^(?:apply_patch verification|write_stdin|exec_command) failed\b/

/**
 * Whether a result without a mark is a failure. Its first line names an error, it has the exit code
 * of a failed command, or it is an object with an error. OpenAI's formats have no mark, and rules
 * find loops of failures earlier.
 */
export function readsAsError(text: string): boolean {
  const start = text.trimStart().slice(0, 4096)
  if (codexResult(start)?.code || codexFailure.test(start)) return true
  if (
    /^(an? )?(uncaught )?([\w$]+\.)*\w*(error|exception|traceback|fatal|panic|failed|failure)\b/i.test(
      start,
    )
  )
    return true
  const { error, isError, is_error: marked } = (start.startsWith('{') && objectIn(text)) || {}
  return (
    isError === true ||
    marked === true ||
    (error !== undefined && error !== null && error !== false && error !== '')
  )
}

export const errorAnswer = 'an answer that is an error'
export const furtherChoice = 'a further choice of an answer'
export const notPutTogether =
  'an answer in a form that Weir does not know, such as a stream of chunks: log it as a whole'

/** A text that is an answer, not the events of a stream. */
export function isPlain(answer: unknown): answer is string {
  return typeof answer === 'string' && !/^\s*(data|event):/.test(answer)
}

/** A text as it is, and any other value as JSON. Empty: no value. */
export function jsonTextOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
