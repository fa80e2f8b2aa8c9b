// One request to the model under the veto, and its whole answer. Text goes to the client at once. From
// the first call on, everything is held (STRICT-3).
// VETO-ATTEMPT-1. The answer is parsed once, and the client gets only prints of its values.
// VETO-ATTEMPT-2. An upstream that is silent for too long ends the attempt: the client gets events from
//     Weir meanwhile and cannot notice it.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { VetoedFormat } from '../../../../../shared/wire/formats.ts'
import {
  type EventData,
  fault,
  type StrictAnswer,
  StrictFault,
  type StrictFormat,
  type StrictReader,
} from '../../../../../shared/wire/strict/strict.ts'
import { strictEvents } from '../../../../../shared/wire/strict/strict-events.ts'
import { strictObject } from '../../../../../shared/wire/strict/strict-json.ts'
import { HttpError } from '../../../http-error.ts'
import { decoded } from '../encodings.ts'
import type { ClientAnswer } from './client-answer.ts'

/** `headers`: for the client. */
export type Attempt = {
  answer: StrictAnswer
  isStreamed: boolean
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

/** Reads a successful answer. Throws an HttpError with the reason if it has not one meaning. */
export async function readAttempt(
  { strict }: VetoedFormat,
  received: IncomingMessage,
  client: ClientAnswer,
  { headers, silence }: { headers: readonly string[]; silence: SilenceWatch },
): Promise<Attempt> {
  const isStreamed = /^text\/event-stream\b/i.test(received.headers['content-type'] ?? '')
  if (client.hasBegun && !isStreamed) throw broken('the upstream no longer streams')
  try {
    const pieces = bounded(received, silence)
    if (!isStreamed) return { answer: await wholeIn(strict, pieces), isStreamed, headers }
    client.begin(headers)
    const answer = await streamedIn(strict.stream(), pieces, async (events) =>
      client.write(client.stream.shown(events)),
    )
    return { answer, isStreamed, headers }
  } catch (cause) {
    if (cause instanceof StrictFault) throw broken(cause.message, { cause })
    throw cause
  }
}

async function* bounded(
  received: IncomingMessage,
  silence: SilenceWatch,
): AsyncGenerator<Buffer, void> {
  let size = 0
  for await (const piece of plain(received)) {
    silence.heard()
    size += piece.length
    if (size > limits.roundPartsBytesMax)
      throw broken(`the answer is larger than ${limits.roundPartsBytesMax} bytes`)
    yield piece
  }
}

/** `show`: for the events that the client may have at once. */
async function streamedIn(
  reader: StrictReader,
  pieces: AsyncIterable<Buffer>,
  show: (events: Json[]) => Promise<void>,
): Promise<StrictAnswer> {
  const events = strictEvents()
  const read = (found: readonly EventData[]) => show(found.flatMap((data) => reader.read(data)))
  for await (const piece of pieces) await read(events.take(piece))
  await read(events.end())
  return reader.end()
}

async function wholeIn(
  { whole }: StrictFormat,
  pieces: AsyncIterable<Buffer>,
): Promise<StrictAnswer> {
  const read: Buffer[] = []
  for await (const piece of pieces) read.push(piece)
  const bytes = Buffer.concat(read)
  if (!isUtf8(bytes)) throw fault('it is not UTF-8')
  return whole(strictObject(bytes.toString('utf8')))
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

/** `reason`: a constant text of Weir. */
export function broken(reason: string, options?: ErrorOptions): HttpError {
  return new HttpError(
    502,
    'proxy.answer',
    `Weir cannot judge the answer of the upstream, so its calls do not run: ${reason}`,
    options,
  )
}
