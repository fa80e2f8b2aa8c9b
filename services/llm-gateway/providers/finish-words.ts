// The words in which servers say why a response ended, in our vocabulary. One list for all formats:
// gateways pass on the words of the server behind them, whatever format they speak themselves.

import type { Stop } from '../../../shared/contract/messages.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'

/** `failed`: the server could not finish the response, so it is none. */
type Meaning = Exclude<Stop, 'cut' | 'other'> | 'failed'

/**
 * Words for a response that is whole. Whatever stands here never means anything else, although a
 * part of it might.
 */
const normal = new Map<string, Meaning>([
  ...['stop', 'stopped', 'stopsequence', 'eos', 'eostoken', 'end', 'endturn', 'endofturn'].map(
    (word) => [word, 'end'] as const,
  ),
  ...['complete', 'completed', 'done', 'finish', 'finished', 'success'].map(
    (word) => [word, 'end'] as const,
  ),
  ...['tooluse', 'toolcall', 'toolcalls', 'functioncall', 'functioncalls'].map(
    (word) => [word, 'calls'] as const,
  ),
])

/**
 * Parts of the others, the more telling ones first: servers keep inventing words for what went
 * wrong, and mostly out of these parts.
 */
const telling: [RegExp, Meaning][] = [
  [
    /malformed|invalid|unexpectedtool|toomanytool|ratelimit|overload|quota|insufficient|deadline/,
    'failed',
  ],
  [
    /recitation|prohibited|blocklist|blocked|spii|toxic|safety|sensitive|filter|moderation|refus|guardrail|^language$/,
    'refusal',
  ],
  [
    /max|length|limit|context|incomplete|partial|truncat|cutoff|outoftoken|exceed|budget|repetition/,
    'length',
  ],
  [/error|cancel|abort|fail|interrupt|timeout|timedout|preempt|evict|kill|disconnect/, 'failed'],
]

/** What servers send in the place of no word. */
const noWord = new Set(['', 'null', 'none', 'nil', 'undefined', 'unspecified'])

/**
 * The word that a server gave: a text, or an object whose `type` it is. Empty: none, also where a
 * server has a word for that.
 */
export function finishWord(given: unknown): string {
  const word = isObject(given) ? given.type : given
  return typeof word !== 'string' || noWord.has(folded(word)) ? '' : word.trim()
}

/** What a word means, however it is written; undefined: nobody has told us. */
export function meaningOf(word: string): Meaning | undefined {
  const plain = folded(word)
  return normal.get(plain) ?? telling.find(([part]) => part.test(plain))?.[1]
}

/**
 * Without case, without what joins its parts, and without the name of the list that it is from:
 * `FinishReason.MAX_TOKENS`, `max-tokens`.
 */
function folded(word: string): string {
  return word
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^(finish|stop|done)reason/, '')
}
