// A request of a client in the terms of the proxy: its body, its history, and its form for the guard.
// Also an answer of Weir in the place of the model.

import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { GuestFormat, GuestRequest } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { noUsage } from '../../../../shared/contract/turn/no-usage.ts'
import { hostOfRequest } from '../../../../shared/hosts/hosts.ts'
import { boundedJson } from '../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { hasMoreMembers } from '../../../../shared/lib/json/member-count.ts'
import type { ModelAnswer } from '../../../../shared/wire/exchange.ts'
import type { CallWords, Json, Route } from '../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../shared/wire/proxied.ts'
import { listIn } from '../../../../shared/wire/request/content.ts'
import type { EventData } from '../../../../shared/wire/strict/strict.ts'
import { routeAt } from './apis.ts'
import { decoded } from './encodings.ts'

/** The body of a request: its text, and the value of that text. */
export type SentBody = { text: string; body: Json }

/** `model`: the one that the request names; empty: none. */
export type SentRequest = SentBody & { model: string; isStreamed: boolean }

/**
 * Undefined: the body is not a JSON object in UTF-8, or it nests too deeply or has too many
 * members, so only its bytes can be passed on.
 */
export async function readable(
  bytes: Buffer,
  { headers }: IncomingMessage,
): Promise<SentBody | undefined> {
  const plain = await decoded(bytes, headers['content-encoding'], limits.frontBodyBytesMax)
  if (plain === undefined || !isUtf8(plain)) return undefined
  const text = plain.toString('utf8')
  if (hasMoreMembers(text, limits.bodyMembersMax)) return undefined
  const body = boundedJson(text, limits.jsonDepthMax)
  return isObject(body) ? { text, body } : undefined
}

export function sentRequest(
  { request }: ModelFormat,
  path: string,
  { text, body }: SentBody,
): SentRequest {
  const model = request.model?.(path) ?? body.model
  return {
    text,
    body,
    model: typeof model === 'string' ? model : '',
    isStreamed: streams(routeAt(request, path)?.streams, body),
  }
}

function streams(byPath: Route['streams'], { stream }: Json): boolean {
  if (byPath === 'by default') return stream !== false
  return byPath ?? stream === true
}

/** The messages of a request, in order. */
export function historyOf({ request }: ModelFormat, body: Json): Json[] {
  const history = body[request.history]
  return listIn(typeof history === 'string' ? [request.userMessage?.(history)] : history)
}

export function guestRequest(
  api: ModelFormat,
  headers: IncomingHttpHeaders,
  { body: sent, model }: Pick<SentRequest, 'body' | 'model'>,
): GuestRequest {
  const { name: provider, like, request } = api
  const host = hostOfRequest(headers)?.name
  const body = like === undefined ? sent : like.body(sent)
  const guest = { format: guestFormat(api), body, host }
  return request.model === undefined ? guest : { ...guest, model: { provider, name: model } }
}

export function guestFormat(api: ModelFormat): GuestFormat {
  return api.like === undefined ? api.name : api.like.format
}

/** The calls of the first of these messages that has any. */
export function firstCallsIn(
  { request }: ModelFormat,
  messages: readonly Json[],
): CallWords[] | undefined {
  for (const message of messages) {
    const calls = request.calls(message)
    if (calls.length > 0) return calls
  }
  return undefined
}

/** Whether an answer may call a tool of the client. Titles and summaries may not. */
export function mayCall(api: ModelFormat, sent: SentRequest | undefined): boolean {
  if (sent === undefined || api.request.elsewhere(sent.body) !== undefined) return true
  return (
    api.request.hasTools(sent.body) || firstCallsIn(api, historyOf(api, sent.body)) !== undefined
  )
}

/** An answer with this text of Weir. */
export function ownAnswer(id: string, model: string, text: string): ModelAnswer {
  const items = text === '' ? [] : [{ kind: 'text' as const, text }]
  return { id, model, items, stop: 'end', finish: '', usage: noUsage }
}

/** The whole body of a successful answer. */
export function answerBody(
  { stream: { framing, events }, answer: { write } }: ModelFormat,
  answer: ModelAnswer,
  isStreamed: boolean,
): string | Uint8Array {
  return isStreamed ? framing.print(events(answer) as EventData[]) : JSON.stringify(write(answer))
}
