// The body of a request, whole and bounded (R7).

import type { IncomingMessage } from 'node:http'
import { limits } from '../../shared/contract/limits.ts'
import { boundedJson } from '../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { HttpError } from './http-error.ts'

/** Throws 413 before it reads a body that announces more than `bytesMax`, or once it has more. */
export async function bytesOf(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of incoming.iterator({ destroyOnReturn: false })) {
    bytes += (piece as Buffer).length
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    pieces.push(piece as Buffer)
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

/** The body as a JSON object. Throws 413 and 400. */
export async function jsonOf(
  incoming: IncomingMessage,
  bytesMax: number,
): Promise<Record<string, unknown>> {
  const text = (await bytesOf(incoming, bytesMax)).toString('utf8')
  const value = boundedJson(text, limits.jsonDepthMax)
  if (!isObject(value)) throw notAnObject()
  return value
}

export function notAnObject(): HttpError {
  const most = `with at most ${limits.jsonDepthMax} levels`
  return new HttpError(400, 'http.body', `the body must be a JSON object ${most}`)
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, 'http.body', `the body is larger than ${bytesMax} bytes`)
}
