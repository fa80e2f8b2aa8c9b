// Finds calls that recover.ts refuses: a call's frame after other text, and the tokens of a call. Also
// JSON that names an offered tool in a shape that json-shapes.ts does not have, or between unknown
// marks. Examples are {"tool_name": …}, {"name": …, "args": …} and {"type": "tool_use", …}. They never
// run. The model learns of them, because a call that is dropped silently is I2.
//
// Nothing here runs. In doubt the text stays text: a wrong report costs a round.
// A frame ends the text and begins on its own line or after a sentence, with marks that only calls
// use or with tags. All of its calls name offered tools and pass their schemas.
// Text about calls is no call: a frame in a fence, in an element for examples,
// after words that announce an example, or whose mark the text before it mentions.
// Linear in any text: only the last lines that may begin a frame are read.
// The object holds a tool's name, its arguments as an object, and nothing that only
// data has. If its keys are usual in data too, the arguments must also pass the schema.

import { limits } from '../../../shared/contract/limits.ts'
import { jsonFault } from '../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { isAboutCalls, isExamplesElement } from './about-calls.ts'
import { breaksOffSentence } from './after-text.ts'
import { endOfThinking, withoutThinking, withoutTurnEnd } from './around-calls.ts'
import { halfCall } from './half-calls.ts'
import { readingIn } from './marks.ts'
import { readJson } from './readers/written-json.ts'
import { answerIn, judgedCall, type OfferedTool, textCallsBytesMax } from './recover.ts'
import { unreadToken } from './unread-tokens.ts'

/**
 * `dialect`: the name of the dialect, `json` for another shape, and `token` for a token alone.
 * `token`: the token, quoted.
 */
export type Unrunnable = { dialect: string; hold: 'frame' | 'shape'; token?: string }

/**
 * `text`: the visible text, with thinking in it. `recover` found nothing in it. `isCut`: the text may
 * be incomplete, so only its tokens count.
 */
export function unrunnable(
  text: string,
  offered: OfferedTool[],
  isCut = false,
): Unrunnable | undefined {
  if (offered.length === 0 || Buffer.byteLength(text) > textCallsBytesMax) return undefined
  const answer = withoutTurnEnd(answerIn(text))
  if (!isCut && isCallJson(withoutMarks(answer), offered)) return { dialect: 'json', hold: 'shape' }
  const dialect = isCut ? undefined : trailingFrame(text, offered)
  if (dialect !== undefined) return { dialect, hold: 'frame' }
  if (!isCut && trailingShape(text, answer, offered)) return { dialect: 'json', hold: 'frame' }
  const token = unreadToken(answer) ?? halfCall(answer, offered)
  return token === undefined ? undefined : { dialect: 'token', hold: 'frame', token }
}

// ── Frames after other text ──

/**
 * A place where a frame may begin, a line's start or a sentence's end: a mark with one of the words that
 * all marks of calls have.
 */
const beginning =
  /(?:^ {0,3}|(?<=[.!?…。！？]) {0,3})(?=[<[\]f])(?=[^\n]{0,80}(?:tool|func|call|invoke|python|action|channel|plugin))/gim
const beginningsMax = 64

/** Dialects whose tags are usual in other texts, but hardly with an offered tool and its arguments. */
const plainTags = ['invoke-tag']

/** The name of the frame's dialect. `text`: with thinking in it. */
function trailingFrame(text: string, offered: OfferedTool[]): string | undefined {
  const whole = text.trimEnd()
  const visible = whole.slice(0, whole.length - whole.trimStart().length) + withoutTurnEnd(whole)
  if (!['>', ']', '}', ')'].includes(visible.slice(-1))) return undefined
  const answerAt = text.length - withoutThinking(text).length
  const ending = endOfThinking(text)
  const isAnswer = isAnswerAt(text, answerAt)
  const starts = [...visible.matchAll(beginning)]
    .map(({ index, 0: blanks }) => index + blanks.length)
    // a frame that begins in front of an end of thinking has that text in an argument
    .filter((at) => (at < answerAt ? at < (ending?.at ?? 0) : isAnswer))
    .slice(-beginningsMax)
  // The first that reads to the end is the frame. Later lines are inside of it.
  for (const start of starts) {
    const dialect = frameAt(visible, { start, from: start < answerAt ? 0 : answerAt }, offered)
    if (dialect !== undefined) return dialect === '' ? undefined : dialect
  }
  const start = isAnswer ? visible.indexOf('<', answerAt) : -1
  if (start < 0 || !breaksOffSentence(visible.slice(answerAt, start))) return undefined
  return frameAt(visible, { start, from: answerAt }, offered) || undefined
}

/** Undefined: no frame begins at `start`. Empty: one begins that cannot run, or is an example. */
function frameAt(
  text: string,
  { start, from }: { start: number; from: number },
  offered: OfferedTool[],
): string | undefined {
  const frame = text.slice(start)
  const { dialect = '', reading } = readingIn(frame) ?? {}
  if (reading?.kind !== 'calls' || !(reading.marked || plainTags.includes(dialect)))
    return undefined
  const before = text.slice(from, start)
  const couldRun = reading.calls.every(
    (call) => !('why' in judgedCall(call, { offered }, reading.repairs)),
  )
  return couldRun && before.trim() !== '' && !isAboutCalls(before, frame) ? dialect : ''
}

/** Whether the answer begins there, and no mark that is only mentioned. */
function isAnswerAt(text: string, answerAt: number): boolean {
  return endOfThinking(text) === undefined || endsThinking(text.slice(0, answerAt))
}

/**
 * Whether this text ends with thinking. A mark in the middle of a line or of markup is only
 * mentioned.
 */
function endsThinking(thinking: string): boolean {
  const blanks = thinking.slice(thinking.trimEnd().length)
  return blanks.includes('\n') && !/^\s*<[a-z!]/i.test(thinking)
}

// ── Other shapes ──

/** Keys that only calls use. */
const ownNameKeys = ['tool_name', 'toolName', 'function_name', 'functionName']
/** Keys of a tool's name, and of its arguments, in any shape of a call. */
export const nameKeys = [...ownNameKeys, 'name', 'tool', 'function', 'action', 'recipient_name']
const ownArgumentKeys =
  'tool_input toolInput tool_args tool_arguments tool_parameters action_input'.split(' ')
export const argumentKeys = ownArgumentKeys.concat(
  'arguments args parameters params input kwargs'.split(' '),
)
/** Keys around one call. */
const wrappers = ['tool_call', 'toolCall', 'function_call', 'functionCall', 'tool_use', 'toolUse']
const callTypes = ['tool_use', 'tool_call', 'function_call', 'function', 'tool']
/** Keys next to the name and the arguments that data has no use for, or that a model explains with. */
const besides =
  'id call_id tool_call_id tool_use_id type index role thought thoughts reasoning explanation rationale'.split(
    ' ',
  )

const mark = String.raw`([^\p{L}\p{N}\s]{1,8} ?\p{L}[\p{L}\p{N} _▁.:/-]{0,47}[^\p{L}\p{N}\s]{1,8}?)`
/** Two marks of any family around JSON: a word between signs. Each is sought where it may be, in bounded work. */
const opening = new RegExp(String.raw`^${mark}\s{0,64}(?=[[{])`, 'u')
const closing = new RegExp(String.raw`^.*[\]}](\s{0,64}${mark})$`, 'su')
const closingCharsMax = 160
/** An opening mark after other text. */
const laterOpening = new RegExp(String.raw`^ {0,3}${mark}\s{0,64}(?=[[{])`, 'gmu')
/** Rules around JSON: equal lines of one sign. */
const ruled = /^([-=*_~#+]{3,32})[ \t]{0,8}\n([\s\S]*)\n\1$/

/** The JSON between two marks that mirror each other, or all of the text. */
function withoutMarks(text: string): string {
  const [, , between] = ruled.exec(text) ?? []
  if (between !== undefined) return between.trim()
  const [before = '', open = ''] = opening.exec(text) ?? []
  const [, after = '', close = ''] = closing.exec(text.slice(-closingCharsMax)) ?? []
  if (open === '' || close === '' || before.length + after.length >= text.length) return text
  const word = wordsOf(close, /^(?:end|close|stop)$/)
  const isMirror =
    open[0] === close[0] && (word === '' || wordsOf(open, /^(?:begin|start|open)$/) === word)
  return isMirror && !isExamplesElement(open) ? text.slice(before.length, -after.length) : text
}

function wordsOf(mark: string, without: RegExp): string {
  const words = mark.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => !without.test(word)).join(' ')
}

/** Whether such an object between two marks that mirror each other ends the text, after other text. */
function trailingShape(text: string, answer: string, offered: OfferedTool[]): boolean {
  if (!closing.test(answer.slice(-closingCharsMax))) return false
  if (!isAnswerAt(text, text.length - withoutThinking(text).length)) return false
  for (const { index } of [...answer.matchAll(laterOpening)].slice(-beginningsMax)) {
    const frame = answer.slice(index).trimStart()
    const inside = withoutMarks(frame)
    if (index > 0 && inside !== frame && isCallJson(inside, offered))
      return !isAboutCalls(answer.slice(0, index), frame)
  }
  return false
}

/** Whether the whole text is such an object or array. Linear in the text. */
function isCallJson(visible: string, offered: OfferedTool[]): boolean {
  if (!visible.startsWith('{') && !visible.startsWith('[')) return false
  const cursor = { text: visible, at: 0 }
  const json = readJson(cursor, new Set())
  if (json === undefined || cursor.at !== visible.length) return false
  const value: unknown = JSON.parse(json)
  const items = Array.isArray(value) ? value : [value]
  return items.length > 0 && items.every((item) => namesTool(item, offered))
}

function namesTool(value: unknown, offered: OfferedTool[]): boolean {
  if (!isObject(value)) return false
  const keys = Object.keys(value)
  const [wrapper, ...others] = keys.filter((key) => wrappers.includes(key))
  if (wrapper !== undefined && isObject(value[wrapper])) {
    const rest = keys.filter((key) => key !== wrapper && !besides.includes(key))
    return others.length === 0 && rest.length === 0 && holdsCall(value[wrapper], offered, true)
  }
  return holdsCall(value, offered, callTypes.includes(String(value.type)))
}

/** `isCall`: something else already says that this is a call. */
function holdsCall(
  value: Record<string, unknown>,
  offered: OfferedTool[],
  isCall: boolean,
): boolean {
  const keys = Object.keys(value)
  const nameKey = nameKeys.find((key) => typeof value[key] === 'string')
  const argumentKey = argumentKeys.find((key) => objectOf(value[key]) !== undefined)
  if (nameKey === undefined || argumentKey === undefined) return false
  const own = [nameKey, argumentKey, ...besides]
  const name = String(value[nameKey])
  if (keys.some((key) => !own.includes(key)) || !offered.some((tool) => tool.name === name))
    return false
  if (isCall || ownNameKeys.includes(nameKey) || ownArgumentKeys.includes(argumentKey)) return true
  const json = JSON.stringify(objectOf(value[argumentKey]))
  const call = { names: [name] as [string], id: '', arguments: { kind: 'json' as const, json } }
  return !('why' in judgedCall(call, { offered }, new Set()))
}

/** An object, or a text that holds one, nested as deep as arguments may be. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value)) return value
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return undefined
  return jsonFault(value, limits.argumentDepthMax) === undefined ? JSON.parse(value) : undefined
}
