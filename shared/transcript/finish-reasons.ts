// Maps the finish reasons of servers to ours. One list for all formats, because gateways pass on
// the reasons of the server after them.

import type { Stop } from '../contract/messages.ts'
import { isObject } from '../lib/json/json-object.ts'

/** `failed`: the server could not finish the response, which therefore does not count. */
type Meaning = Exclude<Stop, 'cut' | 'other'> | 'failed'

/** Reasons of a complete response. They win over the parts below. */
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
 * Parts of other reasons, the more specific ones first. Servers keep inventing reasons for
 * failures, mostly from these parts.
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

/** Values that servers send for no reason. */
const noWord = new Set(['', 'null', 'none', 'nil', 'undefined', 'unspecified'])

/**
 * The server's reason: a text, or the `type` of an object. Empty: none, or a value that stands for
 * none.
 */
export function finishWord(given: unknown): string {
  const word = isObject(given) ? given.type : given
  return typeof word !== 'string' || noWord.has(folded(word)) ? '' : word.trim()
}

/** The meaning of a reason in any spelling; undefined: unknown. */
export function meaningOf(word: string): Meaning | undefined {
  const plain = folded(word)
  return normal.get(plain) ?? telling.find(([part]) => part.test(plain))?.[1]
}

/**
 * Drops case, separators and the name of the enumeration: `FinishReason.MAX_TOKENS`, `max-tokens`.
 */
function folded(word: string): string {
  return word
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/^(finish|stop|done)reason/, '')
}
