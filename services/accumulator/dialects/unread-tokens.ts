// Finds special tokens of calls in a text that no dialect reads whole: a token without its call, and
// a call with a lost or damaged token.
//
// Only a template writes such a token, so it may stand anywhere in a line. A vendor's
// own tag begins a line.
// A token counts where a call can begin: after a line's start, a sentence's end or
// another mark. Inside a sentence it counts only if a call's shape follows.
// A text that mentions a token is no call: in code, a quote, a table, a list's entry or
// a template. A sentence that goes on after a token mentions it, in any script.
// Linear in any text.

import { quoted } from '../../../shared/contract/arguments/name-text.ts'
import { isAboutCalls, withoutExamples } from './about-calls.ts'
import { type Cursor, isAt } from './readers/cursor.ts'
import { bar } from './tag-marks.ts'

const bars = bar.source
const word = '(?:tool|func|call|invoke|action|python|plugin)'
const token = new RegExp(
  [
    `<[/ ]{0,2}(?:(?:${bars} ?){1,8}DSML(?: ?${bars}){0,8}|DSML(?: ?${bars}){1,8})(?: ?\\w{1,24}(?: {0,8}>| \\w{1,24}=))?`,
    `<${bars}{1,4} ?[/\\w▁:.-]{0,48}?${word}[\\w▁:.-]{0,48} ?${bars}{0,4}>`,
    `<｜[\\w ]{0,24}?${word}[\\w ]{0,24}｜>`, // DeepSeek's on some servers
    `<\\w{0,24}(?:tool|call)\\w{0,24}\\|>`, // Gemma
    '<\\|(?:open|close)\\|>(?:tools|call|argument)(?: \\w{1,24}=)?', // Kimi K3
    '<\\|(?:start|channel)\\|>[\\w ]{0,32} to=', // harmony
    '\\]<\\]minimax\\[>\\[',
    '^ {0,3}</?(?:minimax|seed|antml|xai|steptml):(?:tool|function|invoke)[^<>\\n]{0,80}>?',
    '^ {0,3}</?(?:longcat_tool|dots_function)_call>',
    '\\[TOOL_CALLS\\]', // Mistral
  ].join('|'),
  'gim',
)
/** Most texts have nothing like it. */
const hint = new RegExp(
  `<[/ ]{0,2}(?:DSML ?)?${bars}|\\|>|\\]minimax\\[|\\[TOOL_|</?[a-z]{3,7}[:_]`,
  'i',
)
/** The rest of a mark that the token begins, such as `<｜DSML｜invoke name=`. */
const attributes = /[^<>\n]{0,120}(?:>|(?=<))/y
/** A mark that follows a token at once belongs to it. */
const nextMark = /\s?<[^<>\n]{1,80}>/y

/** The rest of a sentence, a quote, a declaration or a template. */
const mention = new RegExp(
  [
    '[)\\]*_`]{0,3}(?:[ \\t]\\p{L}|[ \\t]?[.,;:!?](?:\\s|$|["\')])|[ \\t]?[。，、；：！？…])',
    '[*_]{0,3}["\'”’»」』】）〉》]',
    '[ \\t]?(?:[(（—–→⇒=+~#&,/]|-[->\\p{L}]|\\.{2,3})|[ \\t]+[-|]',
    '\\s{0,8}\\{[%{#]|[{[](?:\\.{3}|…|[\\p{L}_ ]{1,32})[}\\]]',
  ].join('|'),
  'uy',
)
/** A letter of a script that no name of a tool has. */
const otherScript = /(?!\p{Script=Latin})\p{L}/uy
/** The id or the name of a call with its arguments, or the arguments. */
const shape = /\s{0,8}[{[]|[\w.:/-]{1,128}\s{0,8}[{(<[]|=/y
/** The id of a call after a blank. A word in a sentence has no such signs in it. */
const separateId = /[ \t][A-Za-z]\w{0,63}[.:][\w.:-]{0,64}\w\s{0,8}</y
const sentenceEnd = /(?:^ {0,3}|[.!?…。！？]["'”’»」』)）\]*_]{0,3}\s{0,8}|[>}\]]\s{0,8})$/
const listEntry =
  /^\s{0,16}(?:[-*+•]|\d{1,3}[.)])\s{1,8}[*_"'“「]{0,3}(?:[^<\n.!?。！？]{0,60}[:：][*_ ]{0,4})?[<\]]/
/** The end of an expression in a template. */
const template = /(?:\{\{[^{}\n]{1,64}\}\}|%\})$/
const endMark = /end|\/|close/i

/** `index`, `end`: of a token and the marks that follow. `lineAt`: the start of its line. */
type Run = { index: number; end: number; lineAt: number; token: string }

/**
 * The first token of a call that the text does not mention but writes, outside of examples.
 * Undefined: there is none.
 */
export function unreadToken(text: string): string | undefined {
  if (!hint.test(text)) return undefined
  const visible = withoutExamples(text)
  const runs = runsIn(visible)
  const last = runs.at(-1)
  const goesOn = last !== undefined && isMention(visible, last)
  const run = runs.find((one) => isWritten(visible, one, goesOn))
  if (run === undefined || isAboutCalls(visible.slice(0, run.index), run.token)) return undefined
  return quoted(run.token.trim())
}

function runsIn(text: string): Run[] {
  const runs: Run[] = []
  const cursor: Cursor = { text, at: 0 }
  let lineAt = 0
  let searchedTo = 0
  for (const { index, 0: found } of text.matchAll(token)) {
    const lineEnd = text.slice(searchedTo, index).lastIndexOf('\n')
    if (lineEnd !== -1) lineAt = searchedTo + lineEnd + 1
    searchedTo = index
    const tokenEnd = index + found.length
    cursor.at = Math.max(cursor.at, tokenEnd)
    const isOpen = cursor.at === tokenEnd && found.endsWith('=')
    if (isOpen && isAt(cursor, attributes)) cursor.at = attributes.lastIndex
    while (isAt(cursor, nextMark)) cursor.at = nextMark.lastIndex
    const last = runs.at(-1)
    if (last !== undefined && index < last.end) last.end = cursor.at
    else runs.push({ index, end: cursor.at, lineAt, token: found })
  }
  return runs
}

/** `goesOn`: the sentence goes on after the last token of the text. */
function isWritten(text: string, run: Run, goesOn: boolean): boolean {
  const { index, end, lineAt } = run
  if (listEntry.test(text.slice(lineAt, lineAt + 96))) return false
  if (template.test(text.slice(Math.max(lineAt, index - 72), index))) return false
  if (isMention(text, run) || isListing(text, run)) return false
  if (beginsCall(text, run)) return true
  if (goesOn) return false
  const marks = text.slice(index, end)
  if (marks.includes('=') || isAt({ text, at: end }, shape)) return true
  const isEnd = text.slice(end, end + 96).trim() === '' && end + 96 >= text.length
  return isEnd && !(endMark.test(marks) && marks.indexOf('<', 1) === -1)
}

function beginsCall(text: string, { index, lineAt }: Run): boolean {
  return endsSentence(text.slice(Math.max(lineAt, index - 16), index))
}

/** `line`: the end of a line's beginning. A sentence or a mark ends with it, or it is blank. */
export function endsSentence(line: string): boolean {
  return sentenceEnd.test(line.slice(-16))
}

function isMention(text: string, run: Run): boolean {
  const at = { text, at: run.end }
  if (text[run.end - 1] === '=' || isAt(at, separateId)) return false
  if (isAt(at, mention)) return true
  if (!isAt(at, otherScript)) return false
  // After a parameter's own mark, the letter begins its value.
  const marks = text.slice(run.index, run.end)
  return !marks.includes('=') || (marks.indexOf('<', 1) === -1 && !beginsCall(text, run))
}

/** Whether the tokens are only listed: a beginning and an end in separate lines, without a call. */
function isListing(text: string, { index, end }: Run): boolean {
  const [first = '', ...others] = text.slice(index, end).split('\n')
  return (
    !endMark.test(first) &&
    others.some((line) => endMark.test(line)) &&
    !text.slice(index, end).includes('=') &&
    text.slice(Math.max(0, index - 96), index).trim() !== ''
  )
}
