// The JSON shapes of a call (I2), in their priority: name with arguments, the same inside function,
// and last the flat form: the tool's name among its arguments.
//
// An empty or blank name is no call. With a name and a tool the name wins.
// Reserved names never become arguments, and a tool with such an argument does not
// run without it.
// An unknown member next to name and arguments makes a call unreadable: it is data,
// or a mistake.
// A tool's declaration also names a tool, with the schema of its parameters. It is
// no call.

import { listed, quoted } from '../../../../shared/contract/arguments/name-text.ts'
import { entriesOf } from '../../../../shared/lib/json/spans.ts'
import type { Reading, WrittenArguments, WrittenCall } from '../dialect.ts'
import type { Repair } from '../readers/written-json.ts'
import { argumentsIn, stringOf } from './json-arguments.ts'

/** One value: calls, an object that is built like a call, or neither. */
type Shape =
  | { kind: 'call'; calls: WrittenCall[] }
  | { kind: 'broken'; names: string[]; why: string }
  | undefined

/**
 * The keys of the name, of which the first that is there wins, of the arguments and of other members.
 * `isAmbiguous`: a tool's declaration may have the same keys.
 */
type NamedShape = {
  names: string[]
  args: string
  besides: string[]
  within?: string
  isAmbiguous?: true
}

/** Shapes that only one family's frame has, next to those of plain JSON. Outside it they are data. */
export type OwnShape = 'tool name' | 'name as key'

const toolNameShape = { names: ['tool_name'], args: 'parameters', besides: ['tool_call_id'] }
const besides = ['id', 'tool_call_id', 'type']
const shapes: NamedShape[] = [
  { names: ['name', 'tool'], args: 'arguments', besides },
  { names: ['name', 'tool'], args: 'parameters', besides, isAmbiguous: true },
  { names: ['name'], args: 'arguments', besides: [...besides, 'index'], within: 'function' },
]

/**
 * The reading of all these values together. Undefined: none of them is built like a call. `values`:
 * strict JSON texts.
 */
export function readingOf(
  values: string[],
  { repairs, marked, shape: own }: { repairs: Set<Repair>; marked: boolean; shape?: OwnShape },
): Reading | undefined {
  const shapeOf = (members?: Members) => members && objectShape(members, repairs, own)
  const shape = together(
    values.map((json) => {
      const members = membersOf(json)
      const items = members === undefined ? itemsOf(json) : messageCalls(members)
      return items === undefined
        ? shapeOf(members)
        : together(items.map((item) => shapeOf(membersOf(item))))
    }),
  )
  if (shape === undefined) return undefined
  return shape.kind === 'call'
    ? { kind: 'calls', calls: shape.calls, repairs, marked }
    : { ...shape, marked }
}

/** All or nothing: one non-call among calls makes all of them unreadable. */
function together(all: Shape[]): Shape {
  const known = all.filter((shape) => shape !== undefined)
  if (known.length === 0) return undefined
  const calls = known.flatMap((shape) => (shape.kind === 'call' ? shape.calls : []))
  const broken = known.find((shape) => shape.kind === 'broken')
  if (broken === undefined && known.length === all.length) return { kind: 'call', calls }
  const names = known.flatMap((shape) =>
    shape.kind === 'broken' ? shape.names : shape.calls.flatMap((call) => call.names),
  )
  return { kind: 'broken', names, why: broken?.why ?? 'one of the entries is no call' }
}

/** `isTwice`: a name occurs twice. */
type Members = { list: [string, string][]; of: Map<string, string>; isTwice: boolean }

/** The members of an object as strict JSON texts. Undefined: it is no object. */
function membersOf(json: string | undefined): Members | undefined {
  if (!json?.startsWith('{')) return undefined
  const list = entriesOf(json, 0).map(([name, { from, to }]): [string, string] => [
    String(name),
    json.slice(from, to),
  ])
  const of = new Map(list)
  return { list, of, isTwice: of.size < list.length }
}

function itemsOf(json: string | undefined): string[] | undefined {
  return json?.startsWith('[')
    ? entriesOf(json, 0).map(([, { from, to }]) => json.slice(from, to))
    : undefined
}

/**
 * The entries of `{"tool_calls": [...]}`, a written-out message of the Chat Completions API.
 * Undefined: it is not such a message.
 */
function messageCalls(members: Members): string[] | undefined {
  return strangeTo(members, ['tool_calls', 'role', 'content']).length > 0
    ? undefined
    : itemsOf(members.of.get('tool_calls'))
}

function objectShape(members: Members, repairs: Set<Repair>, own?: OwnShape): Shape {
  const id = stringOf(members.of.get('id')) ?? stringOf(members.of.get('tool_call_id')) ?? ''
  const [[key, value] = ['', ''], ...more] = members.list
  if (own === 'name as key' && more.length === 0 && key.trim() !== '')
    return callOf([key], '', argumentsIn(value, repairs))

  const named: NamedShape[] = own === 'tool name' ? [toolNameShape, ...shapes] : shapes
  for (const shape of named) {
    const { within, besides } = shape
    const inner = within === undefined ? members : membersOf(members.of.get(within))
    const args = inner?.of.get(shape.args)
    const names = inner === undefined ? [] : namesIn(inner, shape.names)
    if (inner === undefined || args === undefined || names.length === 0) continue
    if (shape.isAmbiguous && !isLlamaCall(members)) continue
    if (members.isTwice || inner.isTwice) return broken(names, repeated)
    const keys = [...shape.names, shape.args]
    const strange = strangeTo(members, [...(within === undefined ? keys : [within]), ...besides])
    if (within !== undefined) strange.push(...strangeTo(inner, keys))
    const verb = strange.length === 1 ? 'has' : 'have'
    return strange.length > 0
      ? broken(names, `${listed(strange.map(quoted), 'and')} ${verb} no place in a call`)
      : callOf(names, id, argumentsIn(args, repairs))
  }
  return unnamedArguments(members, id)
}

/** The flat form, or a name alone. */
function unnamedArguments(members: Members, id: string): Shape {
  const names = namesIn(members, ['name', 'tool'])
  if (names.length > 0 && namesIn(members, ['tool']).length > 0) {
    if (members.isTwice) return broken(names, repeated)
    const flat = members.list.filter(([name]) => !reserved.includes(name))
    const json = `{${flat.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
    const left = notArguments.filter((name) => members.of.has(name))
    return callOf(names, id, { kind: 'json', json }, left)
  }
  // Only calls have an id.
  return strangeTo(members, ['name', ...besides]).length > 0
    ? undefined
    : callOf(names, id, { kind: 'none', isOnlyNamed: id === '' })
}

const notArguments = ['function', 'arguments', 'type']
const reserved = ['tool', 'name', 'id', 'tool_call_id', ...notArguments]
const repeated = 'one of its fields is given twice'

function broken(names: string[], why: string): Shape {
  return { kind: 'broken', names, why }
}

function callOf(
  [name, ...others]: string[],
  id: string,
  args: WrittenArguments | undefined,
  left: string[] = [],
): Shape {
  if (name === undefined) return undefined
  if (args === undefined) return broken([name, ...others], "its 'arguments' are no JSON object")
  return { kind: 'call', calls: [{ names: [name, ...others], id, arguments: args, left }] }
}

function namesIn({ of }: Members, keys: string[]): string[] {
  return keys.flatMap((key) => stringOf(of.get(key)) ?? []).filter((name) => name.trim() !== '')
}

/** Llama's word for arguments is the usual word for their schema. */
function isLlamaCall({ of }: Members): boolean {
  const read = argumentsIn(of.get('parameters') ?? '[]', new Set())
  if (read === undefined || of.has('description')) return false
  const parameters = (read.kind === 'json' && membersOf(read.json)?.list) || []
  return !parameters.some(
    ([name, json]) => name === '$schema' || (name === 'properties' && json.startsWith('{')),
  )
}

function strangeTo({ of }: Members, own: string[]): string[] {
  return [...of.keys()].filter((name) => !own.includes(name))
}
