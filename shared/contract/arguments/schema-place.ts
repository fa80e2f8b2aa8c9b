// Reads a JSON Schema's rules for one place in the arguments, without judging the rest of them.
// Each answer states its doubt: a schema can hold more than these functions read.

import { isObject } from '../../lib/json/json-object.ts'
import type { Place } from '../../lib/json/places.ts'
import { pointedTo } from './schema-reference.ts'

export type Schema = Record<string, unknown>

/** Bound on the schemas read for one place. */
const schemasMax = 64

/**
 * Whether the schema names at least one type for this place, and every one is `integer`. In doubt
 * no.
 */
export function isWholeAt(path: Place, root: Schema): boolean {
  const types = typesAt(path, root)
  return types.includes('integer') && !types.includes('number')
}

/** Whether the schema names the type string for this place, and a string can be valid there. */
export function namesStringAt(path: Place, root: Schema): boolean {
  return typesAt(path, root).includes('string') && !refusesStringAt(path, root)
}

/** The types that the schema names for this place. None in doubt. */
function typesAt(path: Place, root: Schema): unknown[] {
  let here = spread([root], root, certainParts)
  for (const step of path)
    here = spread(
      here.flatMap((schema) => below(schema, step)),
      root,
      certainParts,
    )
  if (here.length > schemasMax) return []
  return here.flatMap(({ type = [] }): unknown => type)
}

/** Whether no string can be valid at this place. In doubt no. */
export function refusesStringAt(path: Place, root: Schema): boolean {
  return refusesString(root, path, { root, left: 4 * schemasMax })
}

/** `left`: the number of schemas that may still be read. */
type Search = { root: Schema; left: number }

function refusesString(schema: unknown, path: Place, search: Search): boolean {
  search.left -= 1
  if (!isObject(schema) || search.left < 0) return schema === false
  const refuses = (part: unknown) => refusesString(part, path, search)
  const every = (parts: unknown) =>
    Array.isArray(parts) && parts.length > 0 && parts.every((part) => refuses(part))
  if (typeof schema.$ref === 'string' && refuses(pointedTo(schema.$ref, search.root))) return true
  if (Array.isArray(schema.allOf) && schema.allOf.some(refuses)) return true
  if (every(schema.anyOf) || every(schema.oneOf)) return true
  const [step, ...rest] = path
  if (step !== undefined)
    return below(schema, step).some((part) => refusesString(part, rest, search))
  const { type, enum: values } = schema
  if (typeof type === 'string') return type !== 'string'
  if (Array.isArray(type)) return !type.includes('string')
  if (Array.isArray(values)) return !values.some((value) => typeof value === 'string')
  return 'const' in schema && typeof schema.const !== 'string'
}

/**
 * Whether any keyword compares the number at this place with others: a bound, a list of values, or
 * a type that only whole numbers have. In doubt yes.
 */
export function boundsNumberAt(
  path: Place,
  root: Schema,
  { isWhole }: { isWhole: boolean },
): boolean {
  const { here, isCompared } = descend(path, root)
  return isCompared || here.some((schema) => comparesNumber(schema, isWhole))
}

/** Whether the schema has a rule for the value at this place or below it. In doubt yes. */
export function namesPlace(path: Place, root: Schema): boolean {
  const { here, isCompared } = descend(path, root)
  return isCompared || here.some((schema) => Object.keys(schema).length > 0)
}

/** The schemas of a place, and whether one above it compares whole values, or cannot be read. */
function descend(path: Place, root: Schema): { here: Schema[]; isCompared: boolean } {
  let here = everySchemaOf([root], root)
  for (const step of path) {
    if (isInDoubt(here, root)) return { here, isCompared: true }
    here = everySchemaOf(
      here.flatMap((schema) => everyBelow(schema, step)),
      root,
    )
  }
  return { here, isCompared: isInDoubt(here, root) }
}

function isInDoubt(here: Schema[], root: Schema): boolean {
  return here.length > schemasMax || here.some((schema) => comparesWhole(schema, root))
}

const wholeKeywords = ['enum', 'const', 'uniqueItems', 'not', '$dynamicRef']
const numberKeywords = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['multipleOf', 'format'],
]

/** Also a reference whose target these functions do not find: a name ($anchor) or an $id. */
function comparesWhole(schema: Schema, root: Schema): boolean {
  if (typeof schema.$ref === 'string' && pointedTo(schema.$ref, root) === undefined) return true
  return wholeKeywords.some((keyword) => keyword in schema && schema[keyword] !== false)
}

function comparesNumber(schema: Schema, isWhole: boolean): boolean {
  if (numberKeywords.some((keyword) => keyword in schema)) return true
  // A fraction is an integer only for readers of doubles.
  const types = [schema.type].flat()
  return !isWhole && types.includes('integer') && !types.includes('number')
}

/**
 * The names that the schemas mention for members of an object at this place. A schema mentions one
 * as a property, as required, as a condition, or as the only name that a pattern allows.
 */
export function declaredNames(here: readonly Schema[]): string[] {
  return [...new Set(here.flatMap(namesIn))]
}

function namesIn(schema: Schema): string[] {
  const { properties, required, patternProperties, propertyNames } = schema
  const conditions = [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]
  const allowed = isObject(propertyNames) ? propertyNames : {}
  return [
    ...[properties, ...conditions].flatMap(keysOf),
    ...[required, ...conditions.flatMap(valuesOf), allowed.enum].filter(Array.isArray).flat(),
    ...[...keysOf(patternProperties), allowed.pattern].flatMap(literalName),
    allowed.const,
  ].filter((name) => typeof name === 'string')
}

/** The name if the pattern allows only this one. */
function literalName(pattern: unknown): string[] {
  const [, name] = /^\^([\w -]+)\$$/.exec(String(pattern)) ?? []
  return name === undefined ? [] : [name]
}

function keysOf(object: unknown): string[] {
  return isObject(object) ? Object.keys(object) : []
}

/**
 * All schemas that may apply where these do: those that they refer to, consist of, choose from or
 * exclude. Each one once. `max`: not many more than these are read.
 */
export function everySchemaOf(
  schemas: readonly unknown[],
  root: Schema,
  max = schemasMax,
): Schema[] {
  return spread(schemas, root, everyPart, max)
}

function spread(
  schemas: readonly unknown[],
  root: Schema,
  partsOf: (schema: Schema) => unknown[],
  max = schemasMax,
): Schema[] {
  const found = new Set<Schema>()
  for (const schema of schemas) if (isObject(schema)) found.add(schema)
  // Iterating over a set includes the items added meanwhile.
  for (const schema of found) {
    if (found.size > max) break
    const target = typeof schema.$ref === 'string' ? pointedTo(schema.$ref, root) : undefined
    for (const part of [target, ...partsOf(schema)]) if (isObject(part)) found.add(part)
  }
  return [...found]
}

function certainParts({ allOf, anyOf, oneOf }: Schema): unknown[] {
  return [allOf, anyOf, oneOf].flat()
}

function everyPart(schema: Schema): unknown[] {
  const { if: condition, then: yes, else: no, not, dependentSchemas, dependencies } = schema
  const dependent = [dependentSchemas, dependencies].flatMap(valuesOf)
  return [...certainParts(schema), condition, yes, no, not, ...dependent]
}

/** The schemas that the value one step below must meet. */
function below(
  { properties, additionalProperties, patternProperties, items, prefixItems }: Schema,
  step: string | number,
): unknown[] {
  if (typeof step === 'number') {
    const listed = Array.isArray(items) ? items : prefixItems
    if (Array.isArray(listed) && step < listed.length) return [listed[step]]
    return Array.isArray(items) ? [] : [items]
  }
  if (isObject(properties) && Object.hasOwn(properties, step)) return [properties[step]]
  // Without matching the patterns it is open whether the other members' schema applies.
  return patternProperties === undefined ? [additionalProperties] : []
}

/** The schemas that may apply one step below. */
export function everyBelow(schema: Schema, step: string | number): unknown[] {
  if (typeof step === 'number')
    return [
      ...below(schema, step),
      schema.additionalItems,
      schema.contains,
      schema.unevaluatedItems,
    ]
  const { properties, additionalProperties, unevaluatedProperties } = schema
  const own = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined
  const others = [...valuesOf(schema.patternProperties), additionalProperties]
  return [own, ...others, unevaluatedProperties]
}

function valuesOf(object: unknown): unknown[] {
  return isObject(object) ? Object.values(object) : []
}
