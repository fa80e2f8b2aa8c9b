// Finds names that some readers of the arguments take for a declared field, and others do not. For
// Go, {"ENV": …} sets the field env, while the schema, guards and approval rules see no env.
//
// A name that is not declared must not merge with a declared one. This
// also holds where the schema allows other names: one more round costs less than a bypass.
// A map declares no names, so its names are free. Names that an approval rule looks
// at count as declared.

import { mergedForm } from '../../shared/contract/arguments/members.ts'
import {
  declaredNames,
  everyBelow,
  everySchemaOf,
  type Schema,
} from '../../shared/contract/arguments/schema-place.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'

export type NameVariant = { name: string; declared: string }

/** The first such name at any level. `schemas`: the tool's, and those of approval rules. */
export function nameVariant(value: unknown, schemas: readonly Schema[]): NameVariant | undefined {
  return variantIn(value, rootPlace(schemas))
}

/** A schema with the document that its references point into. */
type Rooted = { schema: Schema; root: Schema }

/**
 * The declarations of the schemas at one place. `forms`: the declared names by merged form. `below` has at
 * most one place for each declared name and listed item, and one for all others.
 */
type Place = {
  graph: Graph
  here: Rooted[]
  names: Set<string>
  forms: Map<string, string>
  below: Map<string | number, Place>
}

/**
 * The places of a set of documents. Places with the same schemas are one, so a recursive schema has
 * as many as it has distinct ones, however deep the arguments are.
 */
type Graph = { numbers: Map<Schema, number>; places: Map<string, Place> }

/** Bound on the places of a graph. Further ones are made anew for each call. */
const placesMax = 2048
/** Bound on the schemas of a place: more than any choice of a written schema has. */
const schemasMax = 1024

function variantIn(value: unknown, place: Place): NameVariant | undefined {
  if (typeof value !== 'object' || value === null || place.here.length === 0) return undefined
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = isNested(item) ? variantIn(item, placeBelow(place, index)) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const [name, member] of Object.entries(value)) {
    const declared = place.names.has(name) ? undefined : place.forms.get(mergedForm(name))
    if (declared !== undefined) return { name, declared }
    const found = isNested(member) ? variantIn(member, placeBelow(place, name)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** A cache of a pure function, by the schema that the cache of compiled schemas keeps. */
const roots = new WeakMap<Schema, Place>()

function rootPlace(schemas: readonly Schema[]): Place {
  const [only] = schemas
  const known = schemas.length === 1 && only !== undefined ? roots.get(only) : undefined
  if (known !== undefined) return known
  const graph: Graph = { numbers: new Map(), places: new Map() }
  const place = placeOf(
    graph,
    schemas.map((schema) => ({ schema, root: schema })),
  )
  if (schemas.length === 1 && only !== undefined) roots.set(only, place)
  return place
}

function placeOf(graph: Graph, schemas: readonly Rooted[]): Place {
  const documents = new Set(schemas.map(({ root }) => root))
  const here = [...documents].flatMap((root) => {
    const ofRoot = schemas.flatMap((one) => (one.root === root ? [one.schema] : []))
    return everySchemaOf(ofRoot, root, schemasMax).map((schema) => ({ schema, root }))
  })
  const key = here.flatMap(({ schema, root }) => [root, schema].map(numberIn(graph))).join()
  const known = graph.places.get(key)
  if (known !== undefined) return known
  const names = new Set(declaredNames(here.map(({ schema }) => schema)))
  const forms = new Map([...names].map((name) => [mergedForm(name), name]))
  const place = { graph, here, names, forms, below: new Map() }
  if (graph.places.size < placesMax) graph.places.set(key, place)
  return place
}

function numberIn({ numbers }: Graph): (schema: Schema) => number {
  return (schema) => {
    const number = numbers.get(schema) ?? numbers.size
    numbers.set(schema, number)
    return number
  }
}

function placeBelow(place: Place, step: string | number): Place {
  const { graph, here, below } = place
  const key = keyOf(place, step)
  const known = below.get(key)
  if (known !== undefined) return known
  const schemas = here.flatMap(({ schema, root }) =>
    everyBelow(schema, step).flatMap((part) => (isObject(part) ? [{ schema: part, root }] : [])),
  )
  const found = placeOf(graph, schemas)
  if (graph.places.size < placesMax) below.set(key, found)
  return found
}

/** All names that are not declared share a place, and all items that are not listed. */
function keyOf({ here, names }: Place, step: string | number): string | number {
  if (typeof step === 'string') return names.has(step) ? `.${step}` : ''
  const isListed = here.some(({ schema: { items, prefixItems } }) =>
    [items, prefixItems].some((listed) => Array.isArray(listed) && step < listed.length),
  )
  return isListed ? step : -1
}
