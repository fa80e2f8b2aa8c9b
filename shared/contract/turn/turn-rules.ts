// The rules of a turn that conversations and guests share: the caps (I3) in force, the one that is
// reached, and the response that is the reply.
//
// Each cap is the lowest of three values: that of the message, those that the operator stamped on
// the turn's rounds, and the ceiling of limits.ts. So a cap only falls during a turn, and the
// deadline of a round is never later than that of an earlier round. The exception is a round that
// waited for slow guards (turn-extended).

import { limits } from '../limits.ts'
import type { Cap, Caps, Intervention, Response } from '../messages.ts'
import { lowestCaps } from './caps.ts'

const ceilings: Caps = {
  rounds: limits.turnRoundsMax,
  calls: limits.turnCallsMax,
  wallMs: limits.turnWallMsMax,
  tokens: null,
}

/** The caps with which a turn begins. */
export function underCeilings(caps: Caps): Caps {
  return lowestCaps(caps, ceilings)
}

export type Spent = { rounds: number; calls: number; wallMs: number; tokens: number }

/**
 * The cap that is reached. Tokens and wall end a turn at once, rounds and calls after a last
 * text-only round.
 */
export function reachedCap(caps: Caps, spent: Spent): Cap | undefined {
  if (caps.tokens !== null && spent.tokens >= caps.tokens) return 'tokens'
  if (spent.wallMs >= caps.wallMs) return 'wall'
  if (spent.rounds >= caps.rounds) return 'rounds'
  if (spent.calls >= caps.calls) return 'calls'
  return undefined
}

/**
 * Whether the response ends its turn. A text with an intervention against it (it repeats itself) is
 * no reply, unless a schema alone judges it (`hasSchema`). Neither is a call that the model wrote as
 * text: the next request explains that it cannot run (I2).
 */
export function isReply(
  { text, calls, textCalls }: Response,
  intervention: Intervention | null,
  hasSchema = false,
): boolean {
  if (text.trim() === '' || calls.length > 0) return false
  if (intervention === null) return true
  return textCalls?.fault == null && (intervention.ordinary || hasSchema)
}
