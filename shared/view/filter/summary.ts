// The values of a turn by which lists and exports select turns, and the savings of a turn's end. Pure.
// An upper bound: the turn goes on at its pace until the first of its caps. Each round has
// the tokens of the last response. The turn could also have ended earlier.

import { limits } from '../../contract/limits.ts'
import type { Cap, FailureClass, TurnOutcome } from '../../contract/messages.ts'
import type { Milliseconds } from '../../lib/clock.ts'
import { tokensOf } from '../totals.ts'
import { factsOf, type TurnFacts } from '../turn-facts.ts'
import type { TurnView } from '../turn-view.ts'

/** `agent`, `tenant`, `tree` null: its record is not there. `outcome`: open, as long as there is no end. */
export type TurnSummary = {
  tenant: string | null
  agent: string | null
  /** The conversation at the root of its tree. */
  tree: string | null
  /** The tools that the model called, by the names that it wrote. */
  tools: string[]
  outcome: TurnOutcome | 'open'
  failureClass: FailureClass | null
  cap: Cap | null
  facts: TurnFacts
}

export function turnSummary({ tenant, agent, tree, tools, end, facts }: TurnView): TurnSummary {
  return {
    tenant: tenant ?? null,
    agent: agent ?? null,
    tree: tree ?? null,
    tools: [...tools],
    outcome: end?.outcome ?? 'open',
    failureClass: end?.class ?? null,
    cap: end?.cap ?? null,
    facts: factsOf(facts),
  }
}

/** The rounds and tokens that the end of a turn saves at most. */
export type Savings = { rounds: number; tokens: number }

/** `now`: the end of the turn, or of its calls. */
export function savingsAtMost(turn: TurnView, now: Milliseconds): Savings {
  const rounds = Math.max(0, Math.min(...roundsToCaps(turn, now)))
  return { rounds, tokens: rounds * lastTokens(turn) }
}

/** The rounds until each cap. An older log has no caps but that on calls. */
function roundsToCaps(turn: TurnView, now: Milliseconds): number[] {
  const { round, calls, callsLeft, caps, tokens, firstAt, startedAt = firstAt } = turn
  const begun = Math.max(1, round)
  const untilCalls = roundsFor(callsLeft, calls / begun)
  if (caps === undefined) return [untilCalls, limits.turnRoundsMax - round]
  const passedMs = now - startedAt
  return [
    untilCalls,
    caps.rounds - round,
    roundsFor(caps.wallMs - passedMs, passedMs / begun),
    ...(caps.tokens === null ? [] : [roundsFor(caps.tokens - tokens, lastTokens(turn))]),
  ]
}

function roundsFor(left: number, eachRound: number): number {
  return Math.ceil(left / Math.max(1, eachRound))
}

function lastTokens({ usage }: TurnView): number {
  return usage === undefined ? 0 : tokensOf(usage)
}
