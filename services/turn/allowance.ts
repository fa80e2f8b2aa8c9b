// The allowance of a turn: its caps (I3), the part of them that is used, and the time at which the
// turn is over. Conversations and guests keep one for each open turn.
//
// Each cap is the lowest of three values: that of the message, those that the operator stamped on
// the turn's rounds, and the ceiling of limits.ts. So a cap only falls during a turn, and the
// deadline of a round is never later than that of an earlier round. The exception is a round that
// waited for slow guards (turn-extended).

import { limits } from '../../shared/contract/limits.ts'
import type { Cap, Caps, RoundOutcome, TokenSum, Totals } from '../../shared/contract/messages.ts'
import { lowestCaps } from '../../shared/contract/turn/caps.ts'
import { capNudge, reasons } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

export type Allowance = {
  openedAt: Milliseconds
  caps: Caps
  /** The end to which rounds with slow guards extended the turn. 0: none did. */
  extendedTo: Milliseconds
  /** `rounds`: those that began. The sums are over all finished rounds. */
  used: { rounds: number; calls: number } & TokenSum
}

/** The effect of a reached cap. Without `nudge` the turn ends, otherwise one response may follow. */
export type CapStep = { cap: Cap; reason: string; nudge?: string }

const ceilings: Caps = {
  rounds: limits.turnRoundsMax,
  calls: limits.turnCallsMax,
  wallMs: limits.turnWallMsMax,
  tokens: null,
}

export function newAllowance(caps: Caps, openedAt: Milliseconds): Allowance {
  return {
    openedAt,
    caps: lowestCaps(caps, ceilings),
    extendedTo: 0,
    used: { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0 },
  }
}

/** The allowance when one more round begins. */
export function withRound({ used, ...allowance }: Allowance): Allowance {
  return { ...allowance, used: { ...used, rounds: used.rounds + 1 } }
}

/**
 * The allowance after a round, with the caps of the operator. Denied calls, cached tokens and the
 * tokens of agents that its calls ran count.
 */
export function withOutcome(
  { caps, used, ...allowance }: Allowance,
  { response, results, policy }: RoundOutcome,
): Allowance {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = response.usage
  const ofAgents = (name: keyof TokenSum) =>
    results.reduce((sum, { tokens }) => sum + (tokens?.[name] ?? 0), 0)
  const input = inputTokens + cacheReadTokens + cacheWriteTokens + ofAgents('inputTokens')
  return {
    ...allowance,
    caps: lowestCaps(caps, policy.caps),
    used: {
      rounds: used.rounds,
      calls: used.calls + response.calls.length,
      inputTokens: used.inputTokens + input,
      outputTokens: used.outputTokens + outputTokens + ofAgents('outputTokens'),
    },
  }
}

/** Extended for slow guards, up to a ceiling that no message can raise. */
export function extended(allowance: Allowance, until: Milliseconds): Allowance {
  const ceiling = allowance.openedAt + limits.turnWallMsMax + limits.turnExtensionMsMax
  return {
    ...allowance,
    extendedTo: Math.max(allowance.extendedTo, Math.min(until, ceiling)),
  }
}

/** The append time at which the turn is over. From then on nothing of it may start. */
export function expiresAt({ openedAt, caps, extendedTo }: Allowance): Milliseconds {
  return Math.max(openedAt + caps.wallMs, extendedTo)
}

/** The caps in force. The wall limit includes the extension by slow guards. */
export function capsNow(allowance: Allowance): Caps {
  return { ...allowance.caps, wallMs: expiresAt(allowance) - allowance.openedAt }
}

export function totalsOf({ used, openedAt }: Allowance, time: Milliseconds): Totals {
  return { ...used, wallMs: time - openedAt }
}

/**
 * The cap that is reached, and its effect. Tokens and wall end a turn at once, rounds and calls
 * after a last text-only round.
 */
export function capStep(allowance: Allowance, time: Milliseconds): CapStep | undefined {
  const caps = capsNow(allowance)
  const { rounds, calls, inputTokens, outputTokens, wallMs } = totalsOf(allowance, time)
  const tokens = inputTokens + outputTokens
  if (caps.tokens !== null && tokens >= caps.tokens)
    return { cap: 'tokens', reason: reasons.tokens(caps.tokens, tokens) }
  if (wallMs >= caps.wallMs) return wallStep(allowance)
  if (rounds >= caps.rounds) return lastResponse('rounds', caps.rounds)
  if (calls >= caps.calls) return lastResponse('calls', caps.calls)
  return undefined
}

/** The effect of the wall limit, whenever it is noticed. */
export function wallStep(allowance: Allowance): CapStep & { cap: 'wall' } {
  return { cap: 'wall', reason: reasons.wall(capsNow(allowance).wallMs) }
}

function lastResponse(cap: 'rounds' | 'calls', max: number): CapStep {
  return { cap, reason: reasons[cap](max), nudge: capNudge(cap, max) }
}
