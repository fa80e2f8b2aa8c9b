// Edits in ever new words leave one and the same error in the file that they edit. Each edit is a
// change, so the other rules take the next check for a new experiment.
//
// A round counts if the turn edited a known file since the last check, and no other file.
// So a change through many files is honest, however long its build is broken.
// The error names the edited file. A test that failed before the work names another one.
// Equal errors count, or those that differ only in lines and columns, with the
// doubled patience: the next error of a file may have the same words.
// An error that is new in the turn, or a success, of the same operation ends its streaks.
// The ladder has one step for each whole limit of rounds, as for same-change.

import { limits } from '../../../../shared/contract/limits.ts'
import { remember } from '../../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../../evidence/call-evidence.ts'
import { namesError } from '../../evidence/error-text.ts'
import { textHash } from '../../evidence/fingerprint.ts'
import { masked } from '../../evidence/mask.ts'
import { type CountedStreak, counted, found, roundsText, weightiest } from '../../ladder.ts'
import { placeOfChange } from '../../meaning/written-text.ts'
import { batchRoundsMax, sameAnswerRoundsMax } from '../../patience.ts'
import type { Finding, Rule } from '../../rule.ts'

/** `same`: the rounds whose error was known with its lines and columns. */
type Unmoved = CountedStreak & { operation: string; same: number }
/**
 * `places`: the names of all edited files, and `editors`: the operations that edited them. `edited`:
 * the files since the newest check. `errors`: with and without lines and columns.
 */
type Memory = {
  places: Set<string>
  editors: Set<string>
  edited: 'nothing' | 'known' | 'new'
  errors: Set<string>
  streaks: Map<string, Unmoved>
}

export const unmovedError: Rule<Memory> = {
  name: 'unmoved-error',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Edits of a file leave the same error in it.',
  firesWhen:
    'a check reports the same error in a file after the 8th more edit of known files, or after the 16th if the error moves within the file',
  endedBy: 'a success, or another error, of the same check',
  sentence: 'kept editing a file without an effect on its error',
  initial: () => ({
    places: new Set(),
    editors: new Set(),
    edited: 'nothing',
    errors: new Set(),
    streaks: new Map(),
  }),

  judge(memory, { calls }, { loop }) {
    const findings: Finding[] = []
    for (const call of calls) {
      noteEdit(memory, call)
      const isFailedEdit = call.failure !== undefined && memory.editors.has(call.operation)
      if (memory.places.size === 0 || isFailedEdit) continue
      const error = errorIn(call)
      if (error === undefined || !namesPlace(error, memory.places)) {
        endStreaks(memory, call)
        if (error !== undefined) memory.edited = 'nothing'
        continue
      }
      const isKnown = !remember(memory.errors, keyOf(call, error), limits.loopSeenMax)
      const key = keyOf(call, error.replace(position, '$1#'))
      const isOld = !remember(memory.errors, key, limits.loopSeenMax)
      if (!isOld) endStreaks(memory, call)
      const { edited } = memory
      memory.edited = 'nothing'
      if (!isOld || edited !== 'known') continue
      const { operation } = call
      const streak = counted(memory.streaks, key, call, () => ({ operation, same: 0 }))
      if (streak === undefined) continue
      if (isKnown) streak.same += 1
      const isDue = isKnown && streak.same % sameAnswerRoundsMax(loop) === 0
      if (isDue || streak.rounds % batchRoundsMax(loop) === 0) findings.push(finding(streak, call))
    }
    return weightiest(findings)
  },
}

/** The first edit of a file is a step of a longer change. */
function noteEdit(memory: Memory, call: CallEvidence): void {
  const place = placeOfChange(call)
  if (place === undefined) return
  remember(memory.editors, call.operation, limits.loopStreaksMax)
  for (const path of place.split('\n')) {
    const isNew = remember(memory.places, nameOf(path), limits.loopStreaksMax)
    if (isNew) memory.edited = 'new'
    else if (memory.edited === 'nothing') memory.edited = 'known'
  }
}

/** `src/cart.ts` and its test `src/cart.test.ts` are `cart`. A short name keeps its ending. */
function nameOf(path: string): string {
  const name = path.replace(/^.*[/\\]/, '').slice(0, nameCharsMax)
  const [stem = ''] = name.split('.')
  return stem.length < stemCharsMin ? name : stem
}

const stemCharsMin = 3
/** As long as a file system allows. The title of a note may be longer. */
const nameCharsMax = 255

function namesPlace(error: string, places: Set<string>): boolean {
  return [...places].some((place) => place !== '' && error.includes(place))
}

/** The masked error of a check: of a failure, or of a success that tells of one. */
function errorIn(call: CallEvidence): string | undefined {
  const { failure, isDenied, text, tool, effect } = call
  if (isDenied || failure?.kind === 'transient') return undefined
  const head = (text || failure?.reason || '').slice(0, charsMax)
  const isCheck = effect !== 'reads' || checks.test(tool)
  const tellsError =
    failure !== undefined || (isCheck && (namesError(head) || someFailed.test(head)))
  return tellsError ? masked(head) : undefined
}

const charsMax = 4_096
const checks = /error|diagnostic|problem|lint|test|check|validate|verify/i
/** A count, or a message of a compiler at its line. */
const someFailed =
  /\b[1-9]\d{0,5} (?:failed|failing|failures?|errors?)\b|^[\w./-]{1,200}:\d{1,7}:(?:\d{1,7}:)? \S/im
/** A line, a column, or the number before a line of code. */
const position = /([:(,]|\blines? )\d{1,7}\b|\b\d{1,7}(?= \|)/gi

/** Of the operation of a call that tells of no error in an edited file. */
function endStreaks({ streaks }: Memory, { operation }: CallEvidence): void {
  for (const [key, streak] of streaks) if (streak.operation === operation) streaks.delete(key)
}

function keyOf({ operation }: CallEvidence, error: string): string {
  return `${operation} ${textHash(error)}`
}

function finding(streak: Unmoved, { tool, failure, shown }: CallEvidence): Finding {
  const reason = failure?.reason ?? shown.outcome
  return found(streak, {
    key: `${tool}: ${reason}`,
    reason: `${tool} reported the same error in ${roundsText(streak.rounds)} after edits of the same files: ${reason}`,
    text: noProgress(streak.shown, texts.unmovedError(reason)),
  })
}
