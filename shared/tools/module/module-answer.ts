// A line of a module's process, checked before use: code of others may write any bytes there.
// A line has one reading, as JSON of limited depth. Another line is no answer.

import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { Answer } from './module-child.ts'

/** JSON may need six bytes for one of the result. */
export const answerBytesMax = limits.keptResultBytesMax

const answerDepthMax = 4

/** `textBytesMax`: of the result that the process may return. Undefined: no answer. */
export function answerIn(line: string, textBytesMax: number): Answer | undefined {
  const value = boundedJson(line, answerDepthMax)
  if (!isObject(value)) return undefined
  const { type, code, how, text, bytes, replaced, memoryBytes } = value
  if (type === 'loaded') return { type }
  if (type === 'not-loaded') {
    const { stack } = value
    return typeof code === 'string' && typeof stack === 'string' ? { type, code, stack } : undefined
  }
  if (!isCount(memoryBytes)) return undefined
  if (type === 'returned') {
    if (typeof text !== 'string' || !isCount(bytes) || typeof replaced !== 'boolean')
      return undefined
    const isBounded = Buffer.byteLength(text) <= textBytesMax
    return isBounded ? { type, text, bytes, replaced, memoryBytes } : undefined
  }
  const { message, stack } = value
  if (type !== 'failed' || typeof message !== 'string' || typeof stack !== 'string')
    return undefined
  if (how !== 'threw' && how !== 'no-json' && how !== 'crashed') return undefined
  return { type, how, message, stack, memoryBytes }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
