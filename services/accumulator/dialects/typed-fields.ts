// Turns arguments that are written as texts without a type into the JSON object that the tool's
// schema asks for.
//
// A text stays a string wherever the schema allows one: nothing marks another type.
// Except `null` if the schema allows null: models write it for omitted arguments.
// If no string is allowed, the text must be JSON of an allowed type. Otherwise it
// stays a string, without a guess, and the schema refuses it.
// An argument that is given twice has no value. The object keeps both and is
// refused.
// A field that the frame calls JSON and that is none has no value. The same holds
// for tags named `item` where the schema allows a list and an object.

import { quoted } from '../../../shared/contract/arguments/name-text.ts'
import { pointedTo } from '../../../shared/contract/arguments/schema-reference.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import type { WrittenField } from './dialect.ts'
import { type Repair, readJson } from './readers/written-json.ts'

type Schema = Record<string, unknown>
/** `faults`: clauses for the model, why a field has no value. */
type Context = { root: Schema; repairs: Set<Repair>; faults: string[] }

/**
 * The object as strict JSON text, or why there is none, as a clause for the model. `schema`: the
 * tool's compiled schema.
 */
export function typedObject(
  fields: WrittenField[],
  schema: Schema,
  repairs: Set<Repair>,
): { json: string } | { why: string } {
  const context: Context = { root: schema, repairs, faults: [] }
  const json = objectOf(fields, schema, context)
  const [why] = context.faults
  return why === undefined ? { json } : { why }
}

function objectOf(fields: WrittenField[], schema: Schema | undefined, context: Context): string {
  const members = fields.map(
    (field) =>
      `${JSON.stringify(field.name)}:${typed(field, memberSchema(schema, field.name), context)}`,
  )
  return `{${members.join(',')}}`
}

function typed(field: WrittenField, schema: unknown, context: Context): string {
  const { name, text, is, parts } = field
  const string = () => JSON.stringify(text)
  if (is === 'string') return string()
  if (is === 'json')
    return (
      jsonIn(text, context.repairs) ??
      withoutValue(`field ${quoted(name)} is not valid JSON`, context)
    )
  if (parts !== undefined) return structureOf(field, schema, context)
  const allowed = typesOf(schema, context.root, 0)
  if (allowed === undefined || allowed.has('string'))
    return allowed?.has('null') && text.trim() === 'null' ? 'null' : string()
  if (is === 'element' && text.trim() === '' && allowed.has('array') !== allowed.has('object'))
    return allowed.has('array') ? '[]' : '{}'
  return jsonIn(text, context.repairs) ?? string()
}

/** A list or an object that is written as tags. */
function structureOf(
  { name, parts = [] }: WrittenField,
  schema: unknown,
  context: Context,
): string {
  const allowed = typesOf(schema, context.root, 0)
  const isList = parts.every((part) => part.name === 'item') && (allowed?.has('array') ?? true)
  if (isList && (allowed?.has('object') ?? true))
    return withoutValue(`field ${quoted(name)} can be a list or an object there`, context)
  const branch = branchOf(schema, isList ? 'array' : 'object', context.root, 0)
  if (!isList) return objectOf(parts, branch, context)
  const items = parts.map((part, index) => typed(part, itemSchema(branch, index), context))
  return `[${items.join(',')}]`
}

function withoutValue(why: string, { faults }: Context): string {
  faults.push(why)
  return 'null'
}

// ── Schemas ──

/** Own members only: a name such as `constructor` is no declaration. */
function memberSchema(schema: Schema | undefined, name: string): unknown {
  const { properties, additionalProperties } = schema ?? {}
  return isObject(properties) && Object.hasOwn(properties, name)
    ? properties[name]
    : additionalProperties
}

function itemSchema(schema: Schema | undefined, index: number): unknown {
  const { prefixItems, items } = schema ?? {}
  return (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items
}

/** The part of a schema that allows this type. Undefined: it is not the only one. */
function branchOf(schema: unknown, type: string, root: Schema, depth: number): Schema | undefined {
  if (!isObject(schema) || depth > depthMax) return undefined
  if (typeof schema.$ref === 'string')
    return branchOf(pointedTo(schema.$ref, root), type, root, depth + 1)
  const parts = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(parts)) return schema
  const [only, ...others] = parts.filter((part) => typesOf(part, root, depth)?.has(type) ?? true)
  return others.length > 0 ? undefined : branchOf(only, type, root, depth + 1)
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
  if (typeof schema.type === 'string' || Array.isArray(schema.type)) {
    const types = [schema.type].flat().map(String)
    return new Set(schema.nullable === true ? [...types, 'null'] : types)
  }
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(typeOf))
  if ('const' in schema) return new Set([typeOf(schema.const)])
  if (typeof schema.$ref === 'string') return typesOf(pointedTo(schema.$ref, root), root, depth + 1)
  const parts = schema.anyOf ?? schema.oneOf
  if (!Array.isArray(parts)) return undefined
  const types = parts.map((part) => typesOf(part, root, depth + 1))
  return types.includes(undefined) ? undefined : new Set(types.flatMap((some) => [...(some ?? [])]))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
