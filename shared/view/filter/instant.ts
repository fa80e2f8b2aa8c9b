// A time that a person types: `2026-07-29T10:12:03Z`, `2026-07-29`, `10m ago`, `now`. Pure.

import type { Milliseconds } from '../../lib/clock.ts'
import { durationOf } from '../../lib/duration.ts'

const ago = /^(.+?)\s*ago$/
const iso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?\s*(?:Z|[+-]\d\d:\d\d)?)?$/

/**
 * Undefined: the text is not a time. A time without a zone is in the zone of this machine. A date
 * without a time begins at midnight UTC.
 */
export function instantOf(text: string, now: Milliseconds): Milliseconds | undefined {
  if (text === 'now') return now
  const past = durationOf(ago.exec(text)?.[1] ?? '')
  if (past !== undefined) return now - past
  const time = iso.test(text)
    ? Date.parse(text.replace(/ (?=\d)/, 'T').replaceAll(' ', ''))
    : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
