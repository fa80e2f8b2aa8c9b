// Calls that a model wrote as text (I2). Owns: whether a visible text is calls, and nothing but
// calls, that could run as they stand. Does not own: when to ask (text-calls.ts), how a dialect is
// written (one file each), the results of calls (executor).
//
// RECOVER-1. All or nothing: the whole text, or the whole of one fence, is calls; each names a tool
//     that was offered, and its arguments pass the tool's schema. One that does not makes all of
//     them text.
// RECOVER-2. Strictly: arguments that the schema does not name are refused unless it says that it
//     takes them. Text with a call in it is not data with one.
// RECOVER-3. What is built like a call and cannot run is said to be so, with a reason for the
//     model; what only looks like one is left alone. The frame must be one that is used for nothing
//     else and stand outside of a fence, or name a tool that was offered.
// RECOVER-4. What was cut is no call, whole as it may look, and said to be so by the same rule. A
//     model that was told to write its calls as text means each one that it writes so, whatever it
//     names.
// RECOVER-5. Linear in the text, whatever it is, and none at all above limits.textCallsBytesMax.

import { compiledSchema } from '../../../shared/contract/arguments/compiled-schema.ts'
import { membersFault } from '../../../shared/contract/arguments/members.ts'
import { listed, quoted } from '../../../shared/contract/arguments/name-text.ts'
import { missingFrom } from '../../../shared/contract/arguments/required-fields.ts'
import { schemaFault } from '../../../shared/contract/arguments/schema-fault.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { jsonFault } from '../../../shared/lib/json/json-fault.ts'
import type { Reading, WrittenCall } from './dialect.ts'
import { dialects } from './dialects.ts'
import { fenced, openFenced } from './fence.ts'
import { withoutTurnEnd } from './turn-end.ts'
import { typedObject } from './typed-fields.ts'
import type { Repair } from './written-json.ts'

/** `schema`: JSON text. */
export type OfferedTool = { name: string; schema: string }

export type Recovery =
  /**
   * `raw`: the argument text, strict JSON. `repairs`: what had to be repaired in the text to read
   * it, sorted.
   */
  | { kind: 'calls'; dialect: string; calls: RecoveredCall[]; repairs: string[] }
  /** `why`: a clause for the model. */
  | { kind: 'lookalike'; dialect: string; why: string }

/** `id`: empty where none is written. */
export type RecoveredCall = { id: string; name: string; raw: string }

/**
 * `cut`: why the text may not be whole, for the model, a clause. `isTold`: the model was told to
 * write its calls as text.
 */
export type WrittenText = {
  text: string
  offered: OfferedTool[]
  cut?: string | undefined
  isTold?: boolean
}

/** What a whole visible text is; undefined: text. */
export function recover({ text, offered, cut, isTold = false }: WrittenText): Recovery | undefined {
  if (offered.length === 0 || Buffer.byteLength(text) > limits.textCallsBytesMax) return undefined
  const trimmed = withoutTurnEnd(text)
  const inside = fenced(trimmed) ?? (cut === undefined ? undefined : openFenced(trimmed))
  const spoken = inside ?? trimmed
  if (spoken === '') return undefined
  for (const { name, read } of dialects) {
    const reading = read(spoken)
    if (reading !== undefined)
      return judged(name, reading, { spoken, offered, isFenced: inside !== undefined, cut, isTold })
  }
  return undefined
}

type Offer = {
  spoken: string
  offered: OfferedTool[]
  isFenced: boolean
  cut: string | undefined
  isTold: boolean
}

function judged(dialect: string, reading: Reading, offer: Offer): Recovery | undefined {
  const lookalike = (why: string): Recovery => ({ kind: 'lookalike', dialect, why })
  if (reading.kind === 'broken')
    return isMeant(reading, offer) ? lookalike(offer.cut ?? reading.why) : undefined
  const names = reading.calls.flatMap((call) => call.names)
  const isOnlyCalls = (reading.marked || offer.isTold) && !offer.isFenced
  if (!isOnlyCalls && !names.some((name) => toolOf(name, offer) !== undefined)) return undefined
  if (offer.cut !== undefined) return lookalike(offer.cut)

  const max = limits.responseCallsMax
  if (reading.calls.length > max)
    return lookalike(`it has ${reading.calls.length} calls, and at most ${max} are taken`)
  const repairs = new Set(reading.repairs)
  const calls: RecoveredCall[] = []
  for (const call of reading.calls) {
    const judgement = judgedCall(call, offer, repairs)
    if ('why' in judgement) return lookalike(judgement.why)
    calls.push(judgement)
  }
  return { kind: 'calls', dialect, calls, repairs: [...repairs].sort() }
}

/**
 * Whether a call was to stand in this broken frame: it names a tool that was offered, and goes on
 * to its end. What ends as a sentence does only speaks about it; but a model that was told to write
 * its calls so means the frame that it begins, and one that ends in the middle would reach the user
 * as an answer.
 */
function isMeant(
  { names, marked, isOpen = false }: Extract<Reading, { kind: 'broken' }>,
  { spoken, offered, isFenced, cut, isTold }: Offer,
): boolean {
  const isBegun = isTold && offered.some(({ name }) => names.includes(name))
  if (cut === undefined && !isBegun && (isOpen || !['>', '}', ']', ')'].includes(spoken.slice(-1))))
    return false
  return offered.some(
    ({ name }) => names.includes(name) || (marked && !isFenced && spoken.includes(name)),
  )
}

function toolOf(name: string, { offered }: Offer): OfferedTool | undefined {
  return offered.find((tool) => tool.name === name)
}

function judgedCall(
  { names: [name], id, arguments: written, left = [] }: WrittenCall,
  offer: Offer,
  repairs: Set<Repair>,
): RecoveredCall | { why: string } {
  const tool = toolOf(name, offer)
  if (tool === undefined) return { why: `there is no tool ${quoted(name)}` }
  const schema = compiledSchema(tool.schema)
  if (schema.kind === 'unusable')
    return { why: `the tool ${quoted(name)} cannot be called: its schema is unusable` }
  const raw =
    written.kind === 'json' ? written.json : typedObject(written.fields, schema.schema, repairs)
  const lost = left.filter((field) => isDeclared(schema.schema, field))
  const fault =
    lost.length > 0
      ? `${listed(lost.map(quoted), 'and')} cannot be told from the call's own fields there`
      : faultIn(raw, schema)
  return fault === undefined
    ? { id, name, raw }
    : { why: `${quoted(name)} cannot be called like that: ${fault}` }
}

/** Why these arguments are not exactly what the schema asks for; undefined: they are. */
function faultIn(
  raw: string,
  { schema, judge }: Extract<ReturnType<typeof compiledSchema>, { kind: 'usable' }>,
): string | undefined {
  if (Buffer.byteLength(raw) > limits.argumentBytesMax)
    return `its arguments have more than ${limits.argumentBytesMax} bytes`
  if (jsonFault(raw, limits.argumentDepthMax) !== undefined)
    return `its arguments are nested deeper than ${limits.argumentDepthMax} levels`
  const repeated = membersFault(raw, limits.argumentDepthMax)
  if (repeated?.kind === 'repeated') return `field ${quoted(repeated.name)} is given twice`
  const value = JSON.parse(raw) as Record<string, unknown>
  const missing = missingFrom(value, schema)
  if (missing.length > 0)
    return `missing required field${missing.length === 1 ? '' : 's'} ${listed(missing.map(quoted))}`
  const unknown = Object.keys(value).filter((name) => !takes(schema, name))
  if (unknown.length > 0)
    return `unknown field${unknown.length === 1 ? '' : 's'} ${listed(unknown.map(quoted))}`
  const judgement = judge(value)
  if (judgement.kind === 'valid') return undefined
  const first = judgement.kind === 'invalid' ? judgement.errors.at(-1) : undefined
  return first === undefined ? 'its arguments cannot be judged' : schemaFault(first).words
}

/**
 * Whether a schema says of an argument that it takes it (RECOVER-2). What it says in other ways
 * than by names is Ajv's to judge.
 */
function takes(schema: Record<string, unknown>, name: string): boolean {
  const { properties, additionalProperties, patternProperties } = schema
  if (
    additionalProperties !== undefined ||
    patternProperties !== undefined ||
    properties === undefined
  )
    return true
  if (['$ref', 'allOf', 'anyOf', 'oneOf', 'if'].some((keyword) => keyword in schema)) return true
  return isDeclared(schema, name)
}

function isDeclared({ properties }: Record<string, unknown>, name: string): boolean {
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name)
}
