// The schemas of tools as functions. Ajv judges the arguments. This file decides which schemas are
// usable (R6) and bounds the work of judging (R7). Unknown keywords and formats are allowed,
// because schemas of MCP tools are full of them. An invalid use of a known one makes a schema
// unusable.
// COMPILED-SCHEMA-1. The result is a pure function of the schema's text. The cache changes only the
//     time. Each schema has its own Ajv, because an instance remembers every $id and $anchor.
// COMPILED-SCHEMA-2. A schema is judged by its own document. Nothing is loaded, and a reference
//     that leads out of the document makes the schema unusable.
// COMPILED-SCHEMA-3. Arguments are judged unchanged: no coercion, no defaults, no removal.
//     Inherited members do not count as present.
// COMPILED-SCHEMA-4. RE2 matches patterns, in time linear in the text. A pattern that RE2 does not
//     support (lookaround, back-references) makes its schema unusable.
// COMPILED-SCHEMA-5. Followed references are counted (schema-steps.ts). Arguments that take too
//     many are not judged, and the call does not run.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { RE2JS } from 're2js'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { limits } from '../limits.ts'
import { draft07Form, draft2020Form } from './meta-schemas.ts'
import { visible } from './name-text.ts'
import { countSteps, type SchemaSteps, TooManySteps } from './schema-steps.ts'

export type UsableSchema = {
  kind: 'usable'
  schema: Record<string, unknown>
  /** Stops at the first error. */
  judge(value: unknown): Judgement
  /** Collects every error. The cost grows with the value, so use it for short values only. */
  explain(value: unknown): Judgement
}

/** `reason`: for people and the model. */
export type CompiledSchema = UsableSchema | { kind: 'unusable'; reason: string }

/**
 * text-too-long: a pattern would have to match it. unjudged: Ajv gave up, on a schema that refers
 * only to itself, or on one that takes too many steps (COMPILED-SCHEMA-5).
 */
export type Judgement =
  | { kind: 'valid' }
  | { kind: 'invalid'; errors: ErrorObject[] }
  | { kind: 'text-too-long' }
  | { kind: 'unjudged'; reason: string }

/** By text, least recently used first (COMPILED-SCHEMA-1). */
const cache = new Map<string, CompiledSchema>()
let newest: { text: string; schema: CompiledSchema } | undefined

/** The schema that a declaration carries as JSON text. Never throws. */
export function compiledSchema(text: string): CompiledSchema {
  if (newest?.text === text) return newest.schema
  const schema = cache.get(text) ?? compile(text)
  newest = { text, schema }
  cache.delete(text)
  cache.set(text, schema)
  for (const oldest of cache.keys()) {
    if (cache.size <= limits.compiledSchemasMax) break
    cache.delete(oldest)
  }
  return schema
}

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

type Counted = { validate: ValidateFunction; steps: SchemaSteps }

function judged(counted: () => Counted, value: unknown): Judgement {
  try {
    const { validate, steps } = counted()
    steps.begin()
    return validate(value) ? { kind: 'valid' } : { kind: 'invalid', errors: validate.errors ?? [] }
  } catch (error) {
    if (error instanceof TextTooLong) return { kind: 'text-too-long' }
    const tooMany = `judging these arguments takes more than ${limits.schemaStepsMax} references to its parts: it has too many branches`
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

function dialect(form: () => ValidateFunction, create: (options: Options) => Ajv): Dialect {
  return {
    isValid: (schema) => form()(schema) === true,
    compile(schema, { allErrors }) {
      const ajv = create({ ...options, allErrors, code: { regExp: boundedPattern } })
      addFormats.default(ajv)
      ajv.removeKeyword('uniqueItems')
      ajv.addKeyword({
        keyword: 'uniqueItems',
        type: 'array',
        schemaType: 'boolean',
        validate: hasUniqueItems,
        error: uniqueItemsError,
      })
      const steps = countSteps(ajv)
      return { validate: ajv.compile(schema), steps }
    },
  }
}

// ── Patterns and unique items, within bounds ──

class TextTooLong extends Error {}

/**
 * Keeps COMPILED-SCHEMA-4. Throws the fault of the pattern. Its test throws on a text that is too
 * long: `false` would pass the text under a `not`.
 */
export function boundedPattern(pattern: string): { test(text: string): boolean } {
  const expression = compiledPattern(pattern)
  return {
    test(text) {
      if (text.length > limits.patternTextMax) throw new TextTooLong()
      return expression.matcher(text).find()
    },
    // Ajv keeps patterns apart by this.
    toString: () => pattern,
  } as { test(text: string): boolean }
}
boundedPattern.code = 'boundedPattern'

/** Throws the fault, for people and the model. */
function compiledPattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (cause) {
    regExpOf(pattern)
    const shown = JSON.stringify(pattern.slice(0, patternCharactersShown))
    const what = `its pattern ${shown} cannot be matched in linear time`
    throw new Error(
      `${what}: write it without looking ahead or behind, and without references back`,
      { cause },
    )
  }
}

const patternCharactersShown = 100

/**
 * With the flag u, as the standard requires, or without it, as many authors write. Throws if it is
 * not a pattern.
 */
function regExpOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

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
