// The schemas of tools as functions. Ajv judges; this file decides which schemas may be used at all
// (R6) and keeps judging within bounds (R7).
//
// COMPILED-SCHEMA-1. What comes out is a pure function of the schema's text. The cache below is the
//     only state at module level: it is bounded, and whether a text is in it changes nothing but
//     time. Each schema gets an Ajv of its own, because an instance remembers every $id and $anchor
//     that it has seen, and then the second tool's references would mean the first one's
//     definitions.
// COMPILED-SCHEMA-2. A schema is judged by its own document: nothing is loaded, and a reference
//     that leads out of it makes it unusable.
// COMPILED-SCHEMA-3. Arguments are judged as they are: no coercion, no defaults, nothing removed;
//     inherited members do not count as present.
// COMPILED-SCHEMA-4. Unknown keywords and formats are no reason to refuse a schema: MCP tools are
//     full of them. An invalid use of a known one is.
//
// COMPILED-SCHEMA-5. Patterns are matched in time linear in the text, by RE2. A pattern that RE2
//     does not know (one that looks ahead or behind, or refers back) makes its schema unusable:
//     whether it takes exponential time on some text nobody can say.
// COMPILED-SCHEMA-6. References that are followed are counted (schema-steps.ts). Arguments that
//     take too many of them are not judged, so the call does not run.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { RE2JS } from 're2js'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { limits } from '../limits.ts'
import { visible } from './name-text.ts'
import { countSteps, type SchemaSteps, TooManySteps } from './schema-steps.ts'

export type UsableSchema = {
  kind: 'usable'
  schema: Record<string, unknown>
  /** Stops at the first error. */
  judge(value: unknown): Judgement
  /** Names every error; the cost grows with the value, so only for short ones. */
  explain(value: unknown): Judgement
}

/** `reason`: for people, and for the model to tell them. */
export type CompiledSchema = UsableSchema | { kind: 'unusable'; reason: string }

/**
 * text-too-long: it would have to be matched against a pattern. unjudged: Ajv gave up, on a schema
 * that refers to itself only, or on one that takes more steps than we allow (COMPILED-SCHEMA-6).
 */
export type Judgement =
  | { kind: 'valid' }
  | { kind: 'invalid'; errors: ErrorObject[] }
  | { kind: 'text-too-long' }
  | { kind: 'unjudged'; reason: string }

/** By text, least recently used first (COMPILED-SCHEMA-1). */
const cache = new Map<string, CompiledSchema>()

/** The schema that a declaration carries as JSON text. Never throws. */
export function compiledSchema(text: string): CompiledSchema {
  const known = cache.get(text)
  const schema = known ?? compile(text)
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
  // Ajv would answer with a promise, and a promise is true.
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

const draft2020 = dialect(
  'https://json-schema.org/draft/2020-12/schema',
  (options) => new Ajv2020(options),
)
const draft07 = dialect('http://json-schema.org/draft-07/schema', (options) => new Ajv(options))

/**
 * What `$schema` says. Without it 2020-12 as MCP has it; what only draft-07 allows (a list of
 * items) is then read as that.
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
  verbose: true, // errors say what was found where
  ownProperties: true, // else `toString` is always there
  validateSchema: false, // against the dialect's own schema below, once for both ways to compile
  meta: false,
}

function dialect(metaSchema: string, create: (options: Options) => Ajv): Dialect {
  let judge: ValidateFunction | undefined
  return {
    isValid(schema) {
      judge ??= create({ strict: false, logger: false }).getSchema(metaSchema)
      return judge?.(schema) === true
    },
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
 * Keeps COMPILED-SCHEMA-5; throws what is wrong with the pattern. Its test throws on a text that is
 * too long: `false` would let the text pass where the schema says `not`.
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

/** Throws what is wrong with it, for people and for the model to tell them. */
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
 * As a schema means it (with the flag u), or as many authors write it (without). Throws on one that
 * is no pattern at all.
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
 * Ajv compares each item with each other one: a list of a hundred thousand small objects would take
 * minutes.
 */
function hasUniqueItems(wanted: boolean, items: unknown[]): boolean {
  return !wanted || new Set(items.map(canonical)).size === items.length
}

/**
 * Equal for equal JSON values, whatever the order of members. The depth of arguments is bounded, so
 * this may call itself.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}
