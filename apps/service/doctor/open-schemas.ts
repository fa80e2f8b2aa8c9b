// Tools whose calls a guard or an approval rule judges, and whose schemas accept fields that they do
// not declare. A judge that looks for one field passes a call that has it under another name.
//
// OPEN-SCHEMAS-1. A guard may look at any field, so every object of the schema counts. A rule looks
//     at its paths, so the objects on them count. A schema that names additionalProperties decides.

import type { Agents } from '../../../shared/agents/agents.ts'
import {
  declaredNames,
  everyBelow,
  everySchemaOf,
  type Schema,
} from '../../../shared/contract/arguments/schema-place.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import { ruledFields } from '../../../shared/runtime/guards/ruled-fields.ts'
import { modeFor } from '../../../shared/runtime/guards/tool-pattern.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { type Check, odd } from './check.ts'

/** None if the log cannot be read: the check of guards reports that. */
export async function openSchemaChecks(agents: Agents, settings: Settings): Promise<Check[]> {
  try {
    return openSchemas(agents, await withLog(settings, registeredGuards))
  } catch {
    return []
  }
}

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
  return odd(
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
  return isGuarded || ruled.length > 0
    ? openObjects([schema], schema, isGuarded ? undefined : ruled)
    : []
}

const depthMax = 8

/** `ruled`: the schemas of rules at this place. Undefined: every place counts. */
function openObjects(
  schemas: unknown[],
  root: Schema,
  ruled: readonly Schema[] | undefined,
  path: readonly string[] = [],
): string[] {
  const here = everySchemaOf(schemas, root)
  const names = declaredNames(here)
  const isOpen = !here.some(decidesOthers) && (names.length > 0 || path.length === 0)
  const place = path.map((step) => `/${step}`).join('')
  if (path.length >= depthMax) return isOpen ? [place] : []
  return [
    ...(isOpen ? [place] : []),
    ...['', ...names].flatMap((name) => {
      const below = here.flatMap((schema) =>
        name === '' ? [schema.items] : everyBelow(schema, name),
      )
      const rules = ruled?.flatMap((rule) => ruleBelow(rule, name))
      return below.some(isObject) && (rules === undefined || rules.length > 0)
        ? openObjects(below, root, rules, [...path, name === '' ? '*' : name])
        : []
    }),
  ]
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
