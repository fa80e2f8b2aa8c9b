// Classifies errors between gateway and provider: whether a retry can help, and when. Never passes
// on an SDK's text, which may quote a URL or a key. The provider's message is passed on, bounded.

import type { FailureClass, SlotRefusal } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { type ErrorCode, WeirError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { type Failed, failedBy } from '../exchange.ts'
import { formRefusedBy, hasMeaning, type Reported, reasoningRefusalIn } from './fault-table.ts'
import { exhaustedMs, retryHint, waitIn } from './retry-hint.ts'
import { type Secret, shortReason } from './short-reason.ts'

/** An HTTP error. `statement`: its message or body; empty: none. */
export function httpFailure(
  { headers, ...reported }: Required<Reported> & { status: number; headers: Headers | undefined },
  apiKey: Secret,
): Failed {
  const { status, statement } = reported
  if (status >= 300 && status < 400) return redirected({ status, headers }, apiKey)
  const isRefused = isRefusal(status) || hasMeaning('spent', reported)
  const reason = shortReason(
    `the provider answered ${status}${statement === '' ? ' without a body' : `: ${statement}`}`,
    apiKey,
  )
  if (hasMeaning('context-full', reported)) return contextFull(reason)
  if (isRefused && hasMeaning('declined', reported)) return contentDeclined(reason)
  if (isRefused) return { ...refusal('refused', reason), ...whatIsRefused(true, reported) }
  return {
    ...transient('provider.unavailable', reason),
    retryable: headers?.get('x-should-retry') !== 'false',
    retryAfterMs: retryHint({ status, headers, statement }),
    ...refusedForNow(reported),
    ...whatIsRefused(false, reported),
  }
}

/**
 * A retry would be refused too, and so would a longer request. `detail`: a clause with the
 * evidence. The advice comes first, because long reasons are truncated.
 */
export function contextFull(detail: string): Failed {
  const advice =
    'begin a new conversation, where tools return less, or use a model with a larger context'
  return refusal('context_full', `the model's context is full; ${advice} (${detail})`)
}

/** The finish reason of a response that filled the context. */
export function isContextEnd(finish: string): boolean {
  return finish === 'model_context_window_exceeded'
}

/** A retry of the same conversation would be declined too. `detail`: a clause with the evidence. */
function contentDeclined(detail: string): Failed {
  return refusal('refused', `the provider declines the content of this conversation (${detail})`)
}

/**
 * A redirect that http-fetch.ts does not follow. Names only the server, because the rest of the
 * address may hold a key.
 */
function redirected(
  { status, headers }: { status: number; headers: Headers | undefined },
  apiKey: Secret,
): Failed {
  const to = URL.parse(headers?.get('location') ?? '')?.origin
  const where = to === undefined ? '' : ` to ${to}`
  const advice = 'which is not followed: correct model.baseUrl in the agent file'
  return refusal(
    'refused',
    shortReason(`the provider redirects${where} (HTTP ${status}), ${advice}`, apiKey),
  )
}

/** 408, 409 and 429 are temporary. Any other 4xx would be refused again. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429
}

/** No answer: no connection, or not even a request. */
export function connectionFailure(error: unknown): Failed {
  const code = systemCode(error)
  return code === undefined
    ? notMade(error)
    : transient('provider.unavailable', `no connection to the provider (${code})`)
}

/** The connection broke during a response. */
export function interruptionOf(error: unknown): Failed {
  if (error instanceof WeirError)
    return { ...transient(error.code, error.message), class: 'provider' }
  return transient(
    'provider.stream',
    `the connection to the provider broke (${systemCode(error) ?? 'no reason given'})`,
  )
}

/** The stream is unreadable or inconsistent. A retry may succeed. */
export function brokenStream(reason: string): Failed {
  return transient('provider.stream', reason)
}

type SentError = { type: string; words: unknown[]; message: unknown; refused: boolean }

/**
 * An error inside an answer with status 200. `words`: its types and codes. `refused`: a retry would
 * be refused too.
 */
export function reportedError({ type, words, message, refused }: SentError): Failed {
  const statement =
    typeof message === 'string' ? message : (JSON.stringify(message) ?? 'no message')
  const reason = `the provider reported ${type} inside the stream: ${statement}`
  const reported = { status: undefined, words, statement }
  if (hasMeaning('context-full', reported)) return contextFull(reason)
  if (hasMeaning('declined', reported)) return contentDeclined(reason)
  const what = whatIsRefused(refused, reported)
  if (refused) return { ...refusal('refused', reason), ...what }
  const retryAfterMs = waitIn(statement)
  return {
    ...transient('provider.stream', reason),
    retryAfterMs,
    ...refusedForNow(reported),
    ...what,
  }
}

/** The limits of the account that the status and the headers of an answer show. */
export function shownLimit(
  status: number,
  headers: Headers,
): { refusedBy: SlotRefusal | null; waitMs: Milliseconds } {
  const { refusedBy = null } = refusedForNow({ status, statement: '' })
  if (refusedBy === null) return { refusedBy, waitMs: exhaustedMs(headers) }
  return { refusedBy, waitMs: retryHint({ status, headers, statement: '' }) ?? 0 }
}

function refusedForNow(reported: Reported): { refusedBy?: SlotRefusal } {
  if (hasMeaning('overloaded', reported)) return { refusedBy: 'overload' }
  return hasMeaning('limited', reported) ? { refusedBy: 'limit' } : {}
}

/** The changes that may help: new ids in the history, other reasoning, or plain text. */
function whatIsRefused(
  isRefused: boolean,
  reported: Reported,
): Pick<Failed, 'historyRefused' | 'reasoningRefused' | 'formRefused'> {
  if (hasMeaning('history', reported)) return { historyRefused: true }
  const reasoningRefused = reasoningRefusalIn(reported)
  const formRefused = isRefused ? formRefusedBy(reported) : undefined
  return {
    ...(reasoningRefused === 'none' ? {} : { reasoningRefused }),
    ...(formRefused === undefined ? {} : { formRefused }),
  }
}

function transient(code: ErrorCode, reason: string): Failed {
  return failedBy(code, 'transient', reason)
}

/** Nothing was sent: the agent file does not make a valid request, so a retry would fail too. */
function notMade(error: unknown): Failed {
  const what = error instanceof Error ? error.name : typeof error
  return refusal(
    'internal',
    `the request to the provider could not be made (${what}); check the agent's file: base URL, key and the schemas of its tools`,
  )
}

/** The same request would be refused again. */
function refusal(failureClass: FailureClass, reason: string): Failed {
  return failedBy('provider.refused', failureClass, reason)
}

/**
 * The code of the system or of Node's HTTP client, from anywhere in the chain of causes:
 * ECONNREFUSED, UND_ERR_SOCKET. ERR_INVALID codes come from our own call, not from the network.
 */
function systemCode(error: unknown): string | undefined {
  let cause = error
  for (let depth = 0; depth < 8 && isObject(cause); depth += 1) {
    const { code } = cause
    if (typeof code === 'string' && /^(?!ERR_INVALID)[A-Z][A-Z0-9_]*$/.test(code)) return code
    cause = cause.cause
  }
  return undefined
}
