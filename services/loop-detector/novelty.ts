// What is new in a round: progress that ends streaks. Kept for the whole turn, bounded; what was
// forgotten seems new again, which is the harmless side.
// NOVELTY-1. A call that changes something is a change when it is new. Made again it is one where
//     its result says so in other words (the next commit of a bisection, the next step of a
//     migration); another number or id may be a process, a revision or a deployment, which any
//     repetition brings. It is so for repeatedChangesMax times without a new change: names that are
//     made up and lines in another order come with repetitions, too. Of a call of which nothing
//     tells whether it changes anything, only the first one may: pages and screens say something
//     else at each look.
// NOVELTY-2. What says itself that nothing changed ("already up to date"), and nothing else,
//     changed nothing.

import { limits } from '../../shared/contract/limits.ts'
import type { CallEvidence } from './evidence.ts'
import { masked } from './mask.ts'
import { meet, touch } from './recency.ts'
import { textHash } from './text-hash.ts'

export type Novelty = {
  /**
   * Results of calls, results of tools, successful calls, and what changing calls said without its
   * numbers.
   */
  outcomes: Set<string>
  texts: Set<string>
  calls: Set<string>
  words: Set<number>
  /** By changing call: how often it said something in other words since the latest new change. */
  reworded: Map<string, number>
}

export type News = {
  /** Some call had a result that it, with these arguments, did not have before. */
  outcome: boolean
  /**
   * Some tool answered with a text that it did not give before, whatever the arguments; or
   * something changed.
   */
  text: boolean
  /**
   * A call succeeded that may have changed something, in a way that the turn has not seen
   * (NOVELTY-1): what failed may be tried anew.
   */
  change: boolean
}

export function beginNovelty(): Novelty {
  return {
    outcomes: new Set(),
    texts: new Set(),
    calls: new Set(),
    words: new Set(),
    reworded: new Map(),
  }
}

/** Takes the round's calls into the memory and says what was new. */
export function newsOf(novelty: Novelty, calls: CallEvidence[]): News {
  const news: News = { outcome: false, text: false, change: false }
  for (const call of calls) {
    // A wait brings nothing, a failure without a word of why says nothing, and what a guard stopped
    // has done nothing, in whatever words it was stopped.
    if (call.effect === 'waits' || call.vetoed || call.failure?.kind === 'bare') continue
    const isNewText = meet(novelty.texts, call.result, limits.loopSeenMax)
    const isNewOutcome = meet(novelty.outcomes, call.outcome, limits.loopSeenMax)
    if (isNewText) news.text = true
    // The same error for other arguments is no news, the same answer may be: two questions may well
    // have one answer.
    if (call.failure === undefined ? isNewOutcome : isNewText) news.outcome = true
    if (call.failure !== undefined) continue
    const isNewCall = meet(novelty.calls, call.key, limits.loopSeenMax)
    const isNewChange =
      call.effect === 'changes'
        ? isChange(novelty, call, isNewCall)
        : call.effect === 'opaque' && isNewCall && isNewText
    if (isNewChange) news.change = true
  }
  if (news.change) news.text = true
  return news
}

function isChange(
  { words, reworded }: Novelty,
  { key, text }: CallEvidence,
  isNewCall: boolean,
): boolean {
  const said = text.slice(0, wordsCharsMax)
  const isOtherwise = meet(words, textHash(key + said.replace(numbers, '#')), limits.loopSeenMax)
  if (saysNothingChanged(text)) return false
  if (isNewCall) {
    reworded.clear()
    return true
  }
  if (!isOtherwise) return false
  const times = (reworded.get(key) ?? 0) + 1
  touch(reworded, key, times, limits.loopSeenMax)
  return times <= repeatedChangesMax
}

/**
 * A bisection halves what is left at each step: the first verdict and eight more of one kind leave
 * one of 500 commits, as many of both kinds one of 250,000. What comes behind them still has the
 * patience of the rules.
 */
const repeatedChangesMax = 8

/** More of what a changing call says is not looked at: what differs says so at its beginning. */
const wordsCharsMax = 256

/** Whatever has a digit in it: revisions and ids are written with letters, too. */
const numbers = /(?<![a-z\d])[a-z\d]*\d[a-z\d]*/gi

/**
 * On one line, with no count of something beside it: "0 files changed in docs, 3 files changed in
 * src" tells of a change. In doubt it does.
 */
function saysNothingChanged(text: string): boolean {
  if (text.length > wordsCharsMax || !nothingChanged.test(text) || text.trim().includes('\n'))
    return false
  return !someCount.test(masked(text))
}

const nothingChanged =
  /^(?:no changes?\b(?! ?(?:requests?|sets?|logs?|orders?)\b)|nothing (?:to (?:do|change|commit)|(?:was |has )?changed)\b|already up[ -]to[ -]date|0 (?:replacements?|changes|rows? affected|files? changed)\b)/i

/** A whole number from one on that is no part of a name, a version or a time of day. */
const someCount = /(?<![\w.#]|\w-|\d:)0*[1-9]\d*(?!\w|-\w|[.:]\d)/
