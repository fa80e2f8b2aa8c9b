// The JSON shapes of a call (I2), in their priority: name with arguments, the same inside function,
// and last the flat form, which has the tool's name beside its arguments.
//
// JSON-SHAPES-1. An empty or blank name is no call. With a name and a tool the name wins.
// JSON-SHAPES-2. Reserved names never become arguments, and a tool with such an argument does not
//     run without it.
// JSON-SHAPES-3. An unknown member beside name and arguments makes a call unreadable: it is data,
//     or a mistake.
// JSON-SHAPES-4. A tool's declaration also names a tool, with the schema of its parameters. It is
//     no call.

import { listed, quoted } from '../../../shared/contract/arguments/name-text.ts'
import type { Reading, WrittenCall } from './dialect.ts'
import { argumentsIn } from './written-arguments.ts'
import { itemsOf, membersOf, type Repair, stringOf } from './written-json.ts'

/** One value: calls, an object that is built like a call, or neither. */
export type Shape =
  | { kind: 'call'; calls: WrittenCall[] }
  | { kind: 'broken'; names: string[]; why: string }
  | undefined

/** Reads one object, as strict JSON. */
export type ShapeOf = (json: string, repairs: Set<Repair>) => Shape

/**
 * The reading of all these values together. Undefined: none of them is built like a call. `values`:
 * strict JSON texts.
 */
export function readingOf(
  values: string[],
  { repairs, marked, shape: shapeOf }: { repairs: Set<Repair>; marked: boolean; shape: ShapeOf },
): Reading | undefined {
  const shapes = values.map((value) => valueShape(value, repairs, shapeOf))
  const shape = together(shapes)
  if (shape === undefined) return undefined
  return shape.kind === 'call'
    ? { kind: 'calls', calls: shape.calls, repairs, marked }
    : { ...shape, marked }
}

function valueShape(json: string, repairs: Set<Repair>, shapeOf: ShapeOf): Shape {
  const items = itemsOf(json) ?? messageCalls(json)
  return items === undefined
    ? shapeOf(json, repairs)
    : together(items.map((item) => shapeOf(item, repairs)))
}

/**
 * The entries of `{"tool_calls": [...]}`, a written-out message of the Chat Completions API.
 * Undefined: it is not such a message.
 */
function messageCalls(json: string): string[] | undefined {
  const members = new Map(membersOf(json)?.map((member) => [member.name, member.json]))
  return strangeTo(members, ['tool_calls', 'role', 'content']).length > 0
    ? undefined
    : itemsOf(members.get('tool_calls') ?? '')
}

/** All or nothing: one non-call among calls makes all of them unreadable. */
function together(shapes: Shape[]): Shape {
  const known = shapes.filter((shape) => shape !== undefined)
  if (known.length === 0) return undefined
  const calls = known.flatMap((shape) => (shape.kind === 'call' ? shape.calls : []))
  const broken = known.find((shape) => shape.kind === 'broken')
  const names = known.flatMap((shape) =>
    shape.kind === 'broken' ? shape.names : shape.calls.flatMap((call) => call.names),
  )
  if (broken !== undefined) return { kind: 'broken', names, why: broken.why }
  if (known.length < shapes.length)
    return { kind: 'broken', names, why: 'one of the entries is no call' }
  return { kind: 'call', calls }
}

type Members = Map<string, string>

const reserved = ['tool', 'name', 'function', 'arguments', 'id', 'tool_call_id', 'type']

/** The shapes of plain JSON. */
export function objectShape(json: string, repairs: Set<Repair>): Shape {
  const list = membersOf(json)
  if (list === undefined) return undefined
  const members: Members = new Map(list.map((member) => [member.name, member.json]))
  const names = ['name', 'tool'].flatMap((key) => nameIn(members, key))
  const innerList = membersOf(members.get('function') ?? '')
  const inner = innerList && new Map(innerList.map((member) => [member.name, member.json]))

  if (names[0] !== undefined && (members.has('arguments') || isLlamaCall(members))) {
    const [first, ...others] = names
    const args = members.has('arguments') ? 'arguments' : 'parameters'
    if (members.size < list.length) return repeated(names)
    const own = ['name', 'tool', args, 'id', 'tool_call_id', 'type']
    return withArguments(
      [first, ...others],
      idOf(members),
      { args: members.get(args) ?? '', strange: strangeTo(members, own) },
      repairs,
    )
  }
  const named = inner === undefined ? undefined : nameIn(inner, 'name')[0]
  if (inner?.has('arguments') && named !== undefined) {
    if (members.size < list.length || inner.size < (innerList?.length ?? 0))
      return repeated([named])
    const strange = [
      ...strangeTo(members, ['function', 'id', 'tool_call_id', 'type', 'index']),
      ...strangeTo(inner, ['name', 'arguments']),
    ]
    return withArguments(
      [named],
      idOf(members),
      { args: inner.get('arguments') ?? '', strange },
      repairs,
    )
  }
  if (nameIn(members, 'tool')[0] !== undefined && names[0] !== undefined) {
    if (members.size < list.length) return repeated(names)
    const rest = list.filter(({ name }) => !reserved.includes(name))
    const [first, ...others] = names
    const flat = `{${rest.map((member) => `${member.quoted}:${member.json}`).join(',')}}`
    const left = reserved.filter(
      (name) => !['tool', 'name', 'id', 'tool_call_id'].includes(name) && members.has(name),
    )
    return {
      kind: 'call',
      calls: [
        {
          names: [first, ...others],
          id: idOf(members),
          arguments: { kind: 'json', json: flat },
          left,
        },
      ],
    }
  }
  const isOnlyNamed = strangeTo(members, ['name', 'id', 'tool_call_id', 'type']).length === 0
  const [first, ...others] = names
  if (!isOnlyNamed || first === undefined) return undefined
  // Only calls have an id.
  const args = { kind: 'none' as const, isOnlyNamed: idOf(members) === '' }
  return {
    kind: 'call',
    calls: [{ names: [first, ...others], id: idOf(members), arguments: args }],
  }
}

type Frame = { args: string; strange: string[] }

/** A call with these arguments. `strange`: members that no call has. */
export function withArguments(
  names: [string, ...string[]],
  id: string,
  { args, strange }: Frame,
  repairs: Set<Repair>,
): Shape {
  if (strange.length > 0)
    return {
      kind: 'broken',
      names,
      why: `${listed(strange.map(quoted), 'and')} ${strange.length === 1 ? 'has' : 'have'} no place in a call`,
    }
  const read = argumentsIn(args, repairs)
  if (read === undefined)
    return { kind: 'broken', names, why: "its 'arguments' are no JSON object" }
  return { kind: 'call', calls: [{ names, id, arguments: read }] }
}

function repeated(names: string[]): Shape {
  return { kind: 'broken', names, why: 'one of its fields is given twice' }
}

function nameIn(members: Members, key: string): string[] {
  const name = stringOf(members.get(key))
  return name === undefined || name.trim() === '' ? [] : [name]
}

function idOf(members: Members): string {
  return stringOf(members.get('id')) ?? stringOf(members.get('tool_call_id')) ?? ''
}

/** Llama's word for arguments is the usual word for their schema (JSON-SHAPES-4). */
function isLlamaCall(members: Members): boolean {
  const written = members.get('parameters')
  const read = written === undefined ? undefined : argumentsIn(written, new Set())
  if (read === undefined || members.has('description')) return false
  const parameters = read.kind === 'json' ? (membersOf(read.json) ?? []) : []
  return !parameters.some(
    ({ name, json }) => name === '$schema' || (name === 'properties' && json.startsWith('{')),
  )
}

function strangeTo(members: Members, own: string[]): string[] {
  return [...members.keys()].filter((name) => !own.includes(name))
}
