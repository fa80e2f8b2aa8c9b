// A request of a guest on its way to the upstream, with the advice of Weir in it.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { boundedJson } from '../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { formRefusedBy } from '../../../../shared/wire/faults/fault-table.ts'
import type { ModelFormat } from '../../../../shared/wire/formats.ts'
import { bytesOf } from '../../request-body.ts'
import { advisedRequest } from './advised-request.ts'
import { decoded } from './encodings.ts'
import type { SentBody } from './sent-request.ts'

/** `retry`: the request without the action that a server may refuse. */
export type AdvisedBytes = { body: Buffer; retry: Buffer | undefined }

export function advisedBytes(api: ModelFormat, sent: SentBody, advice: Advice): AdvisedBytes {
  const changed = (forbidsCalls: boolean) =>
    Buffer.from(advisedRequest(api, sent, advice, { forbidsCalls }))
  return {
    body: changed(true),
    retry: advice.action === 'text_only' ? changed(false) : undefined,
  }
}

/**
 * Sends the request, and its other form if the server refuses the first. `refusal`: the whole body of
 * an error that was read to find that out.
 */
export async function sendAdvised(
  { body, retry }: AdvisedBytes,
  send: (body: Buffer) => Promise<IncomingMessage>,
  onRefused: (status: number | undefined) => void,
): Promise<{ received: IncomingMessage; refusal: Buffer | undefined }> {
  const received = await send(body)
  if (retry === undefined || (received.statusCode ?? 0) < 400)
    return { received, refusal: undefined }
  const refusal = await bytesOf(received, limits.frontBodyBytesMax)
  const refused = { status: received.statusCode, statement: refusal.toString('utf8') }
  if (formRefusedBy(refused) === undefined) return { received, refusal }
  onRefused(received.statusCode)
  return { received: await send(retry), refusal: undefined }
}

/**
 * Undefined: the body is not a JSON object in UTF-8, or it nests too deeply, so only its bytes can be
 * passed on.
 */
export async function readable(
  bytes: Buffer,
  { headers }: IncomingMessage,
): Promise<SentBody | undefined> {
  const plain = await decoded(bytes, headers['content-encoding'], limits.frontBodyBytesMax)
  if (plain === undefined || !isUtf8(plain)) return undefined
  const text = plain.toString('utf8')
  const body = boundedJson(text, limits.jsonDepthMax)
  return isObject(body) ? { text, body } : undefined
}

/** A changed body is not encoded. */
export function withoutEncoding(raw: readonly string[]): string[] {
  return raw.filter((_, at) => raw[at - (at % 2)]?.toLowerCase() !== 'content-encoding')
}

/** The value of the header `x-weir`. */
export function noteOf({ action, rule, cap }: Pick<Advice, 'action' | 'rule' | 'cap'>): string {
  const word = action === 'end' ? 'ended' : action
  return [word, ...(rule ? [`rule=${rule}`] : []), ...(cap ? [`cap=${cap}`] : [])].join('; ')
}
