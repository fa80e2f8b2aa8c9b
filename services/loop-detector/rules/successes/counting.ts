// Calls in a row with the same words and another number: `seek(17)`, `seek(18)`. Each is new, so no
// other rule counts them. They may be an honest batch, so the model is only reminded.
//
// The results are equal too, without the numbers of their calls. A result with any other
// new number is an answer.
// Another call, a failure or a wait ends the row. The action is never more than a nudge.
// A tool whose name or declaration says that it changes something makes a batch. A
// command is only guessed to change something, so it counts.
// The number stands in a text with words, or its name says that it only counts. An id, a
// page or a time is a question.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { noProgress, finding as texts } from '../../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../../evidence/call-evidence.ts'
import { isWaiting } from '../../evidence/evidence.ts'
import { addMatch, emptyStreak, found } from '../../ladder.ts'
import { batchRoundsMax } from '../../patience.ts'
import type { Rule } from '../../rule.ts'

type Counted = Pick<CallEvidence, 'ref' | 'tool' | 'key' | 'raw' | 'text' | 'shown'>
/** `row`: the newest calls that may count, compared when there are enough. `rounds`: those before. */
type Memory = { row: Counted[]; rounds: number }

export const counting: Rule<Memory> = {
  name: 'counting',
  version: 1,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Calls in a row differ only in a number, and so do their results.',
  firesWhen:
    'the 16th call in a row has the same words and another number, and the result says nothing more. The rule only reminds the model',
  endedBy: 'any other call, a result with any other new number, a failure, or a wait',
  sentence: 'kept counting',
  initial: () => ({ row: [], rounds: 0 }),

  judge(memory, { calls }, { loop }) {
    const [call] = calls
    if (call === undefined) return undefined
    if (calls.length > 1 || !mayCount(call) || memory.row.at(-1)?.tool !== call.tool)
      Object.assign(memory, { row: [], rounds: 0 })
    if (calls.length > 1 || !mayCount(call)) return undefined
    const { ref, tool, key, raw, text, shown } = call
    const { row } = memory
    row.push({ ref, tool, key, raw, text, shown })
    const limit = batchRoundsMax(loop)
    if (row.length < limit) return undefined
    const at = row.findLastIndex((later, index) => {
      const last = row[index - 1]
      return last !== undefined && !differInNumbers(last, later)
    })
    if (at > 0 || !onlyCounts(call.value)) {
      Object.assign(memory, { row: row.slice(Math.max(at, 1)), rounds: 0 })
      return undefined
    }
    memory.row = []
    memory.rounds += limit
    const streak = emptyStreak()
    for (const counted of row) addMatch(streak, counted)
    return found(streak, {
      action: 'nudge',
      key: tool,
      reason: `${tool} was called ${memory.rounds} times in a row with the same words and another number, and ${shown.outcome}`,
      text: noProgress(streak.shown, texts.counting(memory.rounds)),
    })
  },
}

function mayCount(call: CallEvidence): boolean {
  const { failure, isEcho, mutates, effect, freeText, raw, text } = call
  if (failure !== undefined || isEcho || mutates || isWaiting(call)) return false
  if (raw.length > charsMax || text.length > charsMax) return false
  return effect !== 'changes' || freeText
}

function differInNumbers(last: Counted, { key, raw, text }: Counted): boolean {
  return last.key !== key && wordsOf(last) === wordsOf({ raw, text })
}

const charsMax = 1_000

/** The call and its result without the numbers of the call. */
function wordsOf({ raw, text }: Pick<Counted, 'raw' | 'text'>): string {
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
