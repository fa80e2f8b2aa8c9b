// One response that repeats itself: the model is stuck in its own words, often until the length
// limit.
//
// Only visible text without a call counts, because it would be the reply. Code, tables
// and encoded data may repeat (prose-words.ts), and so may rows that a tool returned in this turn.
// Words are compared, not characters. The unit has up to a paragraph, letters, and most
// of the text. A very long row of one emoji counts too.

import { chanting as words } from '../../../shared/model-texts/interventions.ts'
import { found } from '../ladder.ts'
import { proseWords } from '../novelty/prose-words.ts'
import { areReturned, type ReturnedRow, withRowsOf } from '../novelty/returned-rows.ts'
import { chantMin } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type Memory = { action: Finding['action'] | 'none'; returned: ReturnedRow[] }

export const chanting: Rule<Memory> = {
  name: 'chanting',
  version: 4,
  kind: 'content_loop',
  thresholds: [],
  description: 'A response repeats itself.',
  firesWhen: 'one response repeats the same words again and again',
  endedBy: 'a new result of a tool',
  sentence: 'kept saying the same',
  initial: () => ({ action: 'none', returned: [] }),

  judge(memory, { round, called, text, news, calls }) {
    if (news.text) memory.action = 'none' // there was progress in between
    for (const call of calls) memory.returned = withRowsOf(memory.returned, call.text)
    const chant = called ? undefined : chantIn(text)
    if (chant === undefined || areReturned(memory.returned, chant)) return undefined
    const { unit, times } = chant
    return found(memory, {
      key: unit,
      reason: `a response said the same ${times} times in a row: ${unit}`,
      text: words(times),
      evidence: [{ round, ordinal: -1 }],
    })
  },
}

/**
 * The words that are compared, which bounds the work. A chant that begins later meets another
 * limit.
 */
const wordsMax = 10_000
/** The longest unit: a paragraph. */
const unitWordsMax = 200

/**
 * The shortest repeated unit, on one line, and its count. Undefined: the text does not chant.
 * Linear in the text.
 */
export function chantIn(text: string): { unit: string; times: number } | undefined {
  const [row, emoji] = emojiRow.exec(text.slice(0, wordsMax)) ?? []
  if (row !== undefined && emoji !== undefined && row.length >= Math.min(text.length, wordsMax) / 2)
    return { unit: emoji, times: row.length / emoji.length }
  const sequence = proseWords(text, wordsMax)
  const { words: wordsMin, timesOfLong } = chantMin
  if (sequence.length < wordsMin || !sequence.some((word) => /\p{L}/u.test(word))) return undefined
  for (
    let period = 1;
    period <= Math.min(unitWordsMax, sequence.length / timesOfLong);
    period += 1
  ) {
    const timesMin = period < chantMin.longWords ? chantMin.times : timesOfLong
    const { end, length } = longestRun(sequence, period)
    const times = Math.floor(length / period)
    if (times < timesMin || length < wordsMin || length < sequence.length / 2) continue
    const unit = sequence.slice(end - period, end).join(' ')
    if (/\p{L}/u.test(unit)) return { unit, times }
  }
  return undefined
}

const emojiRow = /(\p{Extended_Pictographic})\1{199,}/u

/** The longest stretch in which each word equals the word a period before it. */
function longestRun(sequence: string[], period: number): { end: number; length: number } {
  let longest = { end: 0, length: 0 }
  let matched = 0
  for (let index = period; index < sequence.length; index += 1) {
    matched = sequence[index] === sequence[index - period] ? matched + 1 : 0
    if (matched > 0 && matched + period > longest.length)
      longest = { end: index + 1, length: matched + period }
  }
  return longest
}
