// The members of Gemini's JSON. Google accepts both spellings of a name, `functionCall` and
// `function_call`: its SDKs send the first, many programs the second.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** The name in the spelling that the object has: `name` itself if it has none. */
export function spelling(holder: Json, name: string): string {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return holder[name] === undefined && holder[snake] !== undefined ? snake : name
}

export function member(holder: Json, name: string): unknown {
  return holder[spelling(holder, name)]
}

/** Undefined: the member is missing, or no object. */
export function objectIn(holder: Json, name: string): Json | undefined {
  const value = member(holder, name)
  return isObject(value) ? value : undefined
}

/** The objects of a list. Other elements are left out. */
export function objectsIn(holder: Json, name: string): Json[] {
  const value = member(holder, name)
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The configuration of a request that forbids calls. */
export const noCalls = { functionCallingConfig: { mode: 'NONE' } }
