// One request to the model under the veto, and its whole answer. Text goes to the client at once; from
// the first event that may be of a call on, everything is held.
// VETO-ATTEMPT-1. An answer that two clients could read differently is refused (one-reading.ts).
// VETO-ATTEMPT-2. An upstream that is silent for too long ends the attempt: the client gets events from
//     Weir meanwhile and cannot notice it.

import type { IncomingMessage } from 'node:http'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Response as Round } from '../../../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import { boundedJson } from '../../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { ModelFormat } from '../../../../../shared/wire/formats.ts'
import { HttpError } from '../../../http-error.ts'
import { roundIn } from '../answer-copy.ts'
import { decoded } from '../encodings.ts'
import type { ClientAnswer } from './client-answer.ts'
import { type EventBlock, eventBlocks } from './event-blocks.ts'
import type { EventData, WholeAnswer } from './forms/veto-form.ts'
import { hasOneReading } from './one-reading.ts'

/** `held`: the events that the client has not got yet, in order. `bytes`: the whole body. */
export type Attempt = {
  answer: WholeAnswer
  round: Round
  held: readonly EventBlock[]
  bytes: Buffer
  /** For the client. */
  headers: readonly string[]
}

/** Ends a request to the upstream that is silent for `silenceMs`. */
export type SilenceWatch = { signal: AbortSignal; heard(): void; stop(): void }

export function watchSilence(silenceMs: Milliseconds): SilenceWatch {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(), silenceMs)
  return {
    signal: silent.signal,
    heard: () => void timer.refresh(),
    stop: () => clearTimeout(timer),
  }
}

/** Reads a successful answer. Throws an HttpError with the reason if it is no round. */
export async function readAttempt(
  api: ModelFormat,
  received: IncomingMessage,
  client: ClientAnswer,
  { headers, silence }: { headers: readonly string[]; silence: SilenceWatch },
): Promise<Attempt> {
  const isStream = /^text\/event-stream\b/i.test(received.headers['content-type'] ?? '')
  if (client.hasBegun && !isStream) throw broken('the upstream no longer streams')
  const pieces: Buffer[] = []
  const held: EventBlock[] = []
  const events: EventData[] = []
  const blocks = eventBlocks()
  let size = 0

  async function take(found: readonly EventBlock[]): Promise<void> {
    for (const block of found) {
      if (block.data !== undefined && !hasOneReading(block.text)) throw ambiguous()
      if (block.data !== undefined) events.push({ text: block.text, data: block.data })
      const passes =
        held.length === 0 &&
        (block.isComment || (block.data !== undefined && client.stream.passes(block.data)))
      if (passes) await client.pass(block)
      else held.push(block)
    }
  }

  if (isStream) client.begin(headers)
  for await (const piece of plain(received)) {
    silence.heard()
    size += piece.length
    if (size > limits.roundPartsBytesMax)
      throw broken(`the answer is larger than ${limits.roundPartsBytesMax} bytes`)
    pieces.push(piece)
    if (isStream) await take(blocks.take(piece))
  }
  if (isStream) await take(blocks.end())

  const bytes = Buffer.concat(pieces)
  const contentType = received.headers['content-type']
  const round = await roundIn(api, bytes, contentType ? { 'content-type': contentType } : {})
  if ('reason' in round) throw broken(round.reason)
  return {
    answer: isStream ? { kind: 'streamed', events } : wholeIn(bytes),
    round,
    held,
    bytes,
    headers,
  }
}

/** The bytes without their encoding. The request names no encoding. */
async function* plain(received: IncomingMessage): AsyncGenerator<Buffer, void> {
  const encoding = received.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') {
    for await (const piece of received) yield piece as Buffer
    return
  }
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of received) {
    size += (piece as Buffer).length
    if (size > limits.roundPartsBytesMax) throw broken('the answer is too large')
    pieces.push(piece as Buffer)
  }
  const bytes = await decoded(Buffer.concat(pieces), encoding, limits.roundPartsBytesMax)
  if (bytes === undefined) throw broken('the answer has an encoding that Weir cannot read')
  yield bytes
}

function wholeIn(bytes: Buffer): WholeAnswer {
  const text = bytes.toString('utf8')
  const body = boundedJson(text, limits.jsonDepthMax)
  if (!isObject(body)) throw broken('the answer is not JSON')
  if (!hasOneReading(text)) throw ambiguous()
  return { kind: 'whole', text, body: body as Json }
}

function ambiguous(): HttpError {
  return broken(
    'an object in it has a name twice, or a name with capitals, which clients read differently',
  )
}

/** `reason`: a constant text of Weir. */
export function broken(reason: string, options?: ErrorOptions): HttpError {
  return new HttpError(
    502,
    'proxy.answer',
    `Weir cannot judge the answer of the upstream, so its calls do not run: ${reason}`,
    options,
  )
}
