import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type JsonFault, jsonFault } from '../../../../shared/lib/json/json-fault.ts'

describe('jsonFault', () => {
  it.each<[string, JsonFault | undefined]>([
    ['{"a":[1,-2.5e+3,true,false,null,"\\u00e4\\n"]}', undefined],
    [' \t\r\n1 ', undefined],
    ['', { kind: 'unfinished', at: 0 }],
    ['  ', { kind: 'unfinished', at: 2 }],
    ['{', { kind: 'unfinished', at: 1 }],
    ['{"a', { kind: 'unfinished', at: 3 }],
    ['{"a"', { kind: 'unfinished', at: 4 }],
    ['{"a":"\\', { kind: 'unfinished', at: 7 }],
    ['{"a":"\\u00', { kind: 'unfinished', at: 10 }],
    ['{"a":tr', { kind: 'unfinished', at: 7 }],
    ['{"a":-', { kind: 'unfinished', at: 6 }],
    ['{"a":1.', { kind: 'unfinished', at: 7 }],
    ['{"a":1e+', { kind: 'unfinished', at: 8 }],
    ['{"a":1', { kind: 'unfinished', at: 6 }],
    ['{"a":1,', { kind: 'unfinished', at: 7 }],
    ['{"a":1}{', { kind: 'unexpected', at: 7 }],
    ['{"a":1}</x>', { kind: 'unexpected', at: 7 }],
    ['{,', { kind: 'unexpected', at: 1 }],
    ['{"a":1,}', { kind: 'unexpected', at: 7 }],
    ['[1,]', { kind: 'unexpected', at: 3 }],
    ['[1}', { kind: 'unexpected', at: 2 }],
    ['{"a" 1}', { kind: 'unexpected', at: 5 }],
    ['{"a":"\\x"}', { kind: 'unexpected', at: 7 }],
    ['{"a":"\\u00g0"}', { kind: 'unexpected', at: 10 }],
    ['{"a":"\n"}', { kind: 'unexpected', at: 6 }],
    ['{"a":01}', { kind: 'unexpected', at: 6 }],
    ['{"a":.5}', { kind: 'unexpected', at: 5 }],
    ['{"a":trub}', { kind: 'unexpected', at: 8 }],
    ['\uFEFF1', { kind: 'unexpected', at: 0 }],
    ['\u00a01', { kind: 'unexpected', at: 0 }],
  ])('%j', (text, fault) => expect(jsonFault(text, 10)).toEqual(fault))

  it('bounds the depth of a text of any depth', () => {
    expect(jsonFault('[[[]]]', 3)).toBeUndefined()
    expect(jsonFault('[[{"a":[]}]]', 3)).toEqual({ kind: 'too-deep', at: 7 })
    expect(jsonFault('[]', 0)).toEqual({ kind: 'too-deep', at: 0 })
    expect(jsonFault('[[],[],[]]', 2)).toBeUndefined()
    expect(jsonFault('['.repeat(1_000_000), 2_000_000)).toEqual({
      kind: 'unfinished',
      at: 1_000_000,
    })
  })

  it('accepts a text exactly when JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          damagedJson,
          fc.string({ unit: 'binary' }),
          fc.string({ unit: jsonUnit }),
        ),
        (text) => {
          expect(jsonFault(text, 1_000) === undefined).toBe(parses(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('reports each beginning of a JSON text as unfinished', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.json({ stringUnit: 'binary' })), (text) => {
        for (let end = 0; end < text.length; end += 1) {
          const beginning = text.slice(0, end)
          const fault = jsonFault(beginning, 1_000)
          if (fault !== undefined && (fault.kind !== 'unfinished' || fault.at !== end))
            expect({ beginning, fault }).toBeUndefined()
        }
      }),
    )
  })
})

const jsonUnit = fc.constantFrom(...'{}[]:,"\\u0123eE+-.truefalsn \n\t')
const damagedJson = fc
  .tuple(fc.json(), fc.nat(), fc.nat(3), fc.string({ unit: jsonUnit, maxLength: 3 }))
  .map(([text, at, removed, added]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + added + text.slice(place + removed)
  })

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
