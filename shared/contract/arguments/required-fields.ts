// Which fields a tool requires, and which of them a call lacks. Models write null for what they do
// not know, so a null for a required field counts as missing (I1). The exception is a field whose
// schema names null: strict function calling declares every field as required and an optional one
// as "string or null", and there null is the right answer; refusing it would make the tool
// impossible to call.

import { isObject } from '../../lib/json/json-object.ts'
import { pointedTo } from './schema-reference.ts'

type Schema = Record<string, unknown>

/** The top level's `required`, each name once. */
export function requiredFields(schema: Schema): string[] {
  return Array.isArray(schema.required)
    ? [...new Set(schema.required.filter((name) => typeof name === 'string'))]
    : []
}

/** The required fields that are absent from these arguments, or null without the schema's leave. */
export function missingFrom(value: Schema, schema: Schema): string[] {
  return requiredFields(schema).filter(
    (name) =>
      !Object.hasOwn(value, name) ||
      (value[name] === null && !namesNull(propertySchema(schema, name), schema)),
  )
}

function propertySchema(schema: Schema, name: string): unknown {
  return isObject(schema.properties) && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined
}

/**
 * Whether a schema speaks of null by itself or through what it is made of. One that allows anything
 * does not. Each of its parts is looked at once.
 */
function namesNull(schema: unknown, root: Schema): boolean {
  const parts = new Set<unknown>([schema])
  // A set also goes over what is added meanwhile.
  for (const part of parts) {
    if (!isObject(part)) continue
    const { type, nullable, const: constant, enum: values, $ref, anyOf, oneOf, allOf } = part
    if (type === 'null' || nullable === true || constant === null) return true
    if (
      [type, values].some(
        (allowed) => Array.isArray(allowed) && (allowed.includes('null') || allowed.includes(null)),
      )
    )
      return true
    if (typeof $ref === 'string') parts.add(pointedTo($ref, root))
    for (const choice of [anyOf, oneOf, allOf].flatMap((listed) =>
      Array.isArray(listed) ? listed : [],
    ))
      parts.add(choice)
  }
  return false
}
