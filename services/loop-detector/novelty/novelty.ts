// The news of a round: progress that ends streaks. The memory is that of one turn, bounded. A
// forgotten entry seems new again, which errs on the harmless side.
//
// A successful call that changes something is a change if the call is new, or if its
// result differs in words. Such rewordings count up to repeatedChangesMax.
// A new successful call of a tool with unknown effect is a change, with any result. A
// call that waits, or that is new only by its stamps, is not.
// A result that only reports no change ("already up to date") is no change.
// A changing call that is new only by the id of a process is no new call: the next `kill`
// may differ in words. The same holds for the random name of a thing that the call makes.
// A new view of a known subject is no news if it has known pieces only. So a check in
// another spelling is no change.

import { limits } from '../../../shared/contract/limits.ts'
import { remember, touch } from '../../../shared/lib/recency.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { isShell, wordsOf } from '../evidence/effect.ts'
import { textHash } from '../evidence/fingerprint.ts'
import { masked } from '../evidence/mask.ts'
import { withoutRandom } from '../evidence/random-suffix.ts'
import { withoutStamps } from '../evidence/stamp.ts'
import { isScroll } from '../meaning/step.ts'
import { addPieces, viewOf } from './pieces.ts'

export type Novelty = {
  /**
   * Results of calls, results of tools, successful calls, and texts of changing calls without their
   * numbers.
   */
  outcomes: Set<string>
  texts: Set<string>
  calls: Set<string>
  words: Set<number>
  /** Stamped calls of tools with unknown effect, without their stamps. */
  plain: Set<number>
  /** By changing call: its rewordings since the latest new change. */
  reworded: Map<string, number>
  /** Pieces of views, and their subjects (pieces.ts). */
  pieces: Set<number>
  subjects: Set<string>
}

export type News = {
  /** A call had a result that it, with these arguments, did not have before. */
  outcome: boolean
  /**
   * A tool returned a text that it did not return before, for any arguments, or something changed.
   */
  text: boolean
  /** A tool succeeded with a text that it did not return before. */
  answer: boolean
  /**
   * A call succeeded and may have changed something for the first time in the turn, so
   * a failed call is worth another try.
   */
  change: boolean
  /** Every call of the round had its result before in the turn, or shows known pieces only. */
  known: boolean
  /** A view has a new piece, or a success without pieces a new result. */
  piece: boolean
  /** New calls whose views have known pieces only. */
  old: CallEvidence[]
}

export function emptyNovelty(): Novelty {
  return {
    outcomes: new Set(),
    texts: new Set(),
    calls: new Set(),
    words: new Set(),
    plain: new Set(),
    reworded: new Map(),
    pieces: new Set(),
    subjects: new Set(),
  }
}

/** Adds the calls of the round to the memory, and sets their `isNew`. Returns their news. */
export function newsOf(novelty: Novelty, calls: CallEvidence[]): News {
  const news: News = {
    outcome: false,
    text: false,
    answer: false,
    change: false,
    known: calls.length > 0,
    piece: false,
    old: [],
  }
  for (const call of calls) {
    const isNewOutcome = remember(novelty.outcomes, call.outcome, limits.loopSeenMax)
    call.isNew = isNewOutcome
    const sight = sightOf(novelty, call)
    if (sight === 'old') news.old.push(call)
    else if (isNewOutcome) news.known = false
    if (sight === 'new') news.piece = true
    // A wait, an echo, a failure without a reason and a denied call bring no news, in any words.
    if (call.effect === 'waits' || call.isEcho || call.isDenied || call.failure?.kind === 'bare')
      continue
    const isNewText = remember(novelty.texts, call.result, limits.loopSeenMax)
    if (isNewText) news.text = true
    if (isNewText && call.failure === undefined) {
      news.answer = true
      if (sight === 'none') news.piece = true
    }
    // A page that refuses each address.
    const isRefusal = call.opens && !isNewText && call.answer.length >= refusalMin
    // The same error for other arguments is no news. The same answer may be: two questions can have
    // one answer.
    if (call.failure === undefined ? isNewOutcome && !isScroll(call) && !isRefusal : isNewText)
      news.outcome = true
    if (call.failure !== undefined || call.reported !== undefined || call.poll || isRefusal)
      continue
    if (sight === 'old' && call.effect === 'changes') continue
    const isNewCall = remember(novelty.calls, call.key, limits.loopSeenMax)
    const isNewChange =
      call.effect === 'changes'
        ? isChange(novelty, call, isNewCall)
        : call.effect === 'opaque' && isNewCall && isNewWithoutStamps(novelty, call)
    if (isNewChange) news.change = true
  }
  if (news.change) news.text = true
  return news
}

/** A shorter answer acknowledges. */
const refusalMin = 64

/** `known`: a known call, or a known answer to a call with another subject. */
function sightOf(novelty: Novelty, call: CallEvidence): 'none' | 'new' | 'old' | 'known' {
  const view = viewOf(call)
  if (view === undefined) return 'none'
  const isOtherSubject = remember(novelty.subjects, view.subject, limits.loopSeenMax)
  if (addPieces(novelty.pieces, view)) return 'new'
  if (novelty.calls.has(call.key)) return 'known'
  return isOtherSubject && novelty.texts.has(call.result) ? 'known' : 'old'
}

function isNewWithoutStamps(
  { plain }: Novelty,
  { tool, value, mayBeStamped }: CallEvidence,
): boolean {
  if (!mayBeStamped) return true
  const text = withoutStamps(value)
  return text === undefined || remember(plain, textHash(`${tool} ${text}`), limits.loopSeenMax)
}

/**
 * A repeated call is a change if its result differs in words: the next commit of a bisection, the
 * next step of a migration. Another number or id may be a process or a deployment, which any
 * repetition brings, but a command that moves the tree names the revision. Rewordings are limited because random names and another order of
 * lines look like rewordings.
 */
function isChange(
  { words, plain, reworded }: Novelty,
  { key: exact, tool, raw, text }: CallEvidence,
  isNewExactly: boolean,
): boolean {
  const unnamed = withoutNames(tool, raw)
  const key = unnamed === raw ? exact : `${tool} ${unnamed}`
  const isNewCall =
    isNewExactly && (key === exact || remember(plain, textHash(key), limits.loopSeenMax))
  const beginning = text.slice(0, wordsCharsMax)
  const isReworded = remember(
    words,
    textHash(key + (movesTree.test(raw) ? beginning : beginning.replace(numbers, '#'))),
    limits.loopSeenMax,
  )
  if (saysNothingChanged(text, raw)) return false
  if (isNewCall) {
    reworded.clear()
    return true
  }
  if (!isReworded) return false
  const times = (reworded.get(key) ?? 0) + 1
  touch(reworded, key, times, limits.loopSeenMax)
  return times <= repeatedChangesMax
}

/**
 * A bisection halves its range at each step. The first verdict and eight more of one kind leave one
 * of 500 commits, eight more of both kinds one of 250,000. Later steps still have the limits of the
 * rules.
 */
const repeatedChangesMax = 8

/** The part of a result that is compared: a difference shows at its beginning. */
const wordsCharsMax = 256

/** A stash or a revert has a new revision for the same tree. */
const movesTree =
  /\bgit (?:-\S+ (?:[^-\s]\S* )?)?(?:bisect|checkout|switch|reset|rebase|merge|pull)\b/

/** Words with a digit: revisions and ids have letters too. */
const numbers = /(?<![a-z\d])[a-z\d]*\d[a-z\d]*/gi

/**
 * Whether the result is one line that reports no change, without any other count. "0 files changed
 * in docs, 3 files changed in src" reports a change. In doubt it is a change.
 */
function saysNothingChanged(text: string, raw: string): boolean {
  if (text.length > wordsCharsMax || !nothingChanged.test(text)) return false
  const line = text.replace(rowsMatched, '').trim()
  // MySQL reports no row for a new table either.
  return !line.includes('\n') && !someCount.test(masked(line)) && !definition.test(raw)
}

const definition = /\b(?:create|alter|drop|truncate|grant|revoke)\s/i
const rowsMatched = /\nRows matched:.*$/

/** The arguments without ids of processes, and without random names of things that the call makes. */
function withoutNames(tool: string, raw: string): string {
  if (raw.length > namesCharsMax || !named.test(raw)) return raw
  const text = raw.replace(processId, '$1#')
  const isMade = makes.test(isShell(wordsOf(tool)) ? raw : tool)
  return isMade ? text.replace(randomWord, withoutRandom) : text
}

/** Other calls, such as `update_order`, name one of many things. */
const makes = /(?:\b|_)(?:[Cc]reate|[Ss]tart|[Rr]un|[Ll]aunch|[Ss]pawn|mkdir)(?![a-z])/
const namesCharsMax = 512
const named = /kill |"pid"|[-_.][a-z\d]{4}/i
const processId = /(\b(?:task)?kill(?: [-/]{1,2}\w+)* |"pid": ?)\d+(?=[,}"\s]|$)/gi
const randomWord = /[\w.-]{6,80}/g

const nothingChanged =
  /^(?:no changes?\b(?! ?(?:requests?|sets?|logs?|orders?)\b)|nothing (?:to (?:do|change|commit)|(?:was |has )?changed)\b|already up[ -]to[ -]date|0 (?:replacements?|changes|rows? (?:affected|changed|updated|inserted|deleted)|files? changed)\b|(?:query ok, )?0 rows? affected\b|(?:insert 0|update|delete|merge) 0$|\{[^{}]{0,160}"(?:row_?count|affected_?rows|rows_?affected|changes|(?:modified|matched)_?count)" ?: ?0[,}])/i

/** A positive whole number that is no part of a name, a version or a time of day. */
const someCount = /(?<![\w.#]|\w-|\d:)0*[1-9]\d*(?!\w|-\w|[.:]\d)/
