// Tools whose calls a guard or an approval rule judges, and whose schemas accept fields that they do
// not declare. A judge that looks for one field passes a call that has it under another name.
//
// A guard may look at any field, so every object of the schema counts. A rule looks
// at its paths, so the objects on them count. A schema that names additionalProperties decides.

import type { Agents } from '../../../shared/agents/agents.ts'
import {
  declaredNames,
  everyBelow,
  everySchemaOf,
  type Schema,
} from '../../../shared/contract/arguments/schema-place.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { ruledFields } from '../../../shared/runtime/guards/ruled-fields.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import { type Check, warning } from './check.ts'

type Judge = Pick<GuardInForce, 'name' | 'tools' | 'rules'>

/** One check for each such tool. */
export function openSchemas(agents: Agents, guards: readonly Judge[]): Check[] {
  return [...agents.values()].flatMap(({ name, tools }) =>
    tools.flatMap(({ declaration }) => {
      const judges = guards.filter((guard) => modeFor(guard, declaration.name) !== undefined)
      const schema: unknown = JSON.parse(declaration.schema)
      const open = isObject(schema) ? openFor(declaration.name, schema, judges) : []
      return open.length === 0 ? [] : [openCheck(`${name}/${declaration.name}`, judges, open)]
    }),
  )
}

function openCheck(tool: string, judges: readonly Judge[], open: string[]): Check {
  const places = open.map((place) => (place === '' ? 'at the top' : `in ${place}`))
  return warning(
    'schema',
    `${tool} accepts fields that its schema does not declare, ${listedShort(places)}, and ${judges.map(({ name }) => name).join(', ')} may not see them`,
    'write additionalProperties: false there',
  )
}

const placesShown = 3

function listedShort(places: string[]): string {
  const more = places.length - placesShown
  return [...places.slice(0, placesShown), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** The open objects that these judges look at, as JSON pointers. */
function openFor(tool: string, schema: Schema, judges: readonly Judge[]): string[] {
  const isGuarded = judges.some(({ rules }) => rules === null)
  const ruled = judges.flatMap(({ rules }) => (rules === null ? [] : ruledFields(rules, tool)))
  return isGuarded || ruled.length > 0 ? openObjects(schema, isGuarded ? undefined : ruled) : []
}

/** `ruled`: the schemas of rules at this place. Undefined: every place counts. */
type Place = { schemas: unknown[]; ruled: readonly Schema[] | undefined; path: readonly string[] }

/** Bound on the places read. Each has schemas that no place before it has. */
const placesMax = 1024

/** Breadth first, so a schema that refers to itself is named at its shortest path. */
function openObjects(root: Schema, ruled: Place['ruled']): string[] {
  const open: string[] = []
  const seen = new Set<string>()
  const numbers = new Map<Schema, number>()
  const places: Place[] = [{ schemas: [root], ruled, path: [] }]
  // Iterating over an array includes the items added meanwhile.
  for (const place of places) {
    const here = everySchemaOf(place.schemas, root)
    const key = JSON.stringify([here, place.ruled ?? []].map((all) => numbersOf(all, numbers)))
    if (seen.has(key) || seen.size >= placesMax) continue
    seen.add(key)
    const names = declaredNames(here)
    if (!here.some(decidesOthers) && (names.length > 0 || place.path.length === 0))
      open.push(place.path.map((step) => `/${step}`).join(''))
    for (const name of ['', ...names]) places.push(...placesBelow(place, here, name))
  }
  return open
}

/** The order of the schemas at a place changes nothing. */
function numbersOf(schemas: readonly Schema[], numbers: Map<Schema, number>): number[] {
  const found = schemas.map((schema) => {
    const number = numbers.get(schema) ?? numbers.size
    numbers.set(schema, number)
    return number
  })
  return [...new Set(found)].sort((one, other) => one - other)
}

/** `name`: empty for the items of a list. */
function placesBelow({ ruled, path }: Place, here: readonly Schema[], name: string): Place[] {
  const schemas = here.flatMap((schema) =>
    name === '' ? [schema.items] : everyBelow(schema, name),
  )
  const rules = ruled?.flatMap((rule) => ruleBelow(rule, name))
  const counts = schemas.some(isObject) && rules?.length !== 0
  return counts ? [{ schemas, ruled: rules, path: [...path, name === '' ? '*' : name] }] : []
}

/** References of a rule's schema are not followed: rules are short. */
function ruleBelow(rule: Schema, name: string): Schema[] {
  return everySchemaOf([rule], rule)
    .flatMap((schema) => (name === '' ? [schema.items] : everyBelow(schema, name)))
    .filter(isObject)
}

function decidesOthers(schema: Schema): boolean {
  return 'additionalProperties' in schema || 'unevaluatedProperties' in schema
}
