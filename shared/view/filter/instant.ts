// A time or a duration that a person types: `2026-07-29T10:12:03Z`, `2026-07-29`, `10m ago`, `now`; `90s`.
// Pure.

import type { Milliseconds } from '../../lib/clock.ts'

const units: Record<string, Milliseconds> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
const ago = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*ago$/
const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?\s*(?:Z|[+-]\d\d:\d\d)?)?$/

/**
 * Undefined: the text is not a time. A time without a zone is in the zone of this machine. A date
 * without a time begins at midnight UTC.
 */
export function instantOf(text: string, now: Milliseconds): Milliseconds | undefined {
  if (text === 'now') return now
  const [, amount, unit = ''] = ago.exec(text) ?? []
  if (amount !== undefined) return now - Number(amount) * (units[unit] as number)
  const time = iso.test(text)
    ? Date.parse(text.replace(/ (?=\d)/, 'T').replaceAll(' ', ''))
    : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** `90s`, `1.5h`. Undefined: the text is no duration. */
export function durationOf(text: string): Milliseconds | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (units[unit] as number)
}
