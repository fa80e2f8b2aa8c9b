// Sends spans to a backend by OTLP over HTTP (OpenTelemetry Protocol 1.x), as JSON, or as protobuf to a
// backend that takes no JSON.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { systemClock as clock, type Milliseconds } from '../../shared/lib/clock.ts'
import { usageError, WeirError } from '../../shared/lib/errors.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { version } from '../../shared/lib/version.ts'
import type { EncodedBody } from './otlp.ts'
import type { MetricsRequest, TracesRequest } from './otlp-request.ts'
import type { Span } from './span.ts'

export type Backend = {
  /** With the path, such as `http://localhost:4318/v1/traces`. */
  url: string
  /** They may hold credentials, so nothing logs them. */
  headers: Readonly<Record<string, string>>
  serviceName: string
  encoding: Encoding
}

/** `auto`: JSON, until the backend refuses it with status 415. */
type Encoding = 'auto' | 'json' | 'protobuf'

/** Returns the number of spans that the backend accepted. */
export type SendSpans = (spans: readonly Span[], signal: AbortSignal) => Promise<number>

const answerMsMax = 10_000
const firstWaitMs = 500
const waitMsMax = 30_000
/** Of one request. Backends refuse large bodies. */
const spansMax = 500

/**
 * Resolves when the backend has the spans, or has refused them for good: then it warns and continues.
 * While the backend is away it tries again, so the log is read on only after it. `awayMsMax`: after
 * this time it throws `traces.unreachable` (default: never). Rejects with the signal's reason.
 */
export function sender(
  backend: Backend,
  log: Pick<Logger, 'warn'>,
  awayMsMax = Number.POSITIVE_INFINITY,
): SendSpans {
  const chosen = { isBinary: backend.encoding === 'protobuf' }
  return async (spans, signal) => {
    let taken = 0
    for (let at = 0; at < spans.length; at += spansMax) {
      const part = spans.slice(at, at + spansMax)
      if (await deliver({ backend, chosen, awayMsMax, log }, part, signal)) taken += part.length
    }
    return taken
  }
}

type Delivery = {
  backend: Backend
  chosen: { isBinary: boolean }
  awayMsMax: Milliseconds
  log: Pick<Logger, 'warn'>
}

/** Returns false if the backend refused the spans for good. */
async function deliver(
  { backend, chosen, awayMsMax, log }: Delivery,
  spans: readonly Span[],
  signal: AbortSignal,
): Promise<boolean> {
  const request = requestOf(backend.serviceName, spans)
  const since = clock.monotonic()
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, waitMsMax)) {
    const fault = await post(backend, await bodyOf(request, chosen), signal)
    signal.throwIfAborted()
    if (fault === undefined) return true
    if (fault.takesNoJson && backend.encoding === 'auto' && !chosen.isBinary) {
      chosen.isBinary = true
      continue
    }
    if (!fault.isTemporary) {
      log.warn({ spans: spans.length, reason: fault.reason }, 'the backend refuses these spans')
      return false
    }
    if (clock.monotonic() - since + waitMs > awayMsMax)
      throw new WeirError(
        'traces.unreachable',
        `the backend took no spans for ${Math.round(awayMsMax / 1e3)} s (${fault.reason}): check --endpoint, or run the command again when the backend is there`,
        { retryable: true },
      )
    log.warn({ reason: fault.reason, waitMs }, 'the backend does not take spans; will retry')
    await sleep(waitMs, undefined, { signal })
  }
}

type Fault = { reason: string; isTemporary: boolean; takesNoJson: boolean }

/** The packages of OpenTelemetry load with the first request. */
async function bodyOf(
  request: TracesRequest | MetricsRequest,
  form: { isBinary: boolean },
): Promise<EncodedBody> {
  const { encodedRequest } = await import('./otlp.ts')
  return encodedRequest(request, form)
}

/** One try, in the form that the backend is known to take. Undefined: it accepted the request. */
export async function sendRequest(
  backend: Backend,
  request: MetricsRequest,
  signal: AbortSignal,
): Promise<{ reason: string } | undefined> {
  const isBinary = backend.encoding === 'protobuf'
  const fault = await post(backend, await bodyOf(request, { isBinary }), signal)
  return fault?.takesNoJson && backend.encoding === 'auto'
    ? post(backend, await bodyOf(request, { isBinary: true }), signal)
    : fault
}

async function post(
  { url, headers }: Backend,
  { type, bytes }: EncodedBody,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body: bytes,
      redirect: 'error', // the headers may hold credentials of this backend
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
    })
    await response.body?.cancel()
    if (response.ok) return undefined
    // The protocol names these four as those to retry.
    const isTemporary = [429, 502, 503, 504].includes(response.status)
    const takesNoJson = response.status === 415
    return { reason: `status ${response.status}`, isTemporary, takesNoJson }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    return { reason, isTemporary: true, takesNoJson: false }
  }
}

function requestOf(serviceName: string, spans: readonly Span[]): TracesRequest {
  const resource = { 'service.name': serviceName, 'service.version': version() }
  return { signal: 'traces', resource, spans }
}

/** The requests of a kind: the end of their path, and their part in the names of variables. */
export type Signal = 'traces' | 'metrics'

/**
 * The backend of `endpoint`, or of OpenTelemetry's variables, those of the signal first:
 * OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT, their HEADERS and PROTOCOL,
 * OTEL_SERVICE_NAME. `flag`: of the endpoint, for errors. Throws `usage`.
 */
export function backendOf(
  endpoint: string | undefined,
  environment: NodeJS.ProcessEnv,
  signal: Signal = 'traces',
  flag = '--endpoint',
): Backend {
  const own = environment[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`]
  const ofSignal = endpoint === undefined ? own : undefined
  const given = ofSignal ?? endpoint ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT
  if (given === undefined || given === '')
    throw usageError(
      `no backend${signal === 'metrics' ? ' for metrics' : ''} is named: give ${flag} http://localhost:4318, or set OTEL_EXPORTER_OTLP_ENDPOINT`,
    )
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(
      `the endpoint (${flag}) is not an http or https URL; give one such as http://localhost:4318`,
    )
  if (url.username !== '' || url.password !== '')
    throw usageError(
      `the endpoint (${flag}) holds a user or a password; put credentials into OTEL_EXPORTER_OTLP_HEADERS`,
    )
  // Of the variable for one signal, the path is complete.
  if (ofSignal === undefined)
    url.pathname = `${url.pathname.replace(/(\/v1\/(traces|metrics))?\/?$/, '')}/v1/${signal}`
  return {
    url: url.href,
    headers: headersIn(variableOf(environment, signal, 'HEADERS') ?? ''),
    serviceName: environment.OTEL_SERVICE_NAME || 'weir',
    encoding: encodingIn(environment, signal),
  }
}

function variableOf(
  environment: NodeJS.ProcessEnv,
  signal: Signal,
  name: 'HEADERS' | 'PROTOCOL',
): string | undefined {
  return (
    environment[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`] ||
    environment[`OTEL_EXPORTER_OTLP_${name}`]
  )
}

function encodingIn(environment: NodeJS.ProcessEnv, signal: Signal): Encoding {
  const protocol = variableOf(environment, signal, 'PROTOCOL')
  switch (protocol) {
    case undefined:
    case '':
      return 'auto'
    case 'http/json':
      return 'json'
    case 'http/protobuf':
      return 'protobuf'
    default:
      throw usageError(
        `OTEL_EXPORTER_OTLP_PROTOCOL is ${JSON.stringify(shortened(protocol, 80))}; give http/protobuf or http/json`,
      )
  }
}

/** As W3C Baggage: `name=value,name=value`, with percent-encoding. */
function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair, at) => {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=(.*)$/s.exec(pair) ?? []
      if (name === undefined || value === undefined)
        throw usageError(
          `OTEL_EXPORTER_OTLP_HEADERS: header ${at + 1} is not name=value; write them as name=value,name=value`,
        )
      const decodedValue = decoded(value.trim())
      if (decodedValue === undefined)
        throw usageError(
          `OTEL_EXPORTER_OTLP_HEADERS: the value of ${name} is not percent-encoded; write % as %25`,
        )
      return [name, decodedValue]
    }),
  )
}

/** Undefined: the encoding is wrong. */
function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
