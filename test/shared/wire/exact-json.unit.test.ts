import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { exactValues, type Path } from '../../../shared/wire/exact-json.ts'

describe('a value of a JSON text', () => {
  it.each<[string, string, Path, string]>([
    [
      'a number that a double would change',
      '{"id":12345678901234567890}',
      ['id'],
      '12345678901234567890',
    ],
    ['a member that comes twice', '{"input": {"a":1,"a":2} }', ['input'], '{"a":1,"a":2}'],
    [
      'blanks and escapes',
      '{"a":\n[ "\\u0041\\"]" , { "b" : "}" } ]}',
      ['a'],
      '[ "\\u0041\\"]" , { "b" : "}" } ]',
    ],
    ['the last of two with its name', '{"a":{"b":1},"a":{"b":2}}', ['a', 'b'], '2'],
    ['an escaped name', '{"\\u0061":[0,null]}', ['a', 1], 'null'],
    [
      'a name that every object has',
      '{"__proto__":{"constructor":1}}',
      ['__proto__', 'constructor'],
      '1',
    ],
    ['the whole of it', ' [1] ', [], '[1] '],
    [
      'more brackets than a stack holds',
      `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      ['a'],
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    ],
  ])('is as it was written: %s', (_, text, path, value) => {
    expect(exactValues(text)(path)).toBe(value)
  })

  it.each<[string, Path]>([
    ['{"a":1}', ['b']],
    ['{"a":1}', ['a', 'b']],
    ['{"a":1}', ['toString']],
    ['[1]', [1]],
    ['[1]', ['length']],
    ['"a"', [0]],
    ['{}', ['a']],
    ['[]', [0]],
  ])('is not there: %s at %j', (text, path) => {
    expect(exactValues(text)(path)).toBeUndefined()
  })

  it('equals the value of JSON.parse, at every path and in any layout', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.constantFrom('', '  ', '\t\r\n'),
        (value, blanks) => {
          const text = JSON.stringify(value, null, blanks)
          const exact = exactValues(text)
          for (const [path, at] of valuesIn(JSON.parse(text)))
            expect(JSON.parse(exact(path) ?? 'none')).toEqual(at)
        },
      ),
      { numRuns: 200 },
    )
  })
})

function valuesIn(value: unknown, path: Path = []): [Path, unknown][] {
  const inside: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : []
  return [[path, value], ...inside.flatMap(([step, one]) => valuesIn(one, [...path, step]))]
}
