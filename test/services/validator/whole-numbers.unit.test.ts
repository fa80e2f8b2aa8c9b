// Whole numbers in the form of fractions, where a tool wants an integer.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { withWholeNumbers } from '../../../services/validator/whole-numbers.ts'
import { callOf, checked, proposed, tool } from './round.ts'

const integer = { type: 'integer' }
const schema = {
  type: 'object',
  $defs: { count: { anyOf: [{ type: ['integer', 'null'] }, { const: 'all' }] } },
  properties: {
    n: integer,
    share: { type: 'number' },
    either: { type: ['integer', 'number'] },
    list: { type: 'array', items: integer },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, integer] },
    pages: { $ref: '#/$defs/count' },
    deep: { type: 'object', properties: { 'a"b': { allOf: [integer, { minimum: 0 }] } } },
    text: { type: 'string' },
  },
  additionalProperties: integer,
}

describe('a whole number that is written like a fraction', () => {
  it.each([
    ['{"n":30.0}', '{"n":30}'],
    ['{ "n" : 3e1 , "share":1.0}', '{ "n" : 30 , "share":1.0}'],
    ['{"n":1.5E+1,"either":2.0}', '{"n":15,"either":2.0}'],
    ['{"n":100e-2,"list":[0.0,120.0e-1]}', '{"n":1,"list":[0,12]}'],
    ['{"list":[1.0,2,3.00]}', '{"list":[1,2,3]}'],
    ['{"pair":["1.0",-1.0]}', '{"pair":["1.0",-1]}'],
    ['{"pages":2.0,"other":4.0}', '{"pages":2,"other":4}'],
    ['{"deep":{"a\\"b":7.0}}', '{"deep":{"a\\"b":7}}'],
  ])(
    'becomes an integer if the schema wants one, and nothing else changes: %s',
    (raw, expected) => {
      expect(withWholeNumbers(raw, schema)).toBe(expected)
    },
  )

  it.each([
    ['{"n":30}'],
    ['{"n":30.5}'],
    ['{"n":-0.0}'],
    ['{"n":1e300}'],
    ['{"n":9007199254740993.0}'],
    ['{"n":1.00000000000000000001,"share":1.0}'],
    ['{"n":1000000000000000000001e-21,"share":1.0}'],
    ['{"share":30.0,"text":"n\\":30.0"}'],
    ['{"text":"30.0, 3e1"}'],
    [`{"list":[${'1.0,'.repeat(1_000)}1.0]}`],
  ])('stays if the schema wants no integer, or if its value could change: %s', (raw) => {
    expect(withWholeNumbers(raw, schema)).toBeUndefined()
  })

  it('stays if the schema has more branches than the lookup follows', () => {
    const branches = Array.from({ length: 100_000 }, () => ({ ...integer }))
    expect(
      withWholeNumbers('{"n":1.0}', { properties: { n: { anyOf: branches } } }),
    ).toBeUndefined()
    expect(
      withWholeNumbers('{"n":1.0}', { properties: { n: { anyOf: branches.slice(0, 60) } } }),
    ).toBe('{"n":1}')
  })

  it('never changes the meaning of the arguments', () => {
    const value = fc.dictionary(
      fc.constantFrom('n', 'list', 'share', 'x'),
      fc.jsonValue({ maxDepth: 3 }),
    )
    fc.assert(
      fc.property(value, (object) => {
        const raw = JSON.stringify(object).replace(/(?<=[:,[])\d+(?=[,\]}])/g, '$&.0')
        const written = withWholeNumbers(raw, schema)
        if (written !== undefined) expect(JSON.parse(written)).toEqual(JSON.parse(raw))
      }),
    )
  })

  it('becomes an integer with a repair in the record', () => {
    const round = proposed([callOf('{"n":30.0}', { name: 'set' })], [tool('set', schema)])
    const [call] = checked(round).response.calls
    expect(call).toMatchObject({
      raw: '{"n":30}',
      repair: { sent: '{"n":30.0}', how: ['whole-number'] },
    })
  })

  it('does not let a fraction pass', () => {
    const round = proposed([callOf('{"n":30.5}', { name: 'set' })], [tool('set', schema)])
    expect(checked(round)).toMatchObject({
      denials: [{ code: 'schema' }],
      response: { calls: [{ raw: '{"n":30.5}', repair: null }] },
    })
  })
})
