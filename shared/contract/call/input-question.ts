// A question of a running tool to a person: its form in records, the fields that a person sees, and
// the check of the values. A server writes the message and the schema, and nothing in them is
// trusted.
// Values count only if they are JSON and fit the requested schema. They have no
// other fields, and defaults of the schema fill absent ones.
// A page is shown by its address only. Weir never opens it, and no value of it
// reaches Weir.

import { boundedJson } from '../../lib/json/bounded-json.ts'
import { inexactNumbersIn } from '../../lib/json/exact-number.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { asSentence } from '../../lib/text-cut.ts'
import { compiledSchema } from '../arguments/compiled-schema.ts'
import type { JsonObject } from '../guard/guard.ts'
import { limits } from '../limits.ts'

/** Bytes of a question of a running tool to a person, and of the values of its answer. */
export const inputQuestionBytesMax = 32 * 1024
export const inputValuesBytesMax = 16 * 1024

/** `server`: its name in the agent file. */
export type InputQuestion = { server: string; message: string } & (
  | { mode: 'form'; schema: JsonObject }
  | { mode: 'url'; url: string }
)

/** A field of the requested schema, for a person. `type`: in words, with its choices. */
export type InputField = {
  name: string
  type: string
  description: string
  isRequired: boolean
  default: unknown
}

/** The question in a record. Undefined: it cannot be read. */
export function questionIn(text: string): InputQuestion | undefined {
  const question = boundedJson(text, limits.jsonDepthMax)
  if (!isObject(question) || typeof question.server !== 'string') return undefined
  if (typeof question.message !== 'string') return undefined
  const isForm = question.mode === 'form' && isObject(question.schema)
  const isUrl = question.mode === 'url' && typeof question.url === 'string'
  return isForm || isUrl ? (question as InputQuestion) : undefined
}

/** The reason why no person can answer it, for people. Undefined: it can be shown. */
export function questionFault(question: InputQuestion): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(question))
  if (bytes > inputQuestionBytesMax)
    return `it has ${bytes} bytes; at most ${inputQuestionBytesMax} are shown`
  if (question.mode === 'url')
    return isPage(question.url) ? undefined : 'its address is none of http or https'
  const compiled = compiledSchema(JSON.stringify(question.schema))
  if (compiled.kind === 'unusable') return `its schema is unusable: ${compiled.reason}`
  return isObject(question.schema.properties) ? undefined : 'its schema has no properties'
}

function isPage(url: string): boolean {
  const { protocol } = URL.parse(url) ?? {}
  return protocol === 'https:' || protocol === 'http:'
}

export function inputFields(question: InputQuestion): InputField[] {
  if (question.mode === 'url') return []
  const { properties, required } = question.schema
  const names = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, value]) => {
    const field = isObject(value) ? value : {}
    const { title, description } = field
    const texts = [title, description].filter((text) => typeof text === 'string')
    return {
      name,
      type: typeText(field),
      description: texts.join(': '),
      isRequired: names.includes(name),
      default: field.default,
    }
  })
}

function typeText(field: JsonObject): string {
  const choices = choicesOf(field) ?? (isObject(field.items) ? choicesOf(field.items) : undefined)
  const isList = field.type === 'array'
  if (choices === undefined) return typeof field.type === 'string' ? field.type : 'value'
  return `${isList ? 'list of' : 'one of'} ${choices.map((one) => JSON.stringify(one)).join(', ')}`
}

function choicesOf({ enum: plain, oneOf, anyOf }: JsonObject): unknown[] | undefined {
  if (Array.isArray(plain)) return plain
  const titled = Array.isArray(oneOf) ? oneOf : anyOf
  if (!Array.isArray(titled)) return undefined
  return titled.flatMap((one) => (isObject(one) && 'const' in one ? [one.const] : []))
}

/**
 * The values for the server as JSON text, or the reason why these cannot be given. `given`: null if
 * the person gives none.
 */
export function valuesFor(
  text: string,
  given: string | null,
): { values: string } | { fault: string } {
  const question = questionIn(text)
  if (question === undefined) return { fault: 'the question cannot be read' }
  if (question.mode === 'url')
    return given === null ? { values: '{}' } : { fault: 'a page takes its values itself' }
  const sent = given ?? '{}'
  const bytes = Buffer.byteLength(sent)
  if (bytes > inputValuesBytesMax)
    return { fault: `the values have ${bytes} bytes; at most ${inputValuesBytesMax} fit` }
  const parsed = boundedJson(sent, limits.jsonDepthMax)
  if (!isObject(parsed)) return { fault: 'the values are no JSON object' }
  for (const { sent: number } of inexactNumbersIn(sent))
    return { fault: `the number ${number.slice(0, 80)} cannot be passed on exactly` }
  const fields = inputFields(question)
  const unknown = Object.keys(parsed).find((name) => !fields.some((field) => field.name === name))
  if (unknown !== undefined) return { fault: `there is no field ${JSON.stringify(unknown)}` }
  const defaults = fields.filter((field) => field.default !== undefined)
  const values = {
    ...Object.fromEntries(defaults.map((field) => [field.name, field.default])),
    ...parsed,
  }
  const fault = schemaFault(question.schema, values)
  return fault === undefined ? { values: JSON.stringify(values) } : { fault }
}

function schemaFault(schema: JsonObject, values: unknown): string | undefined {
  const compiled = compiledSchema(JSON.stringify(schema))
  if (compiled.kind === 'unusable') return `the schema is unusable: ${compiled.reason}`
  const judgement = compiled.explain(values)
  if (judgement.kind === 'valid') return undefined
  if (judgement.kind !== 'invalid') return 'the values cannot be judged by the schema'
  const faults = judgement.errors.map(({ instancePath, message = 'does not fit' }) =>
    `${instancePath.slice(1)} ${message}`.trim(),
  )
  return asSentence(faults.slice(0, faultsShownMax).join('; '))
}

const faultsShownMax = 5
