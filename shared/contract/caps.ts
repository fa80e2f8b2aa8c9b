// Caps of a turn (I3): whoever sets them, an agent, the operator or limits.ts, the lowest counts.

import type { Caps } from './messages.ts'

/** For each cap the lower one; no cap on tokens is higher than any. */
export function lowestCaps(a: Caps, b: Caps): Caps {
  return {
    rounds: Math.min(a.rounds, b.rounds),
    calls: Math.min(a.calls, b.calls),
    wallMs: Math.min(a.wallMs, b.wallMs),
    tokens:
      a.tokens === null ? b.tokens : b.tokens === null ? a.tokens : Math.min(a.tokens, b.tokens),
  }
}
