// The attempts of one request at the upstream: the request, and its repeats behind denied answers.
// Reads: answers of the upstream. Owns: the number of attempts, and the reservation of each.

import type { Advice } from '../../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../../shared/lib/clock.ts'
import type { Json } from '../../../../../shared/wire/format.ts'
import type { VetoedFormat } from '../../../../../shared/wire/formats.ts'
import { vendorError } from '../../../../../shared/wire/strict/vendor-error.ts'
import { HttpError } from '../../../http-error.ts'
import { bytesOf } from '../../../request-body.ts'
import { decoded } from '../encodings.ts'
import { guestRequest } from '../identity/guest-request.ts'
import { advisedBytes, noteOf, sendAdvised, withoutEncoding } from '../judged-request.ts'
import type { ProxiedConversation } from '../proxied-conversation.ts'
import { reserveRequest, unnamedIdentity } from '../request-budget.ts'
import { redirected } from '../upstream.ts'
import { type Attempt, broken, readAttempt, watchSilence } from './attempt.ts'
import { attemptsHeader } from './client-answer.ts'
import { passedHeaders } from './passed-headers.ts'
import { repeatedRequest } from './repeated-request.ts'
import type { VetoedRequest, VetoShared } from './vetoed-request.ts'

/** `hidden`: the denied answers and their results. `guest` undefined: nothing names it yet. */
type Ask = {
  advice: Advice | undefined
  hidden: readonly Json[]
  guest: ProxiedConversation | undefined
  isNamed: boolean
}

export type UpstreamAttempts = {
  /**
   * Reserves and sends the next attempt. Undefined: the client has the upstream's own error. Throws 400
   * if a budget is reached.
   */
  ask(next: Ask): Promise<Attempt | undefined>
  count(): number
  /** The header with the count, for an answer. */
  header(): string[]
}

export function upstreamAttempts(
  { upstream, conversationOf, log, track, silenceMs }: VetoShared,
  { agent, api, path, incoming, sent, bytes, signal, client }: VetoedRequest,
): UpstreamAttempts {
  let attempts = 0
  const header = () => [attemptsHeader, `${attempts}`]

  async function ask({ advice, hidden, guest, isNamed }: Ask): Promise<Attempt | undefined> {
    attempts += 1
    const reservation = await reserveRequest(
      guest ?? (await conversationOf(agent, unnamedIdentity())),
      guestRequest(api, incoming.headers, sent),
      { isNamed, baseUrl: upstream.url, track },
    )
    const silence = watchSilence(silenceMs)
    const send = (body: Buffer) =>
      upstream.send({
        method: 'POST',
        path,
        body,
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
          (status) => log.info({ agent, status }, 'the upstream refuses tool_choice none'),
        ),
      )
      const note = isAdvised ? ['x-weir', noteOf(advice)] : []
      const headers = [...passedHeaders(received, { hasBody: false }), ...note]
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
      if (silence.signal.aborted) throw tooSilent(silenceMs, { cause })
      throw broken('the answer was cut', { cause })
    } finally {
      silence.stop()
    }
  }

  return { ask, count: () => attempts, header }
}

/** Keeps VENDOR-ERROR-1. */
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

function tooSilent(silenceMs: Milliseconds, options: ErrorOptions): HttpError {
  const text = `the upstream was silent for ${silenceMs / 1000} s: try again`
  return new HttpError(504, 'proxy.silence', text, options)
}
