// Checks that a path to arguments (argument-path.ts) exists in a tool's schema. Another path would
// have no effect, without any error, and a loop would go unnoticed. An object that lists names
// counts as closed, even if the schema allows other names, because an unlisted name is likely a
// typo.

import { anyStep, stepsOf } from '../../contract/arguments/argument-path.ts'
import { pointedTo } from '../../contract/arguments/schema-reference.ts'
import { isObject } from '../../lib/json/json-object.ts'

/**
 * `at`: the part of the path that exists, '' at the top. `step`: the first step that does not
 * exist. `known`: the names that exist there, none below a scalar or a list (`isList`).
 * `malformed`: it is not a JSON pointer.
 */
export type PathFault =
  | { kind: 'unknown'; at: string; step: string; known: string[]; isList: boolean }
  | { kind: 'malformed' }

type Below =
  | { kind: 'found'; schemas: unknown[] }
  | { kind: 'any' }
  | { kind: 'nothing'; known: string[]; isList: boolean }

/** Undefined: the path exists, or the schema leaves that open. */
export function pathFault(path: string, schema: Record<string, unknown>): PathFault | undefined {
  if (path.startsWith('/') && /~(?![01])/.test(path)) return { kind: 'malformed' }
  let places: unknown[] = [schema]
  const behind: string[] = []
  for (const step of stepsOf(path)) {
    const all = places.map((place) => below(place, step, schema))
    if (all.some(({ kind }) => kind === 'any')) return undefined
    places = all.flatMap((one) => (one.kind === 'found' ? one.schemas : []))
    if (places.length === 0) {
      const known = all.flatMap((one) => (one.kind === 'nothing' ? one.known : []))
      const isList = all.some((one) => one.kind === 'nothing' && one.isList)
      return { kind: 'unknown', at: behind.map((name) => `/${name}`).join(''), step, known, isList }
    }
    behind.push(step)
  }
  return undefined
}

/** The schemas for a name of an object, or for an item of a list. */
function below(place: unknown, step: string, root: Record<string, unknown>): Below {
  if (!isObject(place) || isOpen(place) || isReferenceAndMore(place)) return { kind: 'any' }
  const schema = typeof place.$ref === 'string' ? pointedTo(place.$ref, root) : place
  if (!isObject(schema) || '$ref' in schema || isOpen(schema)) return { kind: 'any' }
  if (isList(schema)) {
    if (step !== anyStep && !/^\d+$/.test(step)) return { kind: 'nothing', known: [], isList: true }
    return isObject(schema.items) && schema.prefixItems === undefined
      ? { kind: 'found', schemas: [schema.items] }
      : { kind: 'any' }
  }
  const { type, properties, additionalProperties: others = false } = schema
  if (!isObject(properties))
    return isScalar(type) ? { kind: 'nothing', known: [], isList: false } : { kind: 'any' }
  if (step === anyStep)
    return others === false
      ? { kind: 'found', schemas: Object.values(properties) }
      : { kind: 'any' }
  if (Object.hasOwn(properties, step)) return { kind: 'found', schemas: [properties[step]] }
  return others === false
    ? { kind: 'nothing', known: Object.keys(properties), isList: false }
    : { kind: 'any' }
}

/** Other parts of the schema may describe its members too. */
function isOpen(schema: Record<string, unknown>): boolean {
  if (elsewhere.some((keyword) => keyword in schema)) return true
  return [schema.unevaluatedProperties, schema.unevaluatedItems].some(
    (rest) => rest !== undefined && rest !== false,
  )
}

const elsewhere =
  'allOf anyOf oneOf if dependentSchemas dependencies patternProperties $dynamicRef'.split(' ')

/** Keywords next to a reference count as well as its target. */
function isReferenceAndMore(schema: Record<string, unknown>): boolean {
  return (
    '$ref' in schema &&
    ['properties', 'additionalProperties', 'items', 'prefixItems'].some(
      (keyword) => keyword in schema,
    )
  )
}

function isList({ type, items, properties }: Record<string, unknown>): boolean {
  return type === 'array' || (type === undefined && items !== undefined && properties === undefined)
}

function isScalar(type: unknown): boolean {
  return typeof type === 'string' && type !== 'object'
}
