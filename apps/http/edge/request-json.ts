// The JSON body of a request to the edge, bounded before it is parsed.

import { isUtf8 } from 'node:buffer'
import { refuseUnknownKeys } from '../../../client/known-keys.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { bad, type HttpError } from '../http-error.ts'
import { bytesOf } from '../request-body.ts'
import type { HttpContext } from '../server.ts'

/** An object. `bytes`: the body as it arrived. */
export type JsonBody = { value: Record<string, unknown>; bytes: Buffer }

/** Throws 413 for a body that is too large, 400 for one that is no UTF-8, no JSON object, or nests
 * too deep. */
export async function jsonBodyOf(context: HttpContext): Promise<JsonBody> {
  const bytes = await bytesOf(context.env.incoming, limits.edgeBodyBytesMax)
  if (depthOf(bytes) > limits.edgeBodyDepthMax)
    throw bad(`the body nests deeper than ${limits.edgeBodyDepthMax} levels`)
  if (!isUtf8(bytes)) throw bad('the body is no valid UTF-8')
  const value = parsed(bytes)
  if (!isObject(value)) throw bad('the body must be a JSON object')
  return { value, bytes }
}

/** Throws 400. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw notJson(bytes.length, cause)
  }
}

/** The parser's own text repeats the body. */
function notJson(bytes: number, cause: unknown): HttpError {
  const text = `the body has ${bytes} bytes that are no valid JSON: is it whole, and encoded as JSON?`
  return bad(text, { cause })
}

/**
 * As jsonBodyOf, with no body as an empty object. Throws 400 for a field that is none of `known`: it
 * would have no effect.
 */
export async function fieldsOf(context: HttpContext, known: readonly string[]): Promise<JsonBody> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } =
    context.env.incoming.headers
  const isEmpty = length === '0' && encoding === undefined
  const body = isEmpty ? { value: {}, bytes: Buffer.alloc(0) } : await jsonBodyOf(context)
  refuseUnknownKeys(body.value, known, { code: 'usage', subject: 'the body' })
  return body
}

const [quote, backslash] = [0x22, 0x5c]
const openers: ReadonlySet<number> = new Set([0x5b, 0x7b])
const closers: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Levels of brackets outside of strings. Right for JSON; for other text, any number. */
function depthOf(bytes: Buffer): number {
  let depth = 0
  let most = 0
  let isText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (isText) {
      if (byte === backslash) at += 1
      else if (byte === quote) isText = false
    } else if (byte === quote) isText = true
    else if (openers.has(byte)) {
      depth += 1
      if (depth > most) most = depth
    } else if (closers.has(byte)) depth -= 1
  }
  return most
}

/** A field that must be a text if it is there, and not null. Throws 400. */
export function textIfGiven(body: Record<string, unknown>, name: string): string | undefined {
  if (body[name] === null) throw bad(`${name} must be a text`)
  return optionalText(body, name)
}

/** A field that must be a text if it is there. Throws 400. */
export function optionalText(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw bad(`${name} must be a text`)
}
