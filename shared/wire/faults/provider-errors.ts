// Classifies errors between gateway and provider: whether a retry can help, and when. Never passes
// on an SDK's text, which may quote a URL or a key. The provider's message is passed on, bounded.

import { type ErrorCode, WeirError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json/json-object.ts'
import type { Failed } from '../exchange.ts'
import { contentDeclined, saysContentDeclined } from './content-declined.ts'
import { contextFull, saysContextFull } from './context-full.ts'
import { formRefusedBy } from './form-refused.ts'
import { saysHistoryRefused } from './history-refused.ts'
import { reasoningRefusalIn } from './reasoning-refused.ts'
import { retryHint, waitIn } from './retry-hint.ts'
import { type Secret, shortReason } from './short-reason.ts'

/** An HTTP error. `words`: its types and codes. `statement`: its message or body; empty: none. */
export function httpFailure(
  {
    status,
    headers,
    words,
    statement,
  }: { status: number; headers: Headers | undefined; words: unknown[]; statement: string },
  apiKey: Secret,
): Failed {
  if (status >= 300 && status < 400) return redirected({ status, headers }, apiKey)
  const refused = isRefusal(status) || words.some((word) => spent.has(`${word}`))
  const reason = shortReason(
    `the provider answered ${status}${statement === '' ? ' without a body' : `: ${statement}`}`,
    apiKey,
  )
  if (saysContextFull({ status, words, statement })) return contextFull(reason)
  if (refused && saysContentDeclined({ words, statement })) return contentDeclined(reason)
  return {
    kind: 'failed',
    code: refused ? 'provider.refused' : 'provider.unavailable',
    class: refused ? 'refused' : 'transient',
    reason,
    retryable: !refused && headers?.get('x-should-retry') !== 'false',
    retryAfterMs: refused ? null : retryHint({ status, headers, statement }),
    ...whatIsRefused(refused, { status, statement }),
  }
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
  const reason = shortReason(`the provider redirects${where} (HTTP ${status}), ${advice}`, apiKey)
  return {
    kind: 'failed',
    code: 'provider.refused',
    class: 'refused',
    reason,
    retryable: false,
    retryAfterMs: null,
  }
}

/** Codes that accompany a 429 but mean an unpaid bill, not a rate. */
const spent = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'])

/** 408, 409 and 429 are temporary. Any other 4xx would be refused again. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 429
}

/** No answer: no connection, or not even a request. */
export function connectionFailure(error: unknown, timedOut: boolean): Failed {
  const code = timedOut ? 'timeout' : systemCode(error)
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

type Reported = { type: string; words: unknown[]; message: unknown; refused: boolean }

/**
 * An error inside an answer with status 200. `words`: its types and codes. `refused`: a retry would
 * be refused too.
 */
export function reportedError({ type, words, message, refused }: Reported): Failed {
  const statement =
    typeof message === 'string' ? message : (JSON.stringify(message) ?? 'no message')
  const reason = `the provider reported ${type} inside the stream: ${statement}`
  if (saysContextFull({ status: undefined, words, statement })) return contextFull(reason)
  if (saysContentDeclined({ words, statement })) return contentDeclined(reason)
  const what = whatIsRefused(refused, { status: undefined, statement })
  if (!refused)
    return { ...transient('provider.stream', reason), retryAfterMs: waitIn(statement), ...what }
  return { ...transient('provider.refused', reason), class: 'refused', retryable: false, ...what }
}

type Statement = { status: number | undefined; statement: string }

/** The changes that may help: new ids in the history, other reasoning, or plain text. */
function whatIsRefused(
  refused: boolean,
  statement: Statement,
): Pick<Failed, 'historyRefused' | 'reasoningRefused' | 'formRefused'> {
  if (saysHistoryRefused(statement)) return { historyRefused: true }
  const reasoningRefused = reasoningRefusalIn(statement)
  const formRefused = refused ? formRefusedBy(statement) : undefined
  return {
    ...(reasoningRefused === 'none' ? {} : { reasoningRefused }),
    ...(formRefused === undefined ? {} : { formRefused }),
  }
}

function transient(code: ErrorCode, reason: string): Failed {
  return { kind: 'failed', code, class: 'transient', reason, retryable: true, retryAfterMs: null }
}

/** Nothing was sent: the agent file does not make a valid request, so a retry would fail too. */
function notMade(error: unknown): Failed {
  const what = error instanceof Error ? error.name : typeof error
  return {
    kind: 'failed',
    code: 'provider.refused',
    class: 'internal',
    reason: `the request to the provider could not be made (${what}); check the agent's file: base URL, key and the schemas of its tools`,
    retryable: false,
    retryAfterMs: null,
  }
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
