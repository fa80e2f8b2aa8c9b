// Recovers calls that follow prose (I2). Models write a sentence and then a call. The parsers of
// their makers take the text before the first mark as content, and run the calls after it: vLLM's
// tool_parsers for Kimi and DeepSeek, SGLang's deepseekv32_detector.py.
//
// Only a frame that begins with a special token counts. It ends the text, and
// recover.ts can run it. A person may write a tag, so a tag after prose never runs.
// In doubt nothing runs, and unrunnable.ts reports the call: after a colon, inside a
// sentence, in an example, a quote or a list, and after prose that speaks of calls.
// Linear in any text: only the first special token may begin the frame.

import { isAboutCalls } from './about-calls.ts'
import { withoutTurnEnd } from './around-calls.ts'
import { answerIn, type OfferedTool, type Recovery, recover } from './recover.ts'
import { bar } from './tag-marks.ts'
import { endsSentence } from './unread-tokens.ts'

/** `frame`: the text of the calls alone. */
type AfterText = { recovery: Extract<Recovery, { kind: 'calls' }>; frame: string }

const specialToken = new RegExp(`< ?${bar.source}|\\]<\\]minimax\\[>\\[|\\[TOOL_CALLS\\]`, 'g')
/** Words about the form of calls. */
const speaksOfForms = new RegExp(
  [
    String.raw`\b(?:tokens?|templates?|formats?|syntax|parsers?|examples?|samples?|emits?|outputs|prints|writes|wrote|written|looks? like|as follows|models?|json|xml|like th(?:is|at)|this is|here(?: is|'s))\b`,
    '调用|格式|形式|模板|标记|示例|例如|模型|解析|输出|如下|呼び出|テンプレート|トークン|モデル|出力',
    '호출|형식|예시|토큰|모델|출력|вызов|формат|пример|модел|токен|шаблон|парсер|пишет|так[.:]|استدعاء|صيغة|مثال|نموذج|رمز',
    String.raw`\b(?:aufruf|beispiel|modell|ausgabe|schreibt|appel|exemple|modèle|écrit|llamada|ejemplo|modelo|escribe)`,
  ].join('|'),
  'iu',
)
/** Words about calls. A frame after them may be an example. */
const speaksOfCalls = new RegExp(
  String.raw`\b(?:calls?|called|calling)\b|${speaksOfForms.source}`,
  'iu',
)
/** A sentence that goes on with the frame as its object. */
const leadsTo =
  /(?:\b(?:as|like|with|is|are|of|in|into|means|or|and|than|from|for|to|the|a|an|by|using)|[("'“”‘’«»「『《=→:>|*_-])\s{0,8}$/i

/** In the last sentence: somebody else's words, a refusal, a question. Nobody calls with them. */
const isNoCall = new RegExp(
  [
    String.raw`\b(?:following|contains?|says|said|shows?|reads|quot\w{0,6}|transcri\w{0,6}|pasted?|attacker|never|not|would|should|confirm)\b`,
    String.raw`\b(?:nicht|nie|niemals|jamais|nunca|никогда|не)\b|n['’]t\b|[?？]|不要|日志|ログ`,
  ].join('|'),
  'iu',
)
/** The speaker reads next, and quotes nothing: `Let me see what it says.` */
const readsNow = /^\W*(?:let me|i['’]ll|i will|now i|i need to)\b(?!.{0,40}\b(?:not|never)\b)/i
/** The beginning of an entry, a heading, a quote, a row or indented code. */
const isExample = /^\s*(?:[-*+•>|#]|\d{1,3}[.)]\s)|^ {4}|^\t/

/** `text`: with thinking in it. Undefined: no such calls follow its prose. */
export function callsAfterText(text: string, offered: OfferedTool[]): AfterText | undefined {
  const visible = withoutTurnEnd(answerIn(text))
  if (!/[>\]})]$/.test(visible)) return undefined
  const index = visible.search(specialToken)
  if (index <= 0) return undefined
  const before = visible.slice(0, index)
  const frame = visible.slice(index)
  if (!isPlainProse(before) || isAboutCalls(before, frame)) return undefined
  const recovery = recover({ text: frame, offered })
  if (recovery?.kind !== 'calls') return undefined
  const preamble = [before.trim(), recovery.preamble].filter((part) => part !== '').join('\n\n')
  return { recovery: { ...recovery, preamble }, frame }
}

/** Whether a call may follow here: after whole sentences that do not speak of calls. */
function isPlainProse(before: string): boolean {
  const isCodeOpen = before.split('`').length % 2 === 0
  if (isCodeOpen || speaksOfCalls.test(before)) return false
  const line = before.slice(before.lastIndexOf('\n') + 1)
  const lastLine = before.trimEnd().split('\n').at(-1) ?? ''
  if (isExample.test(line) || /^\s*>/.test(lastLine)) return false
  return endsSentence(line) && endsSentence(lastLine) && !isForeign(lastLine)
}

/** Whether a call may break off a sentence here. It is reported and never run. */
export function breaksOffSentence(before: string): boolean {
  const isCodeOpen = before.split('`').length % 2 === 0
  if (isCodeOpen || speaksOfForms.test(before)) return false
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return !isExample.test(line) && !leadsTo.test(line.slice(-leadCharsMax)) && !isForeign(line)
}

const leadCharsMax = 64

/** Whether the last sentence introduces words that the speaker does not send as a call. */
function isForeign(line: string): boolean {
  const sentence =
    line
      .trim()
      .slice(-300)
      .split(/(?<=[.!?。！？])\s+/)
      .at(-1) ?? ''
  return isNoCall.test(sentence) && !readsNow.test(sentence)
}
