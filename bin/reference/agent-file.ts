// The tables of the keys of an agent file, from its schema.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../generated-file.ts'
import { code, type Table, type Tables, withoutStop } from './table.ts'

type Property = {
  description?: string
  default?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  required?: string[]
  properties?: Record<string, Property>
  items?: Property
  $ref?: string
}

type Schema = Property & { definitions: { sandbox: Property } }

/** Keys with an own table. */
const sections = ['model', 'caps', 'tree', 'loop', 'empty', 'history', 'tools', 'hints']

export function agentFileTables(): Tables {
  const file = readFileSync(join(root, 'shared/agents/file/agent.schema.json'), 'utf8')
  const schema = JSON.parse(file) as Schema
  const { model, caps, tree, loop, empty, history, tools } = schema.properties ?? {}
  const { sandbox } = schema.definitions
  const below = (name: string, property?: Property) => keysOf(property, `${name}.`)
  return {
    'The agent': table(keysOf({ ...schema, required: [] }, '', ['$schema', ...sections])),
    'A full context': table(below('history', history)),
    [code('model')]: table(below('model', model)),
    [code('caps')]: table(below('caps', caps)),
    [code('tree')]: table(below('tree', tree)),
    '`loop` and `empty`': table([
      ...keysOf(loop, 'loop.', ['rules']),
      ...keysOf({ properties: { rules: loop?.properties?.rules ?? {} } }, 'loop.', [], 1),
      ...below('empty', empty),
    ]),
    'A tool': table(keysOf(tools?.items, '')),
    [code('sandbox')]: table(below('sandbox', sandbox)),
  }
}

type Key = { key: string; property: Property; isRequired: boolean }

/** The keys without further ones below them. `depth`: below it, keys are values of people. */
function keysOf(parent: Property = {}, prefix: string, left: string[] = [], depth = 9): Key[] {
  return Object.entries(parent.properties ?? {}).flatMap(([name, property]) => {
    if (left.includes(name)) return []
    const key = `${prefix}${name}`
    const own = { key, property, isRequired: parent.required?.includes(name) === true }
    if (name === 'schema') return [own]
    const below = depth > 1 ? keysOf(property, `${key}.`, [], depth - 1) : []
    return below.length > 0 && property.properties?.by === undefined ? below : [own, ...below]
  })
}

function table(keys: Key[]): Table {
  const rows = keys.map(({ key, property, isRequired }) => {
    const [text, byText] = (property.description ?? '').split(/ ?Default: /)
    const byDefault = property.default === undefined ? byText : code(`${property.default}`)
    const meaning = withoutStop(text ?? '')
    return [
      code(key),
      isRequired ? 'required' : withoutStop(byDefault ?? '').replaceAll(/\$\{[^}]+\}/g, code),
      [meaning, bounds(property)]
        .filter((part) => part !== '')
        .join(' ')
        .replaceAll(/\$\{[^}]+\}/g, code),
    ]
  })
  return { columns: ['key', 'default', 'meaning'], rows }
}

/** Values that the description names are not repeated. */
function bounds({ description = '', enum: values, minimum, maximum }: Property): string {
  if (values !== undefined) {
    const areNamed = values.every((value) => description.includes(`${value}`))
    return areNamed ? '' : `(${values.map((value) => code(`${value}`)).join(', ')})`
  }
  if (minimum === undefined || maximum === undefined || maximum > 10_000_000) return ''
  return `(${minimum} to ${maximum})`
}
