// The attempts of one request at the upstream: the request, its repeats after denied answers, and the
// whole answer of each. Text goes to the client at once. From the first call on, everything is held.
// Reads: answers of the upstream. Owns: the number of attempts, and the reservation of each.
// The answer is parsed once, and the client gets only prints of its values.
// An upstream that is silent for too long ends the attempt: the client gets events from
// Weir meanwhile and cannot notice it.
// The denied answers are inserted into the text of the request, printed with their
// signatures. All other bytes stay, and so do signatures in the history.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Advice } from '../../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../../shared/lib/clock.ts'
import { spanAt, spliced, withItem } from '../../../../../shared/lib/json/spliced.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import { type EventReader, isStream } from '../../../../../shared/wire/framing/framing.ts'
import type { ModelFormat, VetoedFormat } from '../../../../../shared/wire/proxied.ts'
import {
  type EventData,
  fault,
  type StrictAnswer,
  StrictFault,
  type StrictFormat,
  type StrictReader,
} from '../../../../../shared/wire/strict/strict.ts'
import { strictObject } from '../../../../../shared/wire/strict/strict-json.ts'
import { vendorError } from '../../../../../shared/wire/strict/vendor-error.ts'
import { HttpError } from '../../../http-error.ts'
import { bytesOf } from '../../../request-body.ts'
import { advisedBytes, noteOf, sendAdvised, withoutEncoding } from '../advised-request.ts'
import type { AnswerRelayOptions } from '../answer-relay.ts'
import { decoded } from '../encodings.ts'
import { type ProxiedConversation, reserveRequest, unnamedIdentity } from '../request-budget.ts'
import { guestRequest, type SentBody, type SentRequest } from '../sent-request.ts'
import { listedHeaders, redirected } from '../upstream.ts'
import { attemptsHeader, type ClientAnswer } from './client-answer.ts'

/** The wait of such a proxy for advice, and for the next bytes of the upstream. */
export const proxyAdviceMs = 30_000
export const proxySilenceMs = 10 * 60_000

/** The parts that all requests of one server share. */
export type VetoShared = AnswerRelayOptions & {
  /** The text that a guest's user gets when Weir ends a turn. */
  fallback: string
  /** For the silence of the upstream. */
  clock: Clock
}

/** `bytes`: the unchanged request. */
export type VetoedRequest = {
  agent: string
  api: VetoedFormat
  path: string
  incoming: IncomingMessage
  sent: SentRequest
  bytes: Buffer
  signal: AbortSignal
  client: ClientAnswer
}

/** `headers`: for the client. */
export type Attempt = {
  answer: StrictAnswer
  isStreamed: boolean
  headers: readonly string[]
}

/** `hidden`: the denied answers and their results. `guest` undefined: nothing names it yet. */
type Ask = {
  advice: Advice | undefined
  hidden: readonly Json[]
  guest: ProxiedConversation | undefined
  isNamed: boolean
}

/** Under the veto all calls are held, and the guest sees no denied answer. */
export const underVeto = { holds: true, hides: true }

export function upstreamAttempts(
  { upstream, conversationOf, log, track, clock }: VetoShared,
  { agent, api, path, incoming, sent, bytes, signal, client }: VetoedRequest,
) {
  let attempts = 0
  /** The header with the count, for an answer. */
  const header = () => [attemptsHeader, `${attempts}`]

  /**
   * Reserves and sends the next attempt. Undefined: the client has the upstream's own error. Throws 400
   * if a budget is reached.
   */
  async function ask({ advice, hidden, guest, isNamed }: Ask): Promise<Attempt | undefined> {
    attempts += 1
    const reservation = await reserveRequest(
      guest ?? (await conversationOf(agent, { ...unnamedIdentity(), ...underVeto })),
      guestRequest(api, incoming.headers, sent),
      { isNamed, baseUrl: upstream.url, track },
    )
    const silence = watchSilence(clock)
    const send = (body: Buffer) =>
      upstream.send({
        method: 'POST',
        path,
        body,
        model: sent.model,
        signal: AbortSignal.any([signal, silence.signal]),
        headers: isChanged ? withoutEncoding(incoming.rawHeaders) : incoming.rawHeaders,
      })
    const isAdvised = advice !== undefined && advice.action !== 'none'
    const isChanged = isAdvised || hidden.length > 0
    const request = repeatedRequest(api, sent, hidden)
    const unchanged = isChanged ? Buffer.from(request.text) : bytes
    try {
      const { received, refusal } = await reservation.sent(
        sendAdvised(
          isAdvised ? advisedBytes(api, request, advice) : { body: unchanged, retry: undefined },
          send,
          { agent, log },
        ),
      )
      const note = isAdvised ? ['x-weir', noteOf(advice)] : []
      const headers = [...listedHeaders(received, { hasBody: false }), ...note]
      const { statusCode: status = 502 } = received
      if (status === 200) {
        const attempt = await readAttempt(api, received, client, { headers, silence })
        track(reservation.settle(attempt.answer.usage))
        return attempt
      }
      if (status >= 300 && status < 400) throw redirected(upstream.url)
      if (client.hasBegun || status < 400 || status > 599)
        throw broken(`the upstream answers ${status} to a request`)
      const body = refusal ?? (await bytesOf(received, limits.frontBodyBytesMax))
      const text = await decoded(
        body,
        received.headers['content-encoding'],
        limits.frontBodyBytesMax,
      )
      client.whole(status, [...headers, ...header()], errorFor(api, status, `${text ?? ''}`))
      return undefined
    } catch (cause) {
      if (signal.aborted || cause instanceof HttpError) throw cause
      if (silence.signal.aborted) throw tooSilent({ cause })
      throw broken('the answer was cut', { cause })
    } finally {
      silence.stop()
    }
  }

  return { ask, count: () => attempts, header }
}

function errorFor(
  { strict, request: { title } }: VetoedFormat,
  status: number,
  body: string,
): Json {
  const text = `the upstream answered ${status}, with a body that is no error of ${title}`
  return strict.error(
    vendorError(status, body) ?? { status, type: 'proxy.answer', code: null, message: text },
  )
}

function tooSilent(options: ErrorOptions): HttpError {
  const text = `the upstream was silent for ${proxySilenceMs / 1000} s: try again`
  return new HttpError(504, 'proxy.silence', text, options)
}

/** Ends a request to the upstream that is silent for `proxySilenceMs`. */
type SilenceWatch = { signal: AbortSignal; heard(): void; stop(): void }

function watchSilence(clock: Clock): SilenceWatch {
  const silent = new AbortController()
  const start = () => clock.after(proxySilenceMs, () => silent.abort())
  let stop = start()
  return {
    signal: silent.signal,
    heard() {
      stop()
      stop = start()
    },
    stop: () => stop(),
  }
}

/** Reads a successful answer. Throws an HttpError with the reason if it has not one meaning. */
async function readAttempt(
  { strict, stream: { framing } }: VetoedFormat,
  received: IncomingMessage,
  client: ClientAnswer,
  { headers, silence }: { headers: readonly string[]; silence: SilenceWatch },
): Promise<Attempt> {
  const isStreamed = isStream(framing, received.headers['content-type'])
  if (client.hasBegun && !isStreamed) throw broken('the upstream no longer streams')
  try {
    if (isStreamed) client.begin(headers)
    const answer = isStreamed
      ? await streamed(framing.read(), strict.stream(), client, (onPiece) =>
          eachPiece(received, silence, onPiece),
        )
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
  events: EventReader,
  reader: StrictReader,
  client: ClientAnswer,
  pieces: Pieces,
): Promise<StrictAnswer> {
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
function broken(reason: string, options?: ErrorOptions): HttpError {
  return new HttpError(
    502,
    'proxy.answer',
    `Weir cannot judge the answer of the upstream, so its calls do not run: ${reason}`,
    options,
  )
}

/** The request unchanged if there are none. */
export function repeatedRequest(
  { request: { history, userMessage } }: ModelFormat,
  { text, body }: SentBody,
  parts: readonly Json[],
): SentBody {
  if (parts.length === 0) return { text, body }
  const span = spanAt(text, [history])
  if (span === undefined) return { text, body }
  const given = body[history]
  const made =
    typeof given === 'string' && userMessage !== undefined
      ? spliced(text, [{ ...span, text: JSON.stringify([userMessage(given), ...parts]) }])
      : spliced(text, [withItem(text, span, parts.map((part) => JSON.stringify(part)).join(','))])
  return { text: made, body: JSON.parse(made) as SentBody['body'] }
}
