// Recovers calls that a model wrote as text (I2).
// Owns: whether a visible text is calls, and only calls, that could run unchanged.
// Does not own: when to search (text-calls.ts), the syntax of a dialect (marks.ts), the results of
// calls (executor).
//
// All or nothing: the whole text, or one whole fence, is calls. Each names an offered
// tool and passes its schema. One that does not makes all of them text.
// Strict: arguments that the schema does not name are refused unless it allows them.
// Data next to a call is no argument.
// A lookalike that cannot run gets a reason for the model. It names an offered tool, or
// its frame is used only for calls and stands outside a fence. Other texts stay text.
// A cut text is no call, even if it looks whole, and RECOVER-3 applies. A model that
// must write its calls as text means each one, under any name.
// Linear in any text. No work above textCallsBytesMax.

import {
  compiledSchema,
  type UsableSchema,
} from '../../../shared/contract/arguments/compiled-schema.ts'
import { withDecodedValues } from '../../../shared/contract/arguments/encoded-values.ts'
import { membersFault, membersFaultWords } from '../../../shared/contract/arguments/members.ts'
import { listed, quoted } from '../../../shared/contract/arguments/name-text.ts'
import { missingFrom } from '../../../shared/contract/arguments/required-fields.ts'
import { schemaFault } from '../../../shared/contract/arguments/schema-fault.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { jsonFault } from '../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import {
  endOfThinking,
  fenced,
  withoutBrokenMark,
  withoutThinking,
  withoutTurnEnd,
} from './around-calls.ts'
import type { Reading, WrittenArguments, WrittenCall } from './dialect.ts'
import { readingIn } from './marks.ts'
import type { Repair } from './readers/written-json.ts'
import { typedObject } from './typed-fields.ts'

/** Bytes of a visible text that is searched for calls. */
export const textCallsBytesMax = 2 * 1024 * 1024

/** `schema`: JSON text. */
export type OfferedTool = { name: string; schema: string }

export type Recovery =
  /**
   * `raw`: the argument text, strict JSON. `repairs`: the repairs that reading the text needed,
   * sorted. `preamble`: words for the user next to the calls, often empty.
   */
  | { kind: 'calls'; dialect: string; calls: RecoveredCall[]; repairs: string[]; preamble: string }
  /** `why`: a clause for the model. */
  | { kind: 'lookalike'; dialect: string; why: string }

/** `id`: empty if the text has none. */
export type RecoveredCall = { id: string; name: string; raw: string }

/**
 * `cut`: why the text may be incomplete, a clause for the model. `callsAsText`: the request
 * instructed the model to write its calls as text.
 */
export type WrittenText = {
  text: string
  offered: OfferedTool[]
  cut?: string | undefined
  callsAsText?: boolean
}

/**
 * The part of a visible text that is searched: the text after its thinking. An end of thinking inside
 * of a call is an argument.
 */
export function answerIn(text: string): string {
  const answer = withoutThinking(text)
  if (endOfThinking(text) === undefined) return answer
  const whole = readingIn(withoutTurnEnd(text))?.reading
  if (whole?.kind === 'calls') return text
  return whole?.marked && readingIn(withoutTurnEnd(answer)) === undefined ? text : answer
}

/** Reads a whole visible text, without thinking in it. Undefined: it is only text. */
export function recover(written: WrittenText): Recovery | undefined {
  const { text, offered, cut } = written
  if (offered.length === 0 || Buffer.byteLength(text) > textCallsBytesMax) return undefined
  const trimmed = withoutTurnEnd(cut === undefined ? text : withoutBrokenMark(text))
  const fence = fenced(trimmed, cut !== undefined)
  const visible = fence?.inside ?? trimmed
  if (visible === '') return undefined
  const read = readingIn(visible, fence?.language)
  if (read === undefined) return undefined
  const offer = { ...written, isFenced: fence !== undefined }
  return judged(read.dialect, read.reading, cut === undefined ? { ...offer, text: visible } : offer)
}

/** `text`: inside of the fence, or all of a text that was cut. */
type Offer = WrittenText & { isFenced: boolean }

function judged(dialect: string, reading: Reading, offer: Offer): Recovery | undefined {
  const lookalike = (why: string): Recovery => ({ kind: 'lookalike', dialect, why })
  if (reading.kind === 'broken')
    return isMeant(reading, offer) ? lookalike(offer.cut ?? reading.why) : undefined
  const names = reading.calls.flatMap((call) => call.names)
  const isOnlyCalls = (reading.marked || offer.callsAsText) && !offer.isFenced
  if (!isOnlyCalls && !names.some((name) => toolOf(name, offer) !== undefined)) return undefined
  if (offer.cut !== undefined) return lookalike(offer.cut)

  const max = limits.responseCallsMax
  if (reading.calls.length > max)
    return lookalike(`it has ${reading.calls.length} calls, and at most ${max} are taken`)
  const repairs = new Set(reading.repairs)
  const calls: RecoveredCall[] = []
  for (const call of reading.calls) {
    const judgement = judgedCall(call, { ...offer, isOnlyCalls }, repairs)
    if ('why' in judgement) return lookalike(judgement.why)
    calls.push(judgement)
  }
  const { preamble = '' } = reading
  return { kind: 'calls', dialect, calls, repairs: [...repairs].sort(), preamble }
}

/**
 * Whether this broken frame was meant as a call: it names an offered tool and does not end like a
 * sentence about calls. If the model must write its calls as text, each frame counts, because a
 * broken one would reach the user as an answer.
 */
function isMeant(
  { names, marked, isOpen = false }: Extract<Reading, { kind: 'broken' }>,
  { text, offered, isFenced, cut, callsAsText }: Offer,
): boolean {
  const isBegun = callsAsText && offered.some(({ name }) => names.includes(name))
  const isEnded = !isOpen && /[>}\])]$/.test(text.slice(-1))
  if (cut === undefined && !isBegun && !isEnded) return false
  return offered.some(
    ({ name }) => names.includes(name) || (marked && !isFenced && text.includes(name)),
  )
}

function toolOf(name: string, { offered }: Pick<Offer, 'offered'>): OfferedTool | undefined {
  return offered.find((tool) => tool.name === name)
}

/** The call with its strict argument text, or the reason why it cannot run. Changes `repairs`. */
export function judgedCall(
  { names: [name], id, arguments: written, left = [] }: WrittenCall,
  offer: Pick<Offer, 'offered'> & { isOnlyCalls?: boolean },
  repairs: Set<Repair>,
): RecoveredCall | { why: string } {
  const tool = toolOf(name, offer)
  if (tool === undefined) return { why: `there is no tool ${quoted(name)}` }
  const schema = compiledSchema(tool.schema)
  if (schema.kind === 'unusable')
    return { why: `the tool ${quoted(name)} cannot be called: its schema is unusable` }
  if (written.kind === 'none' && written.isOnlyNamed && !offer.isOnlyCalls)
    return { why: 'it has no arguments' }
  const cannot = (why: string) => ({ why: `${quoted(name)} cannot be called like that: ${why}` })
  const typed = argumentText(written, schema, repairs)
  if ('why' in typed) return cannot(typed.why)
  const lost = listed(left.filter((field) => isDeclared(schema.schema, field)).map(quoted), 'and')
  if (lost !== '') return cannot(`${lost} cannot be told from the call's own fields there`)
  const fault = faultIn(typed.json, schema)
  return fault === undefined ? { id, name, raw: typed.json } : cannot(fault)
}

/**
 * The JSON text of the arguments. Values that were encoded twice are decoded, if the result then
 * passes the schema.
 */
function argumentText(
  written: WrittenArguments,
  schema: UsableSchema,
  repairs: Set<Repair>,
): { json: string } | { why: string } {
  if (written.kind === 'none') {
    repairs.add('no-arguments')
    return { json: '{}' }
  }
  const typed =
    written.kind === 'json' ? written : typedObject(written.fields, schema.schema, repairs)
  if ('why' in typed) return typed
  const { json } = typed
  const isFaulty =
    faultIn(json, schema) !== undefined && jsonFault(json, limits.argumentDepthMax) === undefined
  const decoded = isFaulty ? withDecodedValues(json, schema) : undefined
  if (decoded === undefined) return typed
  repairs.add('encoded-value')
  return { json: decoded }
}

/** Why these arguments do not match the schema exactly. Undefined: they do. */
function faultIn(raw: string, { schema, judge }: UsableSchema): string | undefined {
  if (Buffer.byteLength(raw) > limits.argumentBytesMax)
    return `its arguments have more than ${limits.argumentBytesMax} bytes`
  if (jsonFault(raw, limits.argumentDepthMax) !== undefined)
    return `its arguments are nested deeper than ${limits.argumentDepthMax} levels`
  const fault = membersFault(raw, limits.argumentDepthMax)
  if (fault !== undefined) return membersFaultWords(fault)
  const value = JSON.parse(raw) as Record<string, unknown>
  const missing = missingFrom(value, schema)
  if (missing.length > 0)
    return `missing required field${missing.length === 1 ? '' : 's'} ${listed(missing.map(quoted))}`
  const unknown = Object.keys(value).filter((name) => !accepts(schema, name))
  if (unknown.length > 0)
    return `unknown field${unknown.length === 1 ? '' : 's'} ${listed(unknown.map(quoted))}`
  const judgement = judge(value)
  if (judgement.kind === 'valid') return undefined
  const first = judgement.kind === 'invalid' ? judgement.errors.at(-1) : undefined
  return first === undefined ? 'its arguments cannot be judged' : schemaFault(first).words
}

/** Keywords that may accept further names. */
const moreNames = 'additionalProperties patternProperties $ref allOf anyOf oneOf if'.split(' ')

/** Whether a schema accepts an argument by its name. Ajv judges all other rules. */
function accepts(schema: Record<string, unknown>, name: string): boolean {
  return (
    schema.properties === undefined ||
    moreNames.some((keyword) => schema[keyword] !== undefined) ||
    isDeclared(schema, name)
  )
}

function isDeclared({ properties }: Record<string, unknown>, name: string): boolean {
  return isObject(properties) && Object.hasOwn(properties, name)
}
