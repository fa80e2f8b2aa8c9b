// The parts of a message that forbid calls. A format without such a part writes no message that has one:
// a reader of the rest would let calls run.
// A rule of an agent that forbids calls is in the list from the format that has it on.

import type { NamedSchema, Schema } from '../../schemas/lock-entry.ts'
import { isObject } from '../lib/json/json-object.ts'
import { branchesOf, namesIn, resolved } from './newer-parts.ts'

/** `rule`: its name in an agent file. `path`: of a message. */
type BindingPart = { rule: string; path: readonly string[] }

const bindingParts: readonly BindingPart[] = [
  { rule: 'once', path: ['declarations', 'hints', 'once'] },
  { rule: 'once', path: ['once'] },
  { rule: 'tree', path: ['policy', 'tree'] },
  { rule: 'tree', path: ['settings', 'policy', 'tree'] },
]

/** The rule of a message that this schema would drop. Undefined: it drops none. */
export function droppedRule(message: object, schema: Schema): string | undefined {
  const names = namesIn(schema)
  return bindingParts.find(({ path }) => hasValue(message, path) && !hasField(schema, path, names))
    ?.rule
}

function hasValue(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => hasValue(item, [step as string, ...rest]))
  const member = isObject(value) ? value[step as string] : undefined
  if (member === null || member === undefined) return false
  return rest.length === 0 || hasValue(member, rest)
}

function hasField(
  schema: Schema,
  [step, ...rest]: readonly string[],
  names: Map<string, NamedSchema>,
): boolean {
  let type = resolved(branchesOf(schema).types[0] as Schema, names)
  if (typeof type === 'object' && 'items' in type) type = resolved(type.items, names)
  if (typeof type !== 'object' || !('fields' in type)) return false
  const field = type.fields.find(({ name }) => name === step)
  return field !== undefined && (rest.length === 0 || hasField(field.type, rest, names))
}
