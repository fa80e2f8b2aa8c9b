// The ladder: what a streak that goes on leads to. A nudge, then one round without tools, then the
// end of the turn.
// LADDER-1. Each streak climbs by itself, one rung for each round that matches it from its
//     threshold on.
// LADDER-2. Nothing steps down. A streak that real progress ends is forgotten with its rung; a new
//     turn forgets all of them. A rule that was in shadow and enforces from now on begins at the
//     bottom, with all that it has counted: the model was shown nothing of it.

import { limits } from '../../shared/contract/limits.ts'
import type { EvidenceRef, Rung } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import type { CallEvidence } from './evidence.ts'

/** What a rule remembers of something that repeats. */
export type Streak = {
  rung: Rung | 'none'
  /** The newest round that matched it. */
  round: number
  /** The newest calls that matched it, oldest first, bounded. */
  shown: ShownCall[]
  evidence: EvidenceRef[]
}

export type ShownCall = { tool: string; arguments: string; outcome: string }

export function beginStreak(): Streak {
  return { rung: 'none', round: 0, shown: [], evidence: [] }
}

/** Takes a matching call into the streak. */
export function matched(streak: Streak, { ref, tool, shown }: CallEvidence): void {
  streak.round = ref.round
  streak.shown = [...streak.shown, { tool, ...shown }].slice(-limits.interventionCallsMax)
  streak.evidence = [...streak.evidence, ref].slice(-limits.interventionEvidenceMax)
}

/** A threshold may be 1. */
export function roundsText(rounds: number): string {
  return rounds === 1 ? '1 round' : `${rounds} rounds`
}

/** One rung up; the top is the end. */
export function climb(streak: { rung: Rung | 'none' }): Rung {
  streak.rung = above(streak.rung)
  return streak.rung
}

function above(rung: Rung | 'none'): Rung {
  switch (rung) {
    case 'none':
      return 'nudge'
    case 'nudge':
      return 'text_only'
    case 'text_only':
    case 'end':
      return 'end'
    default:
      return unreachable(rung)
  }
}

/**
 * Puts all streaks of a rule at the bottom. `memory`: what the rule remembers, plain data in which
 * a rung is called so.
 */
export function stepDown(memory: unknown): void {
  if (typeof memory !== 'object' || memory === null) return
  if ('rung' in memory) memory.rung = 'none'
  // Maps, sets and arrays alike.
  for (const part of Symbol.iterator in memory
    ? (memory as Iterable<unknown>)
    : Object.values(memory))
    stepDown(part)
}

const heights: Record<Rung, number> = { nudge: 1, text_only: 2, end: 3 }

/**
 * The finding that decides the round: the highest rung, a verdict before a usual reminder, the
 * first one among equals.
 */
export function weightiest<F extends { rung: Rung; ordinary: boolean }>(
  findings: F[],
): F | undefined {
  return findings.toSorted(
    (a, b) => heights[b.rung] - heights[a.rung] || Number(a.ordinary) - Number(b.ordinary),
  )[0]
}
