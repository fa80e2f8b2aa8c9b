// The JSON body of a request to the edge, bounded before it is parsed.

import { isUtf8 } from 'node:buffer'
import { refuseUnknownKeys } from '../../../client/known-keys.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { nestsDeeper } from '../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { bad } from '../http-error.ts'
import { bytesOf, refuseManyMembers } from '../request-body.ts'
import type { HttpContext } from '../server.ts'

/** An object. `bytes`: the body as it arrived. */
export type JsonBody = { value: Record<string, unknown>; bytes: Buffer }

/**
 * Throws 413 for a body that is too large, and 400 for one that is no UTF-8 or no JSON object. The same
 * for one that nests too deep, or whose members would keep others waiting.
 */
export async function jsonBodyOf(context: HttpContext): Promise<JsonBody> {
  const bytes = await bytesOf(context.env.incoming, limits.edgeBodyBytesMax)
  const text = bytes.toString('utf8')
  if (nestsDeeper(text, limits.edgeBodyDepthMax))
    throw bad(`the body nests deeper than ${limits.edgeBodyDepthMax} levels`)
  refuseManyMembers(text)
  if (!isUtf8(bytes)) throw bad('the body is no valid UTF-8')
  const value = parsed(text, bytes.length)
  if (!isObject(value)) throw bad('the body must be a JSON object')
  return { value, bytes }
}

/** Throws 400. The parser's own text repeats the body. */
function parsed(text: string, bytes: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw bad(
      `the body has ${bytes} bytes that are no valid JSON: is it whole, and encoded as JSON?`,
      { cause },
    )
  }
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
