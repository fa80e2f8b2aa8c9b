// Reads from headers or message how long a provider wants clients to wait before a retry. The
// reducer bounds the value (retryDelay), and a number that cannot be a wait is ignored.

import type { Milliseconds } from '../../lib/clock.ts'
import { anthropicLimits } from '../anthropic/faults.ts'
import { openaiLimits } from '../openai/faults.ts'

/**
 * Prefers `retry-after-ms`, then `retry-after` in seconds or as a date. After a 429 come the resets
 * of exhausted limits, and last a wait in the message. Null: no hint. A date is compared with the
 * server's `date`, because the local clock may be wrong. Without `date` it is ignored.
 */
export function retryHint({
  status,
  headers,
  statement,
}: {
  status: number
  headers: Headers | undefined
  statement: string
}): Milliseconds | null {
  const milliseconds = numberOf(headers?.get('retry-after-ms'))
  if (milliseconds !== null) return waitOf(milliseconds)
  const given = headers?.get('retry-after')
  const seconds = numberOf(given)
  if (seconds !== null) return waitOf(seconds * 1000)
  return (
    untilDate(given, headers) ?? (status === 429 ? untilReset(headers) : null) ?? waitIn(statement)
  )
}

/**
 * "Please try again in 6m0s." (OpenAI, Groq), "Please retry in 37.5s." (Gemini), "retry after 20
 * seconds" (Azure).
 */
export function waitIn(statement: string): Milliseconds | null {
  const [, wait] =
    /\b(?:try again|retry) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}[ ,]{0,2}){1,4})/i.exec(
      statement,
    ) ?? []
  return wait === undefined ? null : durationOf(wait)
}

/** Larger values are not worth recording; retries wait far less. */
const waitMsMax = 365 * 24 * 3600 * 1000

function waitOf(milliseconds: number): Milliseconds {
  return Math.min(Math.max(Math.ceil(milliseconds), 0), waitMsMax)
}

function numberOf(text: string | null | undefined): number | null {
  return text && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}

function untilDate(
  given: string | null | undefined,
  headers: Headers | undefined,
): Milliseconds | null {
  if (!given || !/\d\d:\d\d/.test(given)) return null // Date.parse accepts even -5
  const until = Date.parse(given) - Date.parse(headers?.get('date') ?? '')
  return Number.isFinite(until) ? waitOf(until) : null
}

// ── Exhausted limits ──

const limitHeaders = [...openaiLimits, ...anthropicLimits]

/**
 * The longest wait among the exhausted limits. A limit with an amount left did not cause the
 * refusal, and its reset may be hours away.
 */
function untilReset(headers: Headers | undefined): Milliseconds | null {
  return longestReset(headers, (left) => left === null || left === 0)
}

/** How long an accepted request leaves nothing of a limit, by its headers. 0: no limit is exhausted. */
export function exhaustedMs(headers: Headers): Milliseconds {
  return longestReset(headers, (left) => left === 0) ?? 0
}

function longestReset(
  headers: Headers | undefined,
  isExhausted: (left: number | null) => boolean,
): Milliseconds | null {
  const waits = limitHeaders.flatMap(({ remaining, reset }) => {
    const left = numberOf(headers?.get(remaining))
    const wait = isExhausted(left) ? resetOf(headers?.get(reset), headers) : null
    return wait === null ? [] : [wait]
  })
  return waits.length === 0 ? null : Math.max(...waits)
}

/**
 * From here on a number is a point in time since 1970, in seconds or milliseconds: both are later
 * than 2001.
 */
const epochSecondsMin = 1_000_000_000
const epochMsMin = 1_000_000_000_000

function resetOf(
  given: string | null | undefined,
  headers: Headers | undefined,
): Milliseconds | null {
  const number = numberOf(given)
  if (number === null) return durationOf(given ?? '') ?? untilDate(given, headers)
  if (number < epochSecondsMin) return waitOf(number * 1000)
  const until = number >= epochMsMin ? number : number * 1000
  return untilDate(
    Number.isFinite(until) && until < 8.64e15 ? new Date(until).toISOString() : '',
    headers,
  )
}

const unitsMs: [RegExp, number][] = [
  [/^(?:ms|millis|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000],
]

/** `6m0s`, `20ms`, `1.5 seconds`; null: no duration. */
function durationOf(text: string): Milliseconds | null {
  const parts = [...text.matchAll(/(\d{1,9}(?:\.\d{1,9})?) ?([a-z]{1,12})/gi)]
  const isWhole =
    parts.length > 0 &&
    text.replaceAll(/\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}/gi, '').replaceAll(/[ ,]/g, '') === ''
  let sum = 0
  for (const [, count, unit] of isWhole ? parts : []) {
    const unitMs = unitsMs.find(([name]) => name.test((unit ?? '').toLowerCase()))?.[1]
    if (unitMs === undefined) return sum === 0 ? null : waitOf(sum)
    sum += Number(count) * unitMs
  }
  return isWhole ? waitOf(sum) : null
}
