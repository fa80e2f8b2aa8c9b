import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { scalarsIn } from '../../../../shared/lib/json/places.ts'

const scalarsOf = (text: string) =>
  [...scalarsIn(text)].map(({ from, to, path }) => [text.slice(from, to), path()])
const found = (text: string) => {
  const all: [string, (string | number)[]][] = []
  for (const { from, to, path } of scalarsIn(text)) all.push([text.slice(from, to), [...path()]])
  return all
}

describe('the scalars of a JSON text', () => {
  it('come in their order with their places, and names are none', () => {
    expect(found('{"a" : 1, "b\\"":["x", {"c":-2.5e+3}, true, [null,"]"]],"":"" }')).toEqual([
      ['1', ['a']],
      ['"x"', ['b"', 0]],
      ['-2.5e+3', ['b"', 1, 'c']],
      ['"]"', ['b"', 3, 1]],
      ['""', ['']],
    ])
    expect(scalarsOf('5')).toEqual([['5', []]])
  })

  it('are those of JSON.parse, in any object', () => {
    const expected = (value: unknown, path: (string | number)[]): unknown[] => {
      if (typeof value === 'string' || typeof value === 'number') return [[value, path]]
      if (typeof value !== 'object' || value === null) return []
      return Object.entries(value).flatMap(([name, member]) =>
        expected(member, [...path, Array.isArray(value) ? Number(name) : name]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
        const text = JSON.stringify(value, null, space)
        expect(found(text).map(([scalar, path]) => [JSON.parse(scalar), path])).toEqual(
          expected(JSON.parse(text), []),
        )
      }),
    )
  })
})
