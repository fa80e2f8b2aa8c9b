// What is new in a round: progress that ends streaks. Kept for the whole turn, bounded; what was forgotten seems new again, which is the harmless side.

import { limits } from '../../shared/limits.ts'
import type { CallEvidence } from './evidence.ts'
import { meet } from './recency.ts'

export type Novelty = {
  /** Results of calls, results of tools, and successful calls that were met. */
  outcomes: Set<string>
  texts: Set<string>
  calls: Set<string>
}

export type News = {
  /** Some call had a result that it, with these arguments, did not have before. */
  outcome: boolean
  /** Some tool answered with a text that it did not give before, whatever the arguments; or something changed. */
  text: boolean
  /** A call succeeded that may have changed something and that did not succeed so before: what failed may be tried anew. */
  change: boolean
}

export function beginNovelty(): Novelty {
  return { outcomes: new Set(), texts: new Set(), calls: new Set() }
}

/** Takes the round's calls into the memory and says what was new. */
export function newsOf(novelty: Novelty, calls: CallEvidence[]): News {
  const news: News = { outcome: false, text: false, change: false }
  for (const call of calls) {
    // A wait brings nothing, a failure without a word of why says nothing, and what a guard stopped has done nothing, in whatever words it was stopped.
    if (call.effect === 'waits' || call.vetoed || call.failure?.kind === 'bare') continue
    const isNewText = meet(novelty.texts, call.result, limits.loopSeenMax)
    const isNewOutcome = meet(novelty.outcomes, call.key + call.result, limits.loopSeenMax)
    if (isNewText) news.text = true
    // The same error for other arguments is no news, the same answer may be: two questions may well have one answer.
    if (call.failure === undefined ? isNewOutcome : isNewText) news.outcome = true
    if (call.failure !== undefined) continue
    const isNewCall = meet(novelty.calls, call.key, limits.loopSeenMax)
    if (isNewCall && (call.effect === 'changes' || (call.effect === 'opaque' && isNewText))) news.change = true
  }
  if (news.change) news.text = true
  return news
}
