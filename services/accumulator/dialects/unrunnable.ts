// Finds calls that recover.ts refuses: a call's frame after other text, and JSON that names an
// offered tool in another shape than those of json-shapes.ts. Examples are {"tool_name": …},
// {"name": …, "args": …} and {"type": "tool_use", …}. They never run. The model learns of them,
// because a call that is dropped silently is I2.
//
// UNRUNNABLE-1. Nothing here runs. In doubt the text stays text: a wrong report costs a round.
// TRAILING-FRAME-1. A frame ends the text and begins on its own line, with marks that only calls use.
//     All of its calls name offered tools and pass their schemas.
// TRAILING-FRAME-2. Text about calls is no call: a frame in a fence, in an element for examples,
//     after words that announce an example, or whose mark the text before it mentions.
// TRAILING-FRAME-3. Linear in any text: only the last lines that may begin a frame are read.
// OTHER-SHAPE-1. The object holds a tool's name, its arguments as an object, and nothing that only
//     data has. If its keys are usual in data too, the arguments must also pass the schema.

import { limits } from '../../../shared/contract/limits.ts'
import { jsonFault } from '../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { withoutThinking, withoutTurnEnd } from './around-calls.ts'
import { readingIn } from './marks.ts'
import { readJson } from './readers/written-json.ts'
import { judgedCall, type OfferedTool } from './recover.ts'

/** `dialect`: the name of the dialect, or `json` for another shape. */
export type Unrunnable = { dialect: string; hold: 'frame' | 'shape' }

/** `text`: the visible text, with thinking in it. `recover` found nothing in it. */
export function unrunnable(text: string, offered: OfferedTool[]): Unrunnable | undefined {
  if (offered.length === 0 || Buffer.byteLength(text) > limits.textCallsBytesMax) return undefined
  if (otherShape(text, offered)) return { dialect: 'json', hold: 'shape' }
  const dialect = trailingFrame(text, offered)
  return dialect === undefined ? undefined : { dialect, hold: 'frame' }
}

// ── Frames after other text ──

/** A line that may begin a frame: a mark with one of the words that all marks of calls have. */
const beginning =
  /^ {0,3}(?=[<[\]f])(?=[^\n]{0,80}(?:tool|func|call|invoke|python|action|channel|plugin))/gim
const beginningsMax = 64

/** The name of the frame's dialect. `text`: with thinking in it. */
function trailingFrame(text: string, offered: OfferedTool[]): string | undefined {
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
 * The text after the thinking. Undefined: an end of thinking stands in the middle of a line or of
 * markup, so the text mentions it.
 */
function answerIn(text: string): string | undefined {
  const answer = withoutThinking(text)
  const thinking = text.slice(0, text.length - answer.length)
  if (thinking.trim() === '' || /^\s*(?:<think|\[THINK\]|<\|channel)/.test(thinking)) return answer
  return /\n\s*$/.test(thinking) && !/^\s*<[a-z!]/i.test(thinking) ? answer : undefined
}

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

/** Whether a fence is open after these lines. */
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
/** Keys beside the name and the arguments that data has no use for, or that a model explains with. */
const besides =
  'id call_id tool_call_id tool_use_id type index role thought thoughts reasoning explanation rationale'.split(
    ' ',
  )

/** Whether the whole text, outside a fence, is such an object or array. Linear in the text. */
function otherShape(text: string, offered: OfferedTool[]): boolean {
  const visible = withoutTurnEnd(withoutThinking(text))
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
