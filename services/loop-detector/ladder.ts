// The ladder: the consequences of a streak that goes on. First a nudge, then one round without
// tools, then the end of the turn.
//
// Each streak climbs independently: one step for each matching round from its threshold
// on. A rule may ask for more rounds, or for a repeated call, before the next step.
// No streak steps down. Real progress ends a streak and its action, and a new turn ends
// all. A rule that leaves shadow starts at the bottom and keeps its counts.

import { limits } from '../../shared/contract/limits.ts'
import type { EvidenceRef, InterventionAction } from '../../shared/contract/messages.ts'
import { unreachable } from '../../shared/contract/stage.ts'
import { touch } from '../../shared/lib/recency.ts'
import type { ShownCall } from '../../shared/model-texts/interventions.ts'
import type { CallEvidence } from './evidence/call-evidence.ts'
import type { Finding } from './rule.ts'

/** The memory of a repetition. */
export type Streak = {
  action: InterventionAction | 'none'
  /** The newest round that matched it. */
  round: number
  /** The newest calls that matched it, oldest first, bounded. */
  shown: ShownCall[]
  evidence: EvidenceRef[]
}

export function emptyStreak(): Streak {
  return { action: 'none', round: 0, shown: [], evidence: [] }
}

/** Adds a matching call to the streak. */
export function addMatch(
  streak: Streak,
  { ref, tool, shown }: Pick<CallEvidence, 'ref' | 'tool' | 'shown'>,
): void {
  streak.round = ref.round
  streak.shown.push({ tool, arguments: shown.arguments, outcome: shown.outcome })
  if (streak.shown.length > limits.interventionCallsMax) streak.shown.shift()
  streak.evidence.push(ref)
  if (streak.evidence.length > limits.interventionEvidenceMax) streak.evidence.shift()
}

export type CountedStreak = Streak & { rounds: number }

/**
 * The streak of the key in the memory, with one more round. Undefined: a sibling already counts for
 * this round.
 */
export function counted<Own extends object>(
  memory: Map<string, CountedStreak & Own>,
  key: string,
  call: Pick<CallEvidence, 'ref' | 'tool' | 'shown'>,
  own: () => Own,
): (CountedStreak & Own) | undefined {
  const known = memory.get(key)
  if (known?.round === call.ref.round) return undefined
  const streak = known ?? { ...emptyStreak(), rounds: 0, ...own() }
  addMatch(streak, call)
  streak.rounds += 1
  touch(memory, key, streak, limits.loopStreaksMax)
  return streak
}

/** The count in words. A threshold may be 1. */
export function roundsText(rounds: number): string {
  return rounds === 1 ? '1 round' : `${rounds} rounds`
}

/** Climbs one step. The top is the end. */
export function climb(streak: { action: InterventionAction | 'none' }): InterventionAction {
  streak.action = above(streak.action)
  return streak.action
}

/** The finding of a streak: no progress. `action`: default the next step of the streak. */
export function found(
  streak: Pick<Streak, 'action'> & Partial<Streak>,
  given: Pick<Finding, 'key' | 'reason' | 'text'> & Partial<Finding>,
): Finding {
  const { action = climb(streak), evidence = streak.evidence ?? [] } = given
  return { ordinary: false, class: 'no_progress', ...given, action, evidence }
}

function above(action: InterventionAction | 'none'): InterventionAction {
  switch (action) {
    case 'none':
      return 'nudge'
    case 'nudge':
      return 'text_only'
    case 'text_only':
    case 'end':
      return 'end'
    default:
      return unreachable(action)
  }
}

/**
 * Puts all streaks of a rule at the bottom. `memory`: plain data in which each action is called
 * `action`.
 */
export function stepDown(memory: unknown): void {
  if (typeof memory !== 'object' || memory === null) return
  if ('action' in memory) memory.action = 'none'
  // Maps, sets and arrays alike.
  for (const part of Symbol.iterator in memory
    ? (memory as Iterable<unknown>)
    : Object.values(memory))
    stepDown(part)
}

const heights: Record<InterventionAction, number> = { nudge: 1, text_only: 2, end: 3 }

/**
 * The finding that decides the round: the strongest action, then a verdict before an ordinary reminder,
 * then the first one.
 */
export function weightiest<F extends { action: InterventionAction; ordinary: boolean }>(
  findings: F[],
): F | undefined {
  if (findings.length < 2) return findings[0] // nearly always
  return findings.toSorted(
    (a, b) => heights[b.action] - heights[a.action] || Number(a.ordinary) - Number(b.ordinary),
  )[0]
}
