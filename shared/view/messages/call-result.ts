// The result of a call as a value and as the text that the model reads.

import type { ResultStatus } from '../../contract/messages.ts'
import { jsonIn } from '../../lib/json/json-object.ts'

/** A text, or the object or list whose JSON is the text. */
export type ResultValue = string | Record<string, unknown> | unknown[]

/**
 * The result of a call: `rawResult` is the text that the model reads, `result` its value. Without the
 * status `ok`, and for a text that is cut or is no JSON object or list, both are the text.
 */
export type CallValue = { result: ResultValue; rawResult: string }

export function resultOf(status: ResultStatus, text: string): CallValue {
  const value = status === 'ok' && /^[\s]*[[{]/.test(text) ? jsonIn(text) : undefined
  return { result: (value as ResultValue | undefined) ?? text, rawResult: text }
}
