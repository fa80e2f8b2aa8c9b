// The work and the memory of the search for name variants are counted in schemas read.

import { describe, expect, it } from '@jest/globals'
import { nameVariant } from '../../../services/validator/name-variant.ts'

type Json = Record<string, unknown>

const readsMax = 2000

/** `reads`: how often the search read this schema. Throws if that is too often to be bounded. */
function counted(schema: Json): { schema: Json; reads: () => number } {
  let reads = 0
  const { properties } = schema
  Object.defineProperty(schema, 'properties', {
    enumerable: true,
    get() {
      reads += 1
      if (reads > readsMax) throw new Error(`the schema was read more than ${readsMax} times`)
      return properties
    },
  })
  return { schema, reads: () => reads }
}

/** Data of any form, as many tools declare it. */
function anyJson(more: Json) {
  const json = counted({
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { $ref: '#/$defs/json' } },
      { type: 'object', additionalProperties: { $ref: '#/$defs/json' } },
    ],
    additionalProperties: { $ref: '#/$defs/json' },
    ...more,
  })
  return { schema: { properties: { data: json.schema }, $defs: { json: json.schema } }, json }
}

function nested(depth: number, wrap: (inner: unknown) => unknown, end: unknown): unknown {
  let value = end
  for (let level = 0; level < depth; level += 1) value = wrap(value)
  return value
}

describe('the search for name variants', () => {
  it.each([
    ['objects', (inner: unknown) => ({ child: inner })],
    ['lists', (inner: unknown) => [inner]],
    ['objects with other names each', (inner: unknown) => ({ a: {}, b: [], c: inner })],
  ])('reads a recursive schema a bounded number of times for 100 levels of %s', (_, wrap) => {
    const { schema, json } = anyJson({})
    expect(nameVariant({ data: nested(100, wrap, 'x') }, [schema])).toBeUndefined()
    expect(json.reads()).toBeLessThan(50)
  })

  it('finds a variant below 100 levels of a recursive schema', () => {
    const { schema } = anyJson({ properties: { kind: { type: 'string' } } })
    const data = nested(100, (inner) => ({ child: inner }), { KIND: 'x' })
    expect(nameVariant({ data }, [schema])).toEqual({ name: 'KIND', declared: 'kind' })
  })

  it('keeps as many places as a tree has distinct schemas, not as many as it has paths', () => {
    const tree = counted({
      properties: { left: { $ref: '#' }, right: { $ref: '#' }, leaf: { type: 'string' } },
    })
    const pathOf = (number: number) =>
      [...number.toString(2)].reduce<unknown>(
        (inner, bit) => ({ [bit === '1' ? 'right' : 'left']: inner }),
        { leaf: 'x' },
      )
    const found = Array.from({ length: 20_000 }, (_, n) =>
      nameVariant(pathOf(n + 1), [tree.schema]),
    )
    expect(found.filter((one) => one !== undefined)).toEqual([])
    expect(tree.reads()).toBeLessThan(50)
    expect(
      nameVariant(
        nested(14, (inner) => ({ left: inner }), { LEAF: 'x' }),
        [tree.schema],
      ),
    ).toEqual({ name: 'LEAF', declared: 'leaf' })
  })

  it('reads rules and the schema of the tool together', () => {
    const tool = { properties: { region: { type: 'object' } } }
    const rule = { properties: { region: { properties: { force: { const: true } } } } }
    const found = { name: 'FORCE', declared: 'force' }
    expect(nameVariant({ region: { FORCE: true } }, [tool, rule])).toEqual(found)
    expect(nameVariant({ region: { force: true } }, [tool, rule])).toBeUndefined()
    expect(nameVariant({ FORCE: true }, [tool, rule])).toBeUndefined()
  })

  it.each<[string, Json]>([
    ['requires it', { required: ['force'] }],
    ['declares it', { properties: { force: { const: true } } }],
    ['requires others beside it', { dependentRequired: { force: ['reason'] } }],
    ['requires it beside others', { dependentRequired: { env: ['force'] } }],
    ['has a schema for calls with it', { dependentSchemas: { force: { required: ['env'] } } }],
    ['requires it, in a schema for calls with another', dependent({ required: ['force'] })],
    ['has the older form of a condition', { dependencies: { force: ['env'] } }],
    ['has it in a pattern for one name', { patternProperties: { '^force$': { const: true } } }],
    ['allows it alone', { propertyNames: { const: 'force' } }],
    ['allows it among others', { propertyNames: { enum: ['env', 'force'] } }],
    ['allows it by a pattern', { propertyNames: { pattern: '^force$' } }],
    ['excludes calls with it', { not: { required: ['force'] } }],
    ['excludes it inside a choice', { anyOf: [{ not: { properties: { force: {} } } }] }],
    ['asks for it in a condition', { if: { required: ['force'] }, else: false }],
    [
      'refers to a schema that requires it',
      { $ref: '#/$defs/a', $defs: { a: { required: ['force'] } } },
    ],
  ])('counts a name as declared if a rule %s', (_, rule) => {
    const tool = { properties: { path: { type: 'string' } } }
    const found = { name: 'FORCE', declared: 'force' }
    expect(nameVariant({ path: 'a', FORCE: true }, [tool, rule])).toEqual(found)
    expect(nameVariant({ path: 'a', force: true }, [tool, rule])).toBeUndefined()
  })

  it.each<[string, Json]>([
    ['a pattern for several names', { patternProperties: { '^f.*$': {} } }],
    ['other members', { additionalProperties: { type: 'string' } }],
    ['another name', { required: ['enforce'] }],
  ])('leaves a name free if a rule has %s', (_, rule) => {
    expect(nameVariant({ FORCE: true }, [{}, rule])).toBeUndefined()
  })
})

function dependent(schema: Json): Json {
  return { dependentSchemas: { env: schema } }
}
