// Standard Schema (standardschema.dev), the interface of zod, valibot, arktype and others, as far as
// Weir uses it. Weir depends on none of them.

import type { Checked, ValueCheck } from '../../shared/agents/agents.ts'

/** `Output`: the type of a value after its check, `Input`: in front of it. */
export type StandardSchema<Output = unknown, Input = unknown> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/**
 * A schema whose library converts it to JSON Schema. Zod and arktype do. A schema of valibot needs
 * toStandardJsonSchema of @valibot/to-json-schema.
 */
export type ConvertibleSchema<Output = unknown, Input = unknown> = StandardSchema<Output, Input> & {
  readonly '~standard': {
    readonly jsonSchema: { readonly input: (options: { target: 'draft-2020-12' }) => JsonSchema }
  }
}

type Result<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

type Issue = {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema as data. No schema of a library is one: the compiler shows the text. */
export type JsonSchema = {
  readonly [keyword: string]: unknown
  readonly '~standard'?: 'this schema has no converter to JSON Schema: wrap a schema of valibot in toStandardJsonSchema of @valibot/to-json-schema'
}

/** A schema of arktype is a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  const isPossible = typeof value === 'function' || (typeof value === 'object' && value !== null)
  if (!isPossible || !('~standard' in value)) return false
  const { '~standard': standard } = value as Partial<StandardSchema>
  return typeof standard?.validate === 'function'
}

/** Undefined: the value may be a schema. An object of schemas is a common slip. */
export function objectOfSchemas(value: object): string | undefined {
  const [found] = Object.entries(value).filter(([, member]) => isStandardSchema(member))
  if (found === undefined) return undefined
  const [key, schema] = found as [string, StandardSchema]
  const { vendor } = schema['~standard']
  const example = examples[vendor]?.(key)
  return `is an object of schemas of ${vendor}; must be one schema${example === undefined ? '' : `, such as ${example}`}`
}

const examples: Record<string, (key: string) => string> = {
  zod: (key) => `z.object({ ${key}: … })`,
  valibot: (key) => `toStandardJsonSchema(v.object({ ${key}: … }))`,
  arktype: (key) => `type({ ${key}: … })`,
}

/**
 * The JSON Schema of the model's arguments, by the converter of the schema's library. Without the
 * dialect, which is the default one.
 */
export function jsonSchemaOf({ '~standard': standard }: StandardSchema): JsonSchema | string {
  const { jsonSchema, vendor } = standard as { jsonSchema?: Converter; vendor: string }
  if (typeof jsonSchema?.input !== 'function')
    return `is a schema of ${vendor} without a converter to JSON Schema${adviceFor(vendor)}`
  try {
    const { $schema, ...schema } = jsonSchema.input({ target: 'draft-2020-12' })
    return schema
  } catch (error) {
    return `is a schema of ${vendor} that has no JSON Schema: ${error instanceof Error ? error.message : String(error)}`
  }
}

type Converter = { input?: (options: { target: string }) => Record<string, unknown> }

function adviceFor(vendor: string): string {
  return vendor === 'valibot'
    ? '; wrap it in toStandardJsonSchema of @valibot/to-json-schema'
    : '; must have one (~standard.jsonSchema)'
}

/** The schema's own check. The texts of its issues go to the model. */
export function checkBy({ '~standard': standard }: StandardSchema): ValueCheck {
  return (value) => {
    const result = standard.validate(value)
    return result instanceof Promise ? result.then(checkedOf) : checkedOf(result)
  }
}

function checkedOf(result: Result<unknown>): Checked {
  return result.issues === undefined
    ? { value: result.value }
    : { problems: result.issues.slice(0, issuesMax).map(problemOf) }
}

const issuesMax = 20

function problemOf({ message, path = [] }: Issue): string {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step))
  return steps.length === 0 ? message : `${steps.join('.')}: ${message}`
}
