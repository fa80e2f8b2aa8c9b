// Checks an agent file against its schema and explains each mistake to its author: the value and the
// accepted values.

import type { ErrorObject } from 'ajv'
import { alternatives, kindOf, type Path, pathOf, shown } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import { agentSchema, type Branch, type Schema } from './agent-schema.ts'
import type { AgentContent } from './content.ts'
import { fileValidator } from './file-validator.ts'

/** `part`: the mistake is about the key at that path, or about its value. */
export type SchemaMistake = { path: Path; text: string; part: 'key' | 'value' }

/** The keys of a mapping in agent files and their meanings, in the schema's order. `path`: the keys above it. */
export function meaningsAt(...path: string[]): [key: string, meaning: string][] {
  const mapping = path.reduce<Schema>(
    (around, name) => around.properties?.[name] ?? {},
    agentSchema,
  )
  return Object.entries(mapping.properties ?? {}).map(([key, { description = '' }]) => [
    key,
    description,
  ])
}

/**
 * All mistakes that the schema finds, and the content with undefined for each refused value.
 * `isValid`: by the schema of files or of programs.
 */
export function schemaMistakes(
  value: unknown,
  isValid = fileValidator(),
): {
  mistakes: SchemaMistake[]
  content: AgentContent
} {
  if (isValid(value)) return { mistakes: [], content: value as AgentContent }
  const mistakes = (isValid.errors ?? []).flatMap(mistakesOf)
  const refused = mistakes.filter(({ part }) => part === 'value').map(({ path }) => path)
  return { mistakes: unique(mistakes), content: without(value, refused) as AgentContent }
}

function mistakesOf(error: ErrorObject): SchemaMistake[] {
  const { keyword, params, schemaPath, propertyName, data } = error
  const schema = error.parentSchema as Schema
  const path = pathOf(error.instancePath)
  switch (keyword) {
    case 'required': {
      if (isBranch(schemaPath)) return []
      const name = String(params.missingProperty)
      // A condition at the top has no properties itself.
      const { properties = agentSchema.properties } = schema
      const accepted = acceptedBy(properties?.[name] ?? {})
      return [{ path: [...path, name], text: `is missing; must be ${accepted}`, part: 'key' }]
    }
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      return [
        {
          path: [...path, name],
          text: unknownKey(name, Object.keys(schema.properties ?? {})),
          part: 'key',
        },
      ]
    }
    case 'if':
      return [] // the mistakes are those of its branch
    case 'oneOf':
      return isMapping(data) ? [{ path, text: choice(schema, data), part: 'key' }] : [] // otherwise its type is the mistake
    case 'anyOf': {
      const [, name = ''] = /\/dependencies\/(\w+)\/anyOf$/.exec(schemaPath) ?? []
      return [
        {
          path: [...path, name],
          text: `goes with ${alternatives(requiredBy(schema.anyOf))} only; remove it`,
          part: 'key',
        },
      ]
    }
    case 'propertyNames': // without the name: it may be a misplaced value
      return [
        {
          path,
          text: `has a key that is no ${keysOf(path)}`,
          part: 'key',
        },
      ]
    default:
      if (propertyName !== undefined) return [] // within propertyNames
      return [
        {
          path,
          text: `${found(schema, data)}; must be ${acceptedBy(schema)}${guess(data, schema.enum)}`,
          part: 'value',
        },
      ]
  }
}

/** Mistakes inside an alternative are not shown. */
function isBranch(schemaPath: string): boolean {
  return /\/(oneOf|anyOf)\/\d+\//.test(schemaPath)
}

function found(schema: Schema, data: unknown): string {
  if (schema['x-secret'] !== true) return `is ${shown(data)}`
  return typeof data === 'string' && data !== '' ? 'cannot be used' : `is ${kindOf(data)}`
}

/** " (did you mean ...?)" for a text that is nearly one of these, otherwise "". */
export function guess(data: unknown, known: readonly unknown[] = []): string {
  const names = known.filter((name) => typeof name === 'string')
  const near = typeof data === 'string' ? nearestName(data, names) : undefined
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

/** Completes "must be". */
function acceptedBy(schema: Schema): string {
  const { minimum, maximum } = schema
  if (schema['x-accepted'] !== undefined) return schema['x-accepted']
  if (schema.enum !== undefined) return alternatives(schema.enum)
  switch (schema.type) {
    case 'integer':
      return `a whole number from ${minimum} to ${maximum}`
    case 'number':
      return `a number from ${minimum} to ${maximum}`
    case 'boolean':
      return 'true or false'
    case 'object':
      return `a mapping of ${alternatives(Object.keys(schema.properties ?? {}), 'and')}`
    default:
      return 'a text'
  }
}

function unknownKey(name: string, known: string[]): string {
  const near = nearestName(name, known)
  const keys = known.filter((key) => !key.startsWith('$'))
  return near === undefined
    ? `is an unknown key; keys here: ${alternatives(keys, 'and')}`
    : `is an unknown key; did you mean ${near}?`
}

function choice({ oneOf }: Schema, data: object): string {
  const names = requiredBy(oneOf)
  const given = names.filter((name) => Object.hasOwn(data, name))
  if (given.length > 0) return `has ${alternatives(given, 'and')}; must have only one of them`
  return `has none of ${alternatives(names, 'and')}; must have one of them`
}

function requiredBy(branches: Branch[] = []): string[] {
  return branches.flatMap(({ required }) => required)
}

/** One value that breaks two bounds has the same text twice. */
function unique(mistakes: SchemaMistake[]): SchemaMistake[] {
  return [
    ...new Map(
      mistakes.map((mistake) => [JSON.stringify([mistake.path, mistake.text]), mistake]),
    ).values(),
  ]
}

function without(value: unknown, refused: Path[]): unknown {
  if (refused.some((path) => path.length === 0)) return {}
  const copy = structuredClone(value)
  for (const path of refused) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((around, step) => (isObject(around) ? around[step] : undefined), copy)
    if (isObject(parent)) parent[path.at(-1) ?? ''] = undefined
  }
  return copy
}

function isMapping(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value)
}

function isObject(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null
}

function keysOf(path: Path): string {
  return path.at(-1) === 'mcp'
    ? 'name of a server; must be 1 to 32 of a-z, 0-9 and -'
    : 'header name; must be letters, digits and -, as in X-Request-Id'
}
