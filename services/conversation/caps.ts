// The caps of a turn (I3): which ones are in force, and which one is reached. For each cap the
// lowest counts of what the message says, what the operator stamped on any round of the turn, and
// the ceiling of limits.ts. A cap only falls in the course of a turn. So the wall limit that a
// round was asked under is never later than that of a round before it, unless a round waited for
// slow guards in between (turn-extended).

import { lowestCaps } from '../../shared/contract/caps.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Cap, Caps } from '../../shared/contract/messages.ts'

const ceilings: Caps = {
  rounds: limits.turnRoundsMax,
  calls: limits.turnCallsMax,
  wallMs: limits.turnWallMsMax,
  tokens: null,
}

/** The caps under which a turn begins. */
export function underCeilings(caps: Caps): Caps {
  return lowestCaps(caps, ceilings)
}

export type Spent = { rounds: number; calls: number; wallMs: number; tokens: number }

/**
 * The cap that is reached, in the order in which they end a turn: tokens and wall at once, rounds
 * and calls after a last text-only round.
 */
export function reachedCap(caps: Caps, spent: Spent): Cap | undefined {
  if (caps.tokens !== null && spent.tokens >= caps.tokens) return 'tokens'
  if (spent.wallMs >= caps.wallMs) return 'wall'
  if (spent.rounds >= caps.rounds) return 'rounds'
  if (spent.calls >= caps.calls) return 'calls'
  return undefined
}
