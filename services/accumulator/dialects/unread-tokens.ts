// Finds special tokens of calls in a text that no dialect reads whole: a token without its call, and
// a call with a lost or damaged token.
//
// UNREAD-TOKENS-1. Only a template writes such a token, so it may begin anywhere in a line. A vendor's
//     own tag or bracket begins a line.
// UNREAD-TOKENS-2. A text that mentions a token is no call: in code, in a quote or a table, or
//     inside a sentence.
// UNREAD-TOKENS-3. Linear in any text.

import { quoted } from '../../../shared/contract/arguments/name-text.ts'
import { isAboutCalls, withoutExamples } from './about-calls.ts'
import { type Cursor, isAt } from './readers/cursor.ts'
import { bar } from './tag-marks.ts'

const bars = bar.source
const word = '(?:tool|func|call|invoke|action|python|plugin)'
const token = new RegExp(
  [
    `<[/ ]{0,2}(?:${bars} ?){1,8}DSML(?: ?${bars}){0,8}(?: ?\\w{1,24}(?:>| \\w{1,24}=))?`,
    `<${bars}{1,4}[/\\w▁:.-]{0,48}?${word}[\\w▁:.-]{0,48}${bars}{0,4}>`,
    `<｜[\\w ]{0,24}?${word}[\\w ]{0,24}｜>`, // DeepSeek's on some servers
    `<\\w{0,24}(?:tool|call)\\w{0,24}\\|>`, // Gemma
    '<\\|(?:open|close)\\|>(?:tools|call|argument)(?: \\w{1,24}=)?', // Kimi K3
    '<\\|(?:start|channel)\\|>[\\w ]{0,32} to=', // harmony
    '\\]<\\]minimax\\[>\\[',
    '^ {0,3}</?(?:minimax|seed|antml|xai|steptml):(?:tool|function|invoke)[^<>\\n]{0,80}>?',
    '^ {0,3}</?(?:longcat_tool|dots_function)_call>',
    '^ {0,3}\\[TOOL_CALLS\\]', // Mistral
  ].join('|'),
  'gim',
)
/** Most texts have nothing like it. */
const hint = new RegExp(`<[/ ]{0,2}${bars}|\\|>|\\]minimax\\[|\\[TOOL_|</?[a-z]{3,7}[:_]`, 'i')
/** A mark that follows a token at once belongs to it. */
const nextMark = /\s?<[^<>\n]{1,80}>/y
/** The rest of a sentence. In a call, the text follows its token at once. */
const sentence = /[)\]*_]{0,3}(?: \p{L}| ?[.,;:!?"'”’](?:\s|$))/uy

/**
 * The first token of a call that the text does not mention but writes, outside of examples.
 * Undefined: there is none.
 */
export function unreadToken(text: string): string | undefined {
  if (!hint.test(text)) return undefined
  const visible = withoutExamples(text)
  const cursor: Cursor = { text: visible, at: 0 }
  for (const { index, 0: found } of visible.matchAll(token)) {
    cursor.at = Math.max(cursor.at, index + found.length)
    while (isAt(cursor, nextMark)) cursor.at = nextMark.lastIndex
    if (!isAt(cursor, sentence))
      return isAboutCalls(visible.slice(0, index), found) ? undefined : quoted(found.trim())
  }
  return undefined
}
