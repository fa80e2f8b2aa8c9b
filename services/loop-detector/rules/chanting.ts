// One response that says the same again and again: a model that is stuck in its own words, often
// until the length limit cuts it.
// CHANTING-1. Only visible text without a call: such a text would be the reply. What stands in code
//     blocks and tables may well repeat.
// CHANTING-2. Words are compared, not characters: the unit that comes back is up to a paragraph
//     long. It must be most of the text, and have letters, unless it is one emoji in a row that is
//     longer than any word.

import { chanting as words } from '../intervention-text.ts'
import { climb } from '../ladder.ts'
import { chantMin } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

type Memory = { rung: Finding['rung'] | 'none' }

export const chanting: Rule<Memory> = {
  name: 'chanting',
  version: 3,
  kind: 'content_loop',
  thresholds: [],
  description: 'A response repeats itself.',
  firesWhen: 'one response repeats the same words again and again',
  endedBy: 'a new result of a tool',
  sentence: 'kept saying the same',
  begin: () => ({ rung: 'none' }),

  judge(memory, { round, called, text, news }) {
    if (news.text) memory.rung = 'none' // something was done in between
    const chant = called ? undefined : chantIn(text)
    if (chant === undefined) return undefined
    const { unit, times } = chant
    return {
      rung: climb(memory),
      ordinary: false,
      key: unit,
      reason: `a response said the same ${times} times in a row: ${unit}`,
      text: words(times),
      class: 'no_progress',
      evidence: [{ round, ordinal: -1 }],
    }
  },
}

/**
 * Beyond these the text is not looked at, which bounds the work: a chant that begins later is cut
 * by some limit.
 */
const wordsMax = 10_000
/** Of the unit: a paragraph. */
const unitWordsMax = 200

/**
 * The unit that comes back, on one line, and how often; of several the shortest. Undefined: the
 * text does not chant. Linear in the text.
 */
export function chantIn(text: string): { unit: string; times: number } | undefined {
  const [row, emoji] = emojiRow.exec(text.slice(0, wordsMax)) ?? []
  if (row !== undefined && emoji !== undefined && row.length >= Math.min(text.length, wordsMax) / 2)
    return { unit: emoji, times: row.length / emoji.length }
  const said = wordsOf(text)
  const { words: wordsMin, timesOfLong } = chantMin
  if (said.length < wordsMin || !said.some((word) => /\p{L}/u.test(word))) return undefined
  for (let period = 1; period <= Math.min(unitWordsMax, said.length / timesOfLong); period += 1) {
    const timesMin = period < chantMin.longWords ? chantMin.times : timesOfLong
    const { end, length } = longestRun(said, period)
    const times = Math.floor(length / period)
    if (times < timesMin || length < wordsMin || length < said.length / 2) continue
    const unit = said.slice(end - period, end).join(' ')
    if (/\p{L}/u.test(unit)) return { unit, times }
  }
  return undefined
}

const emojiRow = /(\p{Extended_Pictographic})\1{199,}/u

/** The longest stretch in which each word is the one a period before it. */
function longestRun(said: string[], period: number): { end: number; length: number } {
  let longest = { end: 0, length: 0 }
  let matched = 0
  for (let index = period; index < said.length; index += 1) {
    matched = said[index] === said[index - period] ? matched + 1 : 0
    if (matched > 0 && matched + period > longest.length)
      longest = { end: index + 1, length: matched + period }
  }
  return longest
}

/** In scripts that put no blanks between words a character is one. */
const oneWord =
  /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g

function wordsOf(text: string): string[] {
  const words: string[] = []
  let inCode = false
  for (const line of text.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode
    else if (!inCode && !/^\s*\|/.test(line)) {
      for (const [word] of line.matchAll(oneWord))
        words.push(...(word.length > wordCharsMax ? word.slice(0, wordsMax) : [word]))
      if (words.length >= wordsMax) return words.slice(0, wordsMax)
    }
  }
  return words
}

/** No word is so long: somebody forgot the blanks, and each character is looked at as one. */
const wordCharsMax = 200
