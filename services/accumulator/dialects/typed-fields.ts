// Turns arguments that are written as texts without a type into the JSON object that the tool's
// schema asks for.
//
// TYPED-FIELDS-1. A text stays a string wherever the schema allows one: nothing marks another type.
//     Except `null` if the schema allows null: models write it for omitted arguments.
// TYPED-FIELDS-2. If no string is allowed, the text must be JSON of an allowed type. Otherwise it
//     stays a string, without a guess, and the schema refuses it.
// TYPED-FIELDS-3. An argument that is given twice has no value. The object keeps both and is
//     refused.

import { pointedTo } from '../../../shared/contract/arguments/schema-reference.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { WrittenField } from './dialect.ts'
import { type Repair, readJson } from './written-json.ts'

type Schema = Record<string, unknown>

/** The object as strict JSON text. `schema`: the tool's compiled schema. */
export function typedObject(fields: WrittenField[], schema: Schema, repairs: Set<Repair>): string {
  const members = fields.map(
    (field) => `${JSON.stringify(field.name)}:${typed(field, schema, repairs)}`,
  )
  return `{${members.join(',')}}`
}

/** A line end after the opening tag and one before the closing tag belong to the tags. */
export function withoutOneLineEnd(text: string): string {
  return text.replace(/^\r?\n/, '').replace(/\r?\n$/, '')
}

function typed({ name, text, is }: WrittenField, schema: Schema, repairs: Set<Repair>): string {
  const string = () => JSON.stringify(text)
  if (is === 'string') return string()
  const property =
    isObject(schema.properties) && Object.hasOwn(schema.properties, name)
      ? schema.properties[name]
      : undefined
  const allowed = typesOf(property, schema, 0)
  if (is === undefined && (allowed === undefined || allowed.has('string')))
    return allowed?.has('null') && text.trim() === 'null' ? 'null' : string()
  return jsonIn(text, repairs) ?? string()
}

/** A text that is one JSON value from its beginning to its end. */
function jsonIn(text: string, repairs: Set<Repair>): string | undefined {
  const cursor = { text: text.trim(), at: 0 }
  const json = readJson(cursor, repairs)
  return cursor.at === cursor.text.length ? json : undefined
}

/** References are followed to this depth. */
const depthMax = 8

/** The types that a schema allows, as far as it names them. Undefined: it names none, so any. */
function typesOf(schema: unknown, root: Schema, depth: number): Set<string> | undefined {
  if (!isObject(schema) || depth > depthMax) return undefined
  if (typeof schema.type === 'string') return withNull(schema, new Set([schema.type]))
  if (Array.isArray(schema.type)) return withNull(schema, new Set(schema.type.map(String)))
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(typeOf))
  if ('const' in schema) return new Set([typeOf(schema.const)])
  if (typeof schema.$ref === 'string') return typesOf(pointedTo(schema.$ref, root), root, depth + 1)
  const parts = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(parts)) return undefined
  const types = parts.map((part) => typesOf(part, root, depth + 1))
  return types.includes(undefined) ? undefined : new Set(types.flatMap((some) => [...(some ?? [])]))
}

function withNull({ nullable }: Schema, types: Set<string>): Set<string> {
  return nullable === true ? types.add('null') : types
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
