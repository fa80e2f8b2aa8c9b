// Calls in a row with the same words and another number: `seek(17)`, `seek(18)`. Each is new, so no
// other rule counts them. They may be an honest batch, so the model is only reminded.
//
// COUNTING-1. The results are equal too, without the numbers of their calls. A result with any other
//     new number is an answer.
// COUNTING-2. Another call, a failure or a wait ends the row. The action is never more than a nudge.
// COUNTING-3. A tool whose name or declaration says that it changes something makes a batch. A
//     command is only guessed to change something, so it counts.
// COUNTING-4. The number stands in a text with words, or its name says that it only counts. An id, a
//     page or a time is a question.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import { type CallEvidence, isWaiting } from '../../evidence/evidence.ts'
import { addMatch, emptyStreak, found, type Streak } from '../../ladder.ts'
import { countingRoundsMax } from '../../patience.ts'
import type { Rule } from '../../rule.ts'

/** `last`: the newest call of the row. `rounds`: 0 without a row. */
type Memory = { last: CallEvidence | undefined; streak: Streak; rounds: number }

const noRow = (): Memory => ({ last: undefined, streak: emptyStreak(), rounds: 0 })

export const counting: Rule<Memory> = {
  name: 'counting',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Calls in a row differ only in a number, and so do their results.',
  firesWhen:
    'the 16th call in a row has the same words and another number, and its result says nothing more. It only reminds the model, and again after as many calls',
  endedBy: 'any other call, a result with any other new number, a failure, or a wait',
  sentence: 'kept counting',
  initial: noRow,

  judge(memory, { calls }, { loop }) {
    const [call] = calls
    if (call === undefined) return undefined
    if (calls.length > 1 || !mayCount(call)) {
      if (memory.last !== undefined) Object.assign(memory, noRow())
      return undefined
    }
    const { last, streak } = memory
    const limit = countingRoundsMax(loop)
    const isNext =
      last !== undefined &&
      differInNumbers(last, call) &&
      // The exact comparison costs more, and most rows are short.
      (memory.rounds < limit / 2 || (onlyCounts(call.value) && wordsOf(last) === wordsOf(call)))
    memory.last = call
    if (!isNext) {
      if (memory.rounds > 0) Object.assign(memory, { ...noRow(), last: call })
      return undefined
    }
    if (memory.rounds === 0) addMatch(streak, last)
    memory.rounds = Math.max(memory.rounds, 1) + 1
    addMatch(streak, call)
    if (memory.rounds % limit !== 0) return undefined
    return found(streak, {
      action: 'nudge',
      key: call.tool,
      reason: `${call.tool} was called ${memory.rounds} times in a row with the same words and another number, and ${call.shown.outcome}`,
      text: noProgress(streak.shown, texts.counting(memory.rounds)),
    })
  },
}

function mayCount(call: CallEvidence): boolean {
  const { failure, isEcho, mutates, effect, freeText } = call
  if (failure !== undefined || isEcho || mutates || isWaiting(call)) return false
  return effect !== 'changes' || freeText
}

function differInNumbers(last: CallEvidence, { tool, key, raw, text }: CallEvidence): boolean {
  return (
    last.tool === tool &&
    last.key !== key &&
    raw.length <= charsMax &&
    text.length <= charsMax &&
    areEqualButNumbers(last.raw, raw) &&
    areEqualButNumbers(last.text, text)
  )
}

const charsMax = 1_000

/** Whether both texts are equal when each run of digits is one sign. */
function areEqualButNumbers(one: string, other: string): boolean {
  let at = 0
  let otherAt = 0
  for (;;) {
    const code = one.charCodeAt(at)
    const otherCode = other.charCodeAt(otherAt)
    if (isDigit(code) && isDigit(otherCode)) {
      while (isDigit(one.charCodeAt(at))) at += 1
      while (isDigit(other.charCodeAt(otherAt))) otherAt += 1
      continue
    }
    if (at >= one.length || otherAt >= other.length)
      return at >= one.length && otherAt >= other.length
    if (code !== otherCode) return false
    at += 1
    otherAt += 1
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** The call and its result without the numbers of the call. */
function wordsOf({ raw, text }: CallEvidence): string {
  const numbers = new Set(raw.match(/\d+/g))
  const result = text.replace(/\d+/g, (digits) => (numbers.has(digits) ? '#' : digits))
  return `${raw.replace(/\d+/g, '#')} ${result}`
}

/** Whether each number in the arguments counts, as far as their names and words tell. */
function onlyCounts(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.entries(value).every(([name, member]) => {
    if (typeof member === 'number') return counter.test(name)
    return (
      typeof member !== 'string' || !/\d/.test(member) || (/\s/.test(member) && word.test(member))
    )
  })
}

const counter = /^(?:n|i|k|idx|index|count|counter|step|num|number|seq|part|round|turn|tick)$/i
const word = /\p{L}{3}/u
