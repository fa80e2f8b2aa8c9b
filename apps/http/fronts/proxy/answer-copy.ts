// A copy of an answer on its way to the client, and the round that it makes.
// The copy is read once the answer is over. The client's bytes never wait for it.
// An answer that is cut, broken, an error or above the bound is no round.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { foldResponse } from '../../../../services/accumulator/response.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent, Response as Round } from '../../../../shared/contract/messages.ts'
import type { Finished, Streamed } from '../../../../shared/wire/exchange.ts'
import { isStream } from '../../../../shared/wire/framing/framing.ts'
import type { ModelFormat } from '../../../../shared/wire/proxied.ts'
import { receivedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { decoded } from './encodings.ts'

/** Why an answer is no round: a constant text for the log. */
export type NoRound = { reason: string }

/** `whole`: the bytes of an answer that is over, or the reason why they are not all there. */
export type AnswerCopy = { add(piece: Buffer): void; whole(): Buffer | NoRound }

export function answerCopy(): AnswerCopy {
  // One growing buffer: a stream has thousands of pieces, and each kept one would cost the collector.
  let copy: Buffer | undefined = Buffer.allocUnsafe(copyBytes)
  let bytes = 0
  return {
    add(piece) {
      if (copy === undefined) return
      const end = bytes + piece.length
      if (end > limits.roundPartsBytesMax) {
        copy = undefined
        return
      }
      if (end > copy.length) {
        const larger = Buffer.allocUnsafe(Math.max(end, 2 * copy.length))
        copy.copy(larger, 0, 0, bytes)
        copy = larger
      }
      piece.copy(copy, bytes)
      bytes = end
    },
    whole: () =>
      copy === undefined
        ? { reason: `the answer is larger than ${limits.roundPartsBytesMax} bytes` }
        : copy.subarray(0, bytes),
  }
}

/** Enough for most answers with a call. */
const copyBytes = 16 * 1024

/** Reads the bytes of a whole answer as the gateway does, with joined deltas. */
export async function roundIn(
  api: ModelFormat,
  bytes: Buffer,
  headers: IncomingMessage['headers'],
): Promise<Round | NoRound> {
  const text = await decoded(bytes, headers['content-encoding'], limits.roundPartsBytesMax)
  if (text === undefined) return { reason: 'the answer has an unknown encoding' }
  const contentType = headers['content-type'] ?? ''
  const { joined, framing } = api.stream
  const isJoined = joined !== undefined && isStream(framing, contentType) && isUtf8(text)
  const body = isJoined ? Buffer.from(joined(text.toString('utf8'))) : text
  const answer = { headers: new Headers({ 'content-type': contentType }), body: [body] }
  return foldedRound(
    receivedAnswer(api.answer.reader({ secret: [] }), answer as unknown as Response),
  )
}

async function foldedRound(streamed: AsyncIterable<Streamed>): Promise<Round | NoRound> {
  const parts: PartEvent[][] = []
  let finished: Finished | undefined
  for await (const one of streamed) {
    if (one.kind === 'failed') return { reason: one.reason }
    if (one.kind === 'events') parts.push(one.events)
    else finished = one
  }
  if (finished === undefined || finished.stop === 'cut') return { reason: 'the answer was cut' }
  const { response, failure } = foldResponse(parts, { attempt: '', ...finished }, [])
  return failure === null ? response : { reason: failure.reason }
}
