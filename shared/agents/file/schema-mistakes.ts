// What agent.schema.json says against the content of an agent file, in words for who wrote it: what
// stands there and what would be accepted. The schema is the one list of keys, types and bounds;
// editors complete from it. Two keywords of its own: `x-accepted` says in words what it accepts,
// and of an `x-secret` nothing is ever shown.

import { readFileSync } from 'node:fs'
import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv'
import { alternatives, kindOf, type Path, pathOf, shown } from '../../settings/mistake.ts'
import { nearestName } from '../../settings/nearest-name.ts'
import type { AgentContent } from './content.ts'

/** `part`: whether the mistake is about the key under that path or about its value. */
export type Complaint = { path: Path; text: string; part: 'key' | 'value' }

/** Keys of which some are given. */
type Branch = { required: string[] }

type Schema = {
  type?: string
  enum?: string[]
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
  oneOf?: Branch[]
  anyOf?: Branch[]
  'x-accepted'?: string
  'x-secret'?: boolean
}

const agentSchema: AnySchemaObject & Schema = JSON.parse(
  readFileSync(new URL('agent.schema.json', import.meta.url), 'utf8'),
)

const isValid = new Ajv({
  ...{ allErrors: true, verbose: true, ownProperties: true, logger: false },
  ...{ strictTypes: false, keywords: ['x-accepted', 'x-secret'] },
  // It is ours, and a test holds it to its dialect. At each start, judging it and making quick code
  // for one file would take longer than all the rest.
  ...{ validateSchema: false, meta: false, code: { optimize: false } },
}).compile(agentSchema)

/** The keys of a mapping of agent files, in the schema's order; `path`: those that lead to it. */
export function keysAt(...path: string[]): string[] {
  const mapping = path.reduce<Schema>(
    (around, name) => around.properties?.[name] ?? {},
    agentSchema,
  )
  return Object.keys(mapping.properties ?? {})
}

/**
 * Every mistake that the schema finds, and the content with undefined in the place of what it
 * refuses.
 */
export function schemaMistakes(value: unknown): { complaints: Complaint[]; content: AgentContent } {
  if (isValid(value)) return { complaints: [], content: value as AgentContent }
  const complaints = (isValid.errors ?? []).flatMap(complaintsOf)
  const refused = complaints.filter(({ part }) => part === 'value').map(({ path }) => path)
  return { complaints: unique(complaints), content: without(value, refused) as AgentContent }
}

function complaintsOf(error: ErrorObject): Complaint[] {
  const { keyword, params, schemaPath, propertyName, data } = error
  const schema = error.parentSchema as Schema
  const path = pathOf(error.instancePath)
  switch (keyword) {
    case 'required': {
      if (isBranch(schemaPath)) return []
      const name = String(params.missingProperty)
      const accepted = acceptedBy(schema.properties?.[name] ?? {})
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
    case 'oneOf':
      return isMapping(data) ? [{ path, text: choice(schema, data), part: 'key' }] : [] // else its type is the mistake
    case 'dependencies':
      return [
        {
          path: [...path, String(params.property)],
          text: `goes with ${params.deps} only; remove it`,
          part: 'key',
        },
      ]
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
    case 'propertyNames': // a mistaken name may be anything, also the value
      return [
        {
          path,
          text: "has a key that is no header's name; must be letters, digits and -, as in X-Request-Id",
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

/** Which branches were tried is nothing to tell. */
function isBranch(schemaPath: string): boolean {
  return /\/(oneOf|anyOf)\/\d+\//.test(schemaPath)
}

function found(schema: Schema, data: unknown): string {
  if (schema['x-secret'] !== true) return `is ${shown(data)}`
  return typeof data === 'string' && data !== '' ? 'cannot be used' : `is ${kindOf(data)}`
}

/** " (did you mean ...?)" for a text that is nearly one of these; else nothing. */
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
    ? `is no key here; there are ${alternatives(keys, 'and')}`
    : `is no key here; did you mean ${near}?`
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

/** Two bounds that one value breaks are told in the same words. */
function unique(complaints: Complaint[]): Complaint[] {
  return [
    ...new Map(
      complaints.map((complaint) => [JSON.stringify([complaint.path, complaint.text]), complaint]),
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
