// The schema of a function's parameters as JSON Schema. Gemini's own form is a part of OpenAPI's:
// types in capitals, `nullable`, and bounds as texts.

import { isObject } from '../../lib/json/json-object.ts'
import { jsonSchemaOf } from '../../transcript/json-schema.ts'
import type { Json } from '../format.ts'
import { member } from './members.ts'

/** Undefined: the function states no parameters. */
export function parametersOf(declaration: Json): unknown {
  const schema = member(declaration, 'parametersJsonSchema')
  if (schema !== undefined && schema !== null) return jsonSchemaOf(schema)
  return isObject(declaration.parameters) ? jsonSchemaIn(declaration.parameters) : undefined
}

/** Bounds that protobuf writes as texts, because they have 64 bits. */
const bounds = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
])
/** Hints for the model, with no meaning for a validator. */
const hints = new Set(['format', 'nullable', 'propertyOrdering', 'example', 'title'])

function jsonSchemaIn(schema: Json): Json {
  const made: Json = {}
  for (const [name, value] of Object.entries(schema)) {
    const key = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (hints.has(key)) continue
    const read = readValue(key, value)
    if (read !== undefined) made[key] = read
  }
  if (schema.nullable !== true) return made
  return typeof made.type === 'string'
    ? { ...made, type: [made.type, 'null'], ...nullIn(made) }
    : { anyOf: [made, { type: 'null' }] }
}

function readValue(key: string, value: unknown): unknown {
  if (key === 'type') return typeOf(value)
  if (bounds.has(key)) return typeof value === 'string' ? Number(value) : value
  if (key === 'properties' && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        isObject(inner) ? jsonSchemaIn(inner) : {},
      ]),
    )
  if (key === 'anyOf' && Array.isArray(value))
    return value.map((inner) => (isObject(inner) ? jsonSchemaIn(inner) : {}))
  if (key === 'items' && isObject(value)) return jsonSchemaIn(value)
  return value
}

function typeOf(value: unknown): unknown {
  const type = typeof value === 'string' ? value.toLowerCase() : value
  return type === 'type_unspecified' ? undefined : type
}

function nullIn(schema: Json): Json {
  return Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
}
