// Finds the required fields that a call lacks. Models write null for unknown values, so a null for
// a required field counts as missing (I1). It is allowed if the field's schema names null: strict
// function calling declares optional fields as required with the type "string or null".

import { isObject } from '../../lib/json/json-object.ts'
import { pointedTo } from './schema-reference.ts'

type Schema = Record<string, unknown>

/** The top level's `required`, each name once. */
export function requiredFields(schema: Schema): string[] {
  return Array.isArray(schema.required)
    ? [...new Set(schema.required.filter((name) => typeof name === 'string'))]
    : []
}

/**
 * The required fields that are absent from these arguments, or null where the schema does not allow
 * null.
 */
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
 * Whether a schema names null, itself or through its parts. A schema that allows any value does not
 * name it. Each part is visited once.
 */
function namesNull(schema: unknown, root: Schema): boolean {
  const parts = new Set<unknown>([schema])
  // Iterating a set includes items added meanwhile.
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
