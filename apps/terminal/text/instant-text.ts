// A time that a user types as an option (shared/view/filter/instant.ts).

import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { instantOf } from '../../../shared/view/filter/instant.ts'
import { printable } from './printable.ts'

/** Throws `usage` for the option `flag`. */
export function instantOfFlag(flag: string, text: string, now: Milliseconds): Milliseconds {
  const time = instantOf(text, now)
  if (time === undefined)
    throw usageError(
      `${flag} is '${printable(text)}': give a time such as 2026-07-29T10:12:03Z or '10m ago' (ms, s, m, h, d)`,
    )
  return time
}
