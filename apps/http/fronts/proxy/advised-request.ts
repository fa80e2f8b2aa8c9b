// A request on its way to the upstream with the advice of Weir in it, for this request only. The client
// does not keep the advice.
// The edits of the advice are spliced into the text. All other bytes stay:
// signatures, the order of members, the form of numbers, parameters that Weir does not know.

import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { editsFor } from '../../../../client/guard/advice-edits.ts'
import type { Advice } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import {
  type Splice,
  spanAt,
  spliced,
  withItem,
  withMember,
} from '../../../../shared/lib/json/spliced.ts'
import { formRefusedBy } from '../../../../shared/wire/faults/fault-table.ts'
import type { BodyEdit } from '../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../shared/wire/proxied.ts'
import { bytesOf } from '../../request-body.ts'
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
  { agent, log }: { agent: string; log: Logger },
): Promise<{ received: IncomingMessage; refusal: Buffer | undefined }> {
  const received = await send(body)
  if (retry === undefined || (received.statusCode ?? 0) < 400)
    return { received, refusal: undefined }
  const refusal = await bytesOf(received, limits.frontBodyBytesMax)
  const refused = { status: received.statusCode, statement: refusal.toString('utf8') }
  if (formRefusedBy(refused) === undefined) return { received, refusal }
  log.info({ agent, status: refused.status }, 'the upstream refuses tool_choice none')
  return { received: await send(retry), refusal: undefined }
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

/** `forbidsCalls`: false for a server that refuses requests that forbid calls. */
function advisedRequest(
  { request: { edit } }: ModelFormat,
  { text, body }: SentBody,
  advice: Pick<Advice, 'action' | 'text'>,
  { forbidsCalls }: { forbidsCalls: boolean },
): string {
  const edits = editsFor(edit, body, advice, { forbidsCalls })
  return spliced(
    text,
    edits.flatMap((edit) => spliceOf(text, edit) ?? []),
  )
}

/** Undefined: the text has no such place. */
function spliceOf(text: string, { kind, path, value }: BodyEdit): Splice | undefined {
  const json = JSON.stringify(value)
  const span = spanAt(text, path)
  if (kind === 'append')
    return span !== undefined && text[span.from] === '[' ? withItem(text, span, json) : undefined
  if (span !== undefined) return { ...span, text: json }
  const parent = spanAt(text, path.slice(0, -1))
  const name = path.at(-1)
  return parent !== undefined && typeof name === 'string'
    ? withMember(text, parent, name, json)
    : undefined
}
