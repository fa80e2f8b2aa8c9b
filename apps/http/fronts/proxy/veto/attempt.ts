// One request to the model under the veto, and its whole answer. Text goes to the client at once. From
// the first call on, everything is held (STRICT-3).
// VETO-ATTEMPT-1. The answer is parsed once, and the client gets only prints of its values.
// VETO-ATTEMPT-2. An upstream that is silent for too long ends the attempt: the client gets events from
//     Weir meanwhile and cannot notice it.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
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
    if (isStreamed) client.begin(headers)
    const answer = isStreamed
      ? await streamed(strict.stream(), client, (onPiece) => eachPiece(received, silence, onPiece))
      : await whole(strict, (onPiece) => eachPiece(received, silence, onPiece))
    return { answer, isStreamed, headers }
  } catch (cause) {
    if (cause instanceof StrictFault) throw broken(cause.message, { cause })
    throw cause
  }
}

type Pieces = (onPiece: (piece: Buffer) => Promise<void> | undefined) => Promise<void>

/** The events before the first call go to the client at once. */
async function streamed(
  reader: StrictReader,
  client: ClientAnswer,
  pieces: Pieces,
): Promise<StrictAnswer> {
  const events = strictEvents()
  const read = (found: readonly EventData[]): Promise<void> | undefined => {
    const shown = client.stream.shown(found.flatMap((data) => reader.read(data)))
    return shown.length === 0 ? undefined : client.write(shown)
  }
  await pieces((piece) => read(events.take(piece)))
  await read(events.end())
  return reader.end()
}

async function whole({ whole: read }: StrictFormat, pieces: Pieces): Promise<StrictAnswer> {
  const all: Buffer[] = []
  await pieces((piece) => void all.push(piece))
  const bytes = Buffer.concat(all)
  if (!isUtf8(bytes)) throw fault('it is not UTF-8')
  return read(strictObject(bytes.toString('utf8')))
}

/**
 * The pieces of a body without its encoding. The request names no encoding. `onPiece` throws if the body
 * is too large.
 */
async function eachPiece(
  received: IncomingMessage,
  silence: SilenceWatch,
  onPiece: (piece: Buffer) => Promise<void> | undefined,
): Promise<void> {
  const encoding = received.headers['content-encoding']
  const isPlain = encoding === undefined || encoding === 'identity'
  const encoded: Buffer[] = []
  let size = 0
  for await (const piece of received as AsyncIterable<Buffer>) {
    silence.heard()
    size += piece.length
    if (size > limits.roundPartsBytesMax)
      throw broken(`the answer is larger than ${limits.roundPartsBytesMax} bytes`)
    const taken = isPlain ? onPiece(piece) : void encoded.push(piece)
    if (taken !== undefined) await taken // most pieces have nothing to wait for
  }
  if (isPlain) return
  const bytes = await decoded(Buffer.concat(encoded), encoding, limits.roundPartsBytesMax)
  if (bytes === undefined) throw broken('the answer has an encoding that Weir cannot read')
  await onPiece(bytes)
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
