// Whether a value has a part that an older schema lacks: a field with another value than its default, or a
// new symbol. Without one, the older schema writes the value whole.

import { isDeepStrictEqual } from 'node:util'
import type { NamedSchema, RecordSchema, Schema } from '../../schemas/lock-entry.ts'

type HasNewer = (value: unknown) => boolean
/** `older`, `newer`: the named types of each schema. `known`: the records that are compared already. */
type Names = { older: Map<string, NamedSchema>; newer: Map<string, NamedSchema> } & {
  known: Map<string, HasNewer | undefined>
}

/** Undefined: the older schema has all parts of the newer one. */
export function newerParts(older: Schema, newer: Schema): HasNewer | undefined {
  return compared(older, newer, { older: namesIn(older), newer: namesIn(newer), known: new Map() })
}

function compared(from: Schema, to: Schema, names: Names): HasNewer | undefined {
  const older = resolved(from, names.older)
  const newer = resolved(to, names.newer)
  if (Array.isArray(older) || Array.isArray(newer)) return comparedUnions(older, newer, names)
  if (typeof older === 'string' || typeof newer === 'string')
    return older === newer ? undefined : always
  if (older.type === 'record' && newer.type === 'record')
    return comparedRecords(older, newer, names)
  if (older.type === 'array' && newer.type === 'array') {
    const item = compared(older.items, newer.items, names)
    return item && ((value) => (value as unknown[]).some(item))
  }
  if (older.type === 'map' && newer.type === 'map') {
    const member = compared(older.values, newer.values, names)
    return member && ((value) => Object.values(value as object).some(member))
  }
  if (older.type === 'enum' && newer.type === 'enum') {
    const symbols = new Set(older.symbols)
    return newer.symbols.every((symbol) => symbols.has(symbol))
      ? undefined
      : (value) => !symbols.has(value as string)
  }
  return isDeepStrictEqual(older, newer) ? undefined : always
}

/** Of null and one other type, as all unions of messages are. */
function comparedUnions(from: Schema, to: Schema, names: Names): HasNewer | undefined {
  const [older, newer] = [branchesOf(from), branchesOf(to)]
  if (older.types.length !== 1 || newer.types.length !== 1)
    return isDeepStrictEqual(from, to) ? undefined : always
  const inner = compared(older.types[0] as Schema, newer.types[0] as Schema, names)
  const losesNull = newer.hasNull && !older.hasNull
  if (inner === undefined && !losesNull) return undefined
  return (value) => (value === null || value === undefined ? losesNull : inner?.(value) === true)
}

/** `types`: those besides null. */
export function branchesOf(schema: Schema): { types: Schema[]; hasNull: boolean } {
  const branches = Array.isArray(schema) ? schema : [schema]
  return {
    types: branches.filter((branch) => branch !== 'null'),
    hasNull: branches.includes('null'),
  }
}

function comparedRecords(
  older: RecordSchema,
  newer: RecordSchema,
  names: Names,
): HasNewer | undefined {
  if (names.known.has(newer.name)) return names.known.get(newer.name)
  names.known.set(newer.name, undefined)
  const parts = newer.fields.flatMap(({ name, type, default: given }): HasNewer[] => {
    const field = older.fields.find((one) => one.name === name)
    const inner =
      field === undefined
        ? (value: unknown) => value !== undefined && !isDeepStrictEqual(value, given)
        : compared(field.type, type, names)
    return inner === undefined ? [] : [(value) => inner((value as Record<string, unknown>)[name])]
  })
  const isGone = ({ name, default: given }: { name: string; default?: unknown }) =>
    given === undefined && !newer.fields.some((field) => field.name === name)
  if (older.fields.some(isGone)) parts.push(always)
  const hasNewer =
    parts.length === 0 ? undefined : (value: unknown) => parts.some((has) => has(value))
  names.known.set(newer.name, hasNewer)
  return hasNewer
}

function always(): boolean {
  return true
}

/** A type that the schema names, as the type itself. */
export function resolved(schema: Schema, names: Map<string, NamedSchema>): Schema {
  return typeof schema === 'string' ? (names.get(schema) ?? schema) : schema
}

/** The named types that a schema spells out. */
export function namesIn(
  schema: Schema,
  names = new Map<string, NamedSchema>(),
): Map<string, NamedSchema> {
  if (typeof schema === 'string') return names
  if (Array.isArray(schema)) for (const branch of schema) namesIn(branch, names)
  else if (schema.type === 'array') namesIn(schema.items, names)
  else if (schema.type === 'map') namesIn(schema.values, names)
  else {
    names.set(schema.name, schema)
    if (schema.type === 'record') for (const { type } of schema.fields) namesIn(type, names)
  }
  return names
}
