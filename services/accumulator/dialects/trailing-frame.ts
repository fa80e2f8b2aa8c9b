// A text that ends with one complete frame of calls after other text. The frame has marks that only
// calls use, and begins on its own line.
//
// TRAILING-FRAME-1. All calls of the frame name offered tools and pass their schemas. Nothing but a
//     mark of the turn's end follows.
// TRAILING-FRAME-2. Text about calls is no call: a frame in a fence, in an element for examples,
//     behind words that announce an example, or whose mark the text before it mentions.
// TRAILING-FRAME-3. Linear in any text: only the last lines that may begin a frame are read.

import { withoutThinking } from './inline-thinking.ts'
import { readingIn } from './marks.ts'
import { judgedCall, type OfferedTool } from './recover.ts'
import { withoutTurnEnd } from './turn-end.ts'

/** A line that may begin a frame: a mark with one of the words that all marks of calls have. */
const beginning =
  /^ {0,3}(?=[<[\]f])(?=[^\n]{0,80}(?:tool|func|call|invoke|python|action|channel|plugin))/gim
const beginningsMax = 64

/** The name of the frame's dialect. `text`: with thinking in it. */
export function trailingFrame(text: string, offered: OfferedTool[]): string | undefined {
  const visible = withoutTurnEnd(answerIn(text) ?? '')
  if (!['>', ']', '}', ')'].includes(visible.slice(-1))) return undefined
  const starts = [...visible.matchAll(beginning)]
    .map(({ index, 0: blanks }) => index + blanks.length)
    .slice(-beginningsMax)
  // The first that reads to the end is the frame. Later lines are inside of it.
  for (const start of starts) {
    const frame = visible.slice(start)
    const { dialect, reading } = readingIn(frame) ?? {}
    if (reading?.kind !== 'calls' || !reading.marked) continue
    const before = visible.slice(0, start)
    const couldRun = reading.calls.every(
      (call) => !('why' in judgedCall(call, { offered }, reading.repairs)),
    )
    return couldRun && before.trim() !== '' && !isAboutCalls(before, frame) ? dialect : undefined
  }
  return undefined
}

/**
 * The text behind the thinking. Undefined: an end of thinking stands in the middle of a line or of
 * markup, so the text mentions it.
 */
function answerIn(text: string): string | undefined {
  const answer = withoutThinking(text)
  const thinking = text.slice(0, text.length - answer.length)
  if (thinking.trim() === '' || /^\s*(?:<think|\[THINK\]|<\|channel)/.test(thinking)) return answer
  return /\n\s*$/.test(thinking) && !/^\s*<[a-z!]/i.test(thinking) ? answer : undefined
}

// ── Text about calls ──

const examplesElement =
  /<(\/?)(pre|code|blockquote|example|xmp|samp|details|textarea)\b[^>\n]{0,200}>/gi
const announcement =
  /(?:for example|for instance|e\.g\.|such as|as follows|like this|looks? like|an? (?:[\w-]+ ){0,2}(?:example|sample)(?: [\w ]{0,40})?|(?:format|syntax|template|example)(?: is)?)[*_]{0,3}:[*_]{0,3}$/i

function isAboutCalls(before: string, frame: string): boolean {
  const [mark = frame] = /^[^\s>\]={("':]{2,}/.exec(frame) ?? []
  const lastLine = before.trimEnd().split('\n').at(-1) ?? ''
  return (
    before.includes(mark) ||
    isInFence(before) ||
    isInExamplesElement(before) ||
    announcement.test(lastLine.slice(-200).trimEnd())
  )
}

/** Whether a fence is open behind these lines. */
function isInFence(before: string): boolean {
  let open: string | undefined
  for (const [, fence = '', rest = ''] of before.matchAll(/^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm)) {
    if (open === undefined) open = fence
    else if (fence.startsWith(open) && rest.trim() === '') open = undefined
  }
  return open !== undefined
}

function isInExamplesElement(before: string): boolean {
  let depth = 0
  for (const [, slash] of before.matchAll(examplesElement)) depth += slash === '' ? 1 : -1
  return depth > 0
}
