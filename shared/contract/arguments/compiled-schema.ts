// The schemas of tools as functions. Ajv judges the arguments. This file decides which schemas are
// usable (R6) and bounds the work of judging (R7). Unknown keywords and formats are allowed,
// because schemas of MCP tools are full of them. An invalid use of a known one makes a schema
// unusable.
// The result is a pure function of the schema's text. The cache changes only the
// time. Each schema has its own Ajv, because an instance remembers every $id and $anchor.
// A schema is judged by its own document. Nothing is loaded, and a reference
// that leads out of the document makes the schema unusable.
// Arguments are judged unchanged: no coercion, no defaults, no removal.
// Inherited members do not count as present.
// Followed references and tests of patterns are counted (schema-steps.ts). Arguments
// that take too many are not judged, and the call does not run.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { newest } from '../../lib/newest.ts'
import { limits } from '../limits.ts'
import { boundedPatterns, TextTooLong } from './bounded-pattern.ts'
import { draft07Form, draft2020Form } from './meta-schemas.ts'
import { visible } from './name-text.ts'
import {
  countReferences,
  type SchemaSteps,
  schemaSteps,
  schemaStepsMax,
  TooManySteps,
} from './schema-steps.ts'

export type UsableSchema = {
  kind: 'usable'
  schema: Record<string, unknown>
  patternsSize: number
  /** Stops at the first error. */
  judge(value: unknown): Judgement
  /** Collects every error. The cost grows with the value, so use it for short values only. */
  explain(value: unknown): Judgement
}

/** `reason`: for people and the model. */
export type CompiledSchema = UsableSchema | { kind: 'unusable'; reason: string }

/**
 * text-too-long: a pattern would have to match it. unjudged: Ajv gave up, on a schema that refers
 * only to itself, or on one that takes too many steps.
 */
export type Judgement =
  | { kind: 'valid' }
  | { kind: 'invalid'; errors: ErrorObject[] }
  | { kind: 'text-too-long' }
  | { kind: 'unjudged'; reason: string }

/** By text. */
const cache = newest(limits.compiledSchemasMax, shareOf)
let last: { text: string; schema: CompiledSchema } | undefined

/** The schema that a declaration carries as JSON text. Never throws. */
export function compiledSchema(text: string): CompiledSchema {
  if (last?.text === text) return last.schema
  const schema = cache.at(text, () => compile(text))
  last = { text, schema }
  return schema
}

/** The places that it takes. Large patterns need as much memory as many schemas. */
function shareOf(schema: CompiledSchema): number {
  return schema.kind === 'usable' ? 1 + schema.patternsSize / patternsSizeOfPlace : 1
}

const patternsSizeOfPlace = 500

function compile(text: string): CompiledSchema {
  if (Buffer.byteLength(text) > limits.schemaBytesMax)
    return unusable(`it has more than ${limits.schemaBytesMax} bytes`)
  const fault = jsonFault(text, limits.schemaDepthMax)
  if (fault?.kind === 'too-deep')
    return unusable(`it is nested deeper than ${limits.schemaDepthMax} levels`)
  if (fault !== undefined) return unusable(`it is not JSON from position ${fault.at} on`)
  const schema: unknown = JSON.parse(text)
  if (!isObject(schema)) return unusable('it is not a JSON object')
  // Ajv would return a promise, and a promise is truthy.
  if ('$async' in schema) return unusable('$async is not supported')

  const candidates = dialectsOf(schema)
  if (candidates === undefined)
    return unusable('its $schema is neither JSON Schema 2020-12 nor draft-07')
  try {
    const dialect = candidates.find((candidate) => candidate.isValid(schema))
    if (dialect === undefined) return unusable('it is not a valid JSON Schema')
    const quick = dialect.compile(schema, { allErrors: false })
    let thorough: Counted | undefined
    return {
      kind: 'usable',
      schema,
      patternsSize: quick.patternsSize,
      judge: (value) => judged(() => quick, value),
      explain: (value) =>
        judged(() => {
          thorough ??= dialect.compile(schema, { allErrors: true })
          return thorough
        }, value),
    }
  } catch (error) {
    return unusable(
      error instanceof RangeError
        ? 'it is too complex'
        : visible(error instanceof Error ? error.message : String(error)),
    )
  }
}

function unusable(reason: string): CompiledSchema {
  return { kind: 'unusable', reason }
}

type Counted = { validate: ValidateFunction; steps: SchemaSteps; patternsSize: number }

function judged(counted: () => Counted, value: unknown): Judgement {
  try {
    const { validate, steps } = counted()
    steps.begin()
    return validate(value) ? { kind: 'valid' } : { kind: 'invalid', errors: validate.errors ?? [] }
  } catch (error) {
    if (error instanceof TextTooLong) return { kind: 'text-too-long' }
    const tooMany = `judging these arguments takes more than ${schemaStepsMax} steps: it has too many branches, or its patterns are too large`
    return {
      kind: 'unjudged',
      reason: error instanceof TooManySteps ? tooMany : 'it cannot be evaluated',
    }
  }
}

// ── Dialects ──

type Dialect = {
  isValid(schema: object): boolean
  compile(schema: object, options: Options): Counted
}

const draft2020 = dialect(draft2020Form, (options) => new Ajv2020(options))
const draft07 = dialect(draft07Form, (options) => new Ajv(options))

/**
 * The dialect that `$schema` names. Without it 2020-12, as in MCP, or draft-07 if the schema has a
 * list of items, which only draft-07 allows.
 */
function dialectsOf({ $schema }: Record<string, unknown>): Dialect[] | undefined {
  if ($schema === undefined) return [draft2020, draft07]
  if (typeof $schema !== 'string') return undefined
  const name = $schema
    .trim()
    .replace(/^https?:\/\//, '')
    .replace(/#$/, '')
  if (name === 'json-schema.org/draft/2020-12/schema') return [draft2020]
  return name === 'json-schema.org/draft-07/schema' ? [draft07] : undefined
}

const options: Options = {
  strict: false,
  strictNumbers: true, // 1e400 is infinite for one reader and a mistake for the next
  logger: false,
  verbose: true, // errors hold the value and its place
  ownProperties: true, // otherwise `toString` is always present
  validateSchema: false, // against the dialect's own schema below, once for both ways to compile
  meta: false,
}

/** A test of a pattern against a short text takes a part of a step, and a long one takes many. */
const stepsOfTest = 0.25
const workOfStep = 512

function dialect(form: () => ValidateFunction, create: (options: Options) => Ajv): Dialect {
  return {
    isValid: (schema) => form()(schema) === true,
    compile(schema, { allErrors }) {
      const steps = schemaSteps()
      const regExp = boundedPatterns((work) => steps.take(stepsOfTest + work / workOfStep))
      const ajv = create({ ...options, allErrors, code: { regExp } })
      addFormats.default(ajv)
      ajv.removeKeyword('uniqueItems')
      ajv.addKeyword({
        keyword: 'uniqueItems',
        type: 'array',
        schemaType: 'boolean',
        validate: hasUniqueItems,
        error: uniqueItemsError,
      })
      countReferences(ajv, steps)
      const validate = ajv.compile(schema)
      return { validate, steps, patternsSize: regExp.size() }
    },
  }
}

// ── Unique items ──

const uniqueItemsError = { message: 'must not have the same item twice' }

/**
 * Ajv compares each pair of items: a list of a hundred thousand small objects would take minutes.
 */
function hasUniqueItems(required: boolean, items: unknown[]): boolean {
  return !required || new Set(items.map(canonical)).size === items.length
}

/**
 * Equal for equal JSON values with any order of members. Recursive, because the depth of
 * arguments is bounded.
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}
