// Requests to the provider behind the proxy. Keys and all other headers of the client go there, and
// nowhere else.
// The address is the operator's setting. Nothing in a request can change its origin, or
// leave its path.
// Headers of one connection stay on it (RFC 9110, section 7.6.1). All others pass
// unchanged, except host, content-length and accept-encoding.
// Headers that begin with `x-weir` are Weir's: none of them passes in either direction.
// A client gets no redirect. It would send its keys elsewhere, and read answers that Weir
// does not judge. Redirects within the upstream's origin are followed here.
// Under the veto only listed headers of an answer pass, none of them an address. Alt-Svc,
// Location, Link, Refresh and Set-Cookie would lead a client's next requests past Weir.

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { limits } from '../../../../shared/contract/limits.ts'
import { withoutConnection } from '../../../../shared/lib/connection-headers.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { HttpError } from '../../http-error.ts'
import { bytesOf } from '../../request-body.ts'
import { segmentsOf } from './apis.ts'
import type { RequestSigner } from './aws/aws-signer.ts'

export type Upstream = {
  /** The operator's address. */
  url: string
  /** Whether Weir signs requests in place of their clients. */
  signs: boolean
  /** `path` begins with a slash and includes the query. `/v1` stands for the API's version. */
  send(request: UpstreamRequest): Promise<IncomingMessage>
}

/** `headers`: raw names and values. `body`: whole, or a stream that is passed on. */
export type UpstreamRequest = {
  method: string
  path: string
  headers: readonly string[]
  body: Buffer | IncomingMessage | undefined
  signal: AbortSignal
  /** Of a request to a model. It waits for the limits of its account. */
  model?: string
}

/** `sign`: for clients without a key. Throws `settings.invalid` if `address` is no URL of a server. */
export function upstreamAt(address: string, sign?: RequestSigner): Upstream {
  const base = URL.parse(address)
  if (base === null || !/^https?:$/.test(base.protocol))
    throw invalid(address, 'must be a URL that begins with http:// or https://')
  if (base.username !== '' || base.password !== '')
    throw invalid(base.host, 'must not contain a name or password: clients send their own key')
  const { request } = base.protocol === 'https:' ? https : http
  const { protocol, hostname, port } = urlToHttpOptions(base)

  async function headersFor(
    url: URL,
    { method, headers, body }: UpstreamRequest,
  ): Promise<readonly string[]> {
    const list = ['host', url.host, 'accept-encoding', 'identity', ...sentHeaders(headers)]
    if (Buffer.isBuffer(body)) list.push('content-length', String(body.length))
    else if (body !== undefined) list.push(...framingOf(body))
    if (sign === undefined || (body !== undefined && !Buffer.isBuffer(body))) return list
    return sign(url, { method, headers: list, body })
  }

  function once(url: URL, list: readonly string[], { method, body, signal }: UpstreamRequest) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    signal.throwIfAborted()
    const path = `${url.pathname}${url.search}`
    const sent = request({ protocol, hostname, port, path, method, headers: list }, resolve)
    // Not the option `signal`, which watches the request with a dozen listeners.
    const abort = () => sent.destroy(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    sent.once('close', () => signal.removeEventListener('abort', abort))
    sent.once('error', reject)
    sent.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('another protocol'))
    })
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = setTimeout(() => sent.destroy(new Error('no connection')), limits.modelConnectMs)
      socket.once('connect', () => clearTimeout(late))
      sent.once('close', () => clearTimeout(late))
    })
    if (body === undefined || Buffer.isBuffer(body)) sent.end(body)
    else body.pipe(sent)
    return promise
  }

  return {
    url: address,
    signs: sign !== undefined,
    async send(request) {
      const { body } = request
      const isPassed = sign === undefined || body === undefined || Buffer.isBuffer(body)
      // A signature covers the whole body.
      const whole = isPassed ? body : await bytesOf(body, limits.frontBodyBytesMax)
      const wanted = { ...request, body: whole }
      let url = urlOf(base, wanted.path)
      for (let redirects = 0; ; redirects += 1) {
        const list = await headersFor(url, wanted)
        const answer = await once(url, list, wanted).catch((cause: unknown) => {
          if (wanted.signal.aborted) throw cause
          throw unreachable(base)
        })
        const { statusCode = 0, headers } = answer
        if (!isRedirect(statusCode) || headers.location === undefined) return answer
        answer.resume()
        const next = URL.parse(headers.location, url.href)
        const isFollowed = next?.origin === base.origin && mayRepeat(wanted, statusCode)
        if (!isFollowed || redirects === redirectsMax) throw redirected(base.href)
        url = next
      }
    },
  }
}

const redirectsMax = 5

/** Some clients follow any status of this class with a Location. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304
}

/** Whether the same request can be sent again. Other redirects than 307 and 308 make it a GET. */
function mayRepeat({ method, body }: UpstreamRequest, status: number): boolean {
  if (body === undefined) return method === 'GET' || method === 'HEAD'
  return (status === 307 || status === 308) && Buffer.isBuffer(body)
}

/**
 * A base URL of OpenAI's form contains the version of its API, one of Anthropic's form does not.
 * Clients of both forms reach the same upstream.
 */
function urlOf(base: URL, path: string): URL {
  const folder = base.pathname.replace(/\/+$/, '')
  const hasVersion = folder.split('/').some((segment) => /^v\d/.test(segment))
  const rest = hasVersion ? path.replace(/^\/v1(?=[/?]|$)/, '') : path
  const url = new URL(base)
  const [pathname = '', query] = rest.split(/\?(.*)/s, 2)
  if (leaves(pathname))
    throw new HttpError(400, 'proxy.path', 'the path must begin with / and contain no ..')
  url.pathname = `${folder}${pathname}`
  url.search = query === undefined ? '' : `?${query}`
  return url
}

/** Whether it may lead out of the folder before it, here or at a server that decodes it. */
function leaves(pathname: string): boolean {
  return segmentsOf(pathname).includes('..') || !/^(\/|$)/.test(pathname)
}

/** Weir sends its own. */
const ofRequest = ['host', 'content-length', 'accept-encoding']

function sentHeaders(raw: readonly string[]): string[] {
  return withoutConnection(raw, (name) => isOfWeir(name) || ofRequest.includes(name))
}

/** The headers of an answer that go to the client. */
export function answerHeaders({ rawHeaders: raw }: IncomingMessage): string[] {
  return withoutConnection(raw, isOfWeir)
}

function isOfWeir(name: string): boolean {
  return name.startsWith('x-weir')
}

function framingOf({ headers }: IncomingMessage): string[] {
  const length = headers['content-length']
  return length === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', length]
}

function unreachable({ origin }: URL): HttpError {
  return new HttpError(502, 'proxy.upstream', `the upstream ${origin} cannot be reached`)
}

/** `url`: of the operator. */
export function redirected(url: string): HttpError {
  const { origin } = new URL(url)
  return new HttpError(
    502,
    'proxy.redirect',
    `the upstream ${origin} redirects elsewhere: point --upstream at the final address`,
  )
}

function invalid(value: string, expected: string): WeirError {
  return new WeirError('settings.invalid', `--upstream is ${JSON.stringify(value)}; it ${expected}`)
}

const names = new Set([
  ...['date', 'retry-after', 'retry-after-ms', 'x-should-retry', 'server-timing', 'vary'],
  ...['request-id', 'x-request-id', 'x-oai-request-id', 'x-client-request-id', 'apim-request-id'],
  ...['x-generation-id', 'cf-ray', 'x-models-etag', 'x-reasoning-included', 'x-ms-region'],
])
const prefixes = [
  ...['x-ratelimit-', 'ratelimit-', 'anthropic-', 'openai-', 'x-codex-', 'x-groq-', 'x-litellm-'],
  ...['x-amzn-', 'access-control-'],
]
/** Of a body that passes as it is. */
const ofBody = new Set([
  ...['content-type', 'content-encoding', 'content-length', 'content-language'],
  ...['cache-control', 'etag', 'expires', 'last-modified', 'content-range'],
])

/** `Basic realm="api"`: passes. One with an address, or for the login of the client's system: does not. */
function isChallenge(name: string, value: string): boolean {
  return name === 'www-authenticate' && /^(basic|bearer)\b[^/:\\]*$/i.test(value)
}

/** Raw names and values. `hasBody`: with those of the body. */
export function listedHeaders(
  { rawHeaders: raw }: IncomingMessage,
  { hasBody }: { hasBody: boolean },
): string[] {
  const passed: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const value = raw[at + 1] as string
    const isListed = names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
    if (isListed || isChallenge(name, value) || (hasBody && ofBody.has(name)))
      passed.push(raw[at] as string, value)
  }
  return passed
}
