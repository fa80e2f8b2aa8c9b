// The body of a request, whole and bounded (R7).
// All unfinished bodies of a process have one bound. Beyond it the one that stalls longest
// makes room, and without such a one the newest gets 503.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { limits } from '../../shared/contract/limits.ts'
import { boundedJson } from '../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { hasMoreMembers } from '../../shared/lib/json/member-count.ts'
import { bad, HttpError } from './http-error.ts'

/**
 * Bytes of all unfinished bodies of one process. Beyond it, a body without a new piece for the
 * given time makes room.
 */
export const httpBodiesBytesMax = 256 * 1024 * 1024
const httpBodyStalledMs = 5_000

/** Throws 413 before it reads a body that announces more than `bytesMax`, or once it has more. */
export async function bytesOf(incoming: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const pieces: Buffer[] = []
  const body = { incoming, bytes: 0, movedAt: 0 }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  function onData(piece: Buffer): void {
    try {
      received(body, piece.length)
      if (body.bytes > bytesMax) throw tooLarge(bytesMax)
      pieces.push(piece)
    } catch (error) {
      reject(error)
    }
  }
  // Not the async iterator of a stream, which costs more than to parse a small body.
  const onClose = () => reject(new Error('the client left before the end of its body'))
  incoming.on('data', onData).on('end', resolve).on('error', reject).on('close', onClose)
  try {
    if (incoming.readableEnded) resolve()
    else if (incoming.destroyed) onClose()
    await promise
  } finally {
    incoming.off('data', onData).off('end', resolve).off('error', reject).off('close', onClose)
    incoming.pause()
    forget(body)
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}

type UnfinishedBody = { incoming: IncomingMessage; bytes: number; movedAt: number }

/** The one that moved last is last. */
const unfinished = new Set<UnfinishedBody>()
let unfinishedBytes = 0

function received(body: UnfinishedBody, bytes: number): void {
  const now = performance.now()
  unfinished.delete(body)
  unfinished.add(body)
  body.bytes += bytes
  body.movedAt = now
  unfinishedBytes += bytes
  for (const other of unfinished) {
    if (unfinishedBytes <= httpBodiesBytesMax) return
    if (other === body || now - other.movedAt < httpBodyStalledMs) throw busy()
    forget(other)
    other.incoming.destroy()
  }
}

function forget(body: UnfinishedBody): void {
  if (unfinished.delete(body)) unfinishedBytes -= body.bytes
}

function busy(): HttpError {
  const headers = { 'retry-after': '5', connection: 'close' }
  const text = 'too many unfinished bodies: send the request again later'
  return new HttpError(503, 'http.busy', text, { headers })
}

/** The bytes that jsonOf read, for the proof of an answer. */
export const jsonBytes = new WeakMap<IncomingMessage, Buffer>()

/** `read` gives the value of a text that is JSON within its bounds. */
export type JsonOptions = { read?(text: string): unknown }

/** The body as a JSON object. Throws 413 and 400. */
export async function jsonOf(
  incoming: IncomingMessage,
  bytesMax: number,
  { read }: JsonOptions = {},
): Promise<Record<string, unknown>> {
  const bytes = await bytesOf(incoming, bytesMax)
  jsonBytes.set(incoming, bytes)
  if (!isUtf8(bytes)) throw bad('the body is no valid UTF-8')
  const text = bytes.toString('utf8')
  refuseManyMembers(text)
  const parsed = boundedJson(text, limits.jsonDepthMax)
  const value = parsed === undefined || read === undefined ? parsed : read(text)
  if (!isObject(value)) throw notAnObject()
  return value
}

/** Throws 400 for a body whose members would keep others waiting. */
export function refuseManyMembers(text: string): void {
  const max = limits.bodyMembersMax
  if (hasMoreMembers(text, max))
    throw bad(`the lists and objects of the body have more than ${max} members`)
}

/** Throws 400. */
export function textIn(body: Record<string, unknown>, name: string, where = ''): string {
  return textAt(body[name], `${where}${name}`)
}

/** Throws 400. */
export function textAt(value: unknown, where: string): string {
  if (typeof value === 'string') return value
  throw bad(`${where} must be a text`)
}

export function notAnObject(): HttpError {
  const most = `with at most ${limits.jsonDepthMax} levels and ${limits.bodyMembersMax} members`
  return bad(`the body must be a JSON object ${most}`)
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, 'http.body', `the body is larger than ${bytesMax} bytes`)
}
