// Caps of a turn (I3). The lowest of the agent, the operator and limits.ts counts.
// This folder has the values of a turn that several stages share. Not here: the state of a turn
// (services/turn, services/conversation).

import type { Caps } from '../messages.ts'

/** The lower value of each cap. No cap on tokens is higher than any number. */
export function lowestCaps(a: Caps, b: Caps): Caps {
  const tokens = Math.min(
    a.tokens ?? Number.POSITIVE_INFINITY,
    b.tokens ?? Number.POSITIVE_INFINITY,
  )
  return {
    rounds: Math.min(a.rounds, b.rounds),
    calls: Math.min(a.calls, b.calls),
    wallMs: Math.min(a.wallMs, b.wallMs),
    tokens: tokens === Number.POSITIVE_INFINITY ? null : tokens,
  }
}
