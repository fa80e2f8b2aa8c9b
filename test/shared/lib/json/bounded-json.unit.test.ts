import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { boundedJson, nestsDeeper } from '../../../../shared/lib/json/bounded-json.ts'
import { hasMoreMembers } from '../../../../shared/lib/json/member-count.ts'

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('bounded JSON', () => {
  it('has the value up to the depth, and none beyond it', () => {
    expect(boundedJson('{"a":[1]}', 2)).toEqual({ a: [1] })
    expect(boundedJson('{"a":[1]}', 1)).toBeUndefined()
    expect(boundedJson(nested(512), 512)).toBeDefined()
    expect(boundedJson(nested(513), 512)).toBeUndefined()
  })

  it('counts no bracket in a string, also with escapes before its end', () => {
    expect(boundedJson(String.raw`"[[[\"[[[\\"`, 0)).toBe('[[["[[[\\')
    expect(boundedJson(String.raw`["\\","[[",[]]`, 2)).toEqual(['\\', '[[', []])
    expect(boundedJson(String.raw`["\\",[[]]]`, 2)).toBeUndefined()
  })

  it('counts the members of all lists and objects, and none in a string', () => {
    const text = String.raw`{"a":[1,2,[]],"b,[{":"\",,"}`
    expect(hasMoreMembers(text, 6)).toBe(false)
    expect(hasMoreMembers(text, 5)).toBe(true)
  })

  it('has no value for a text that is not JSON', () => {
    for (const text of ['', '{', '"', '"\\', ']]]', 'nul'])
      expect(boundedJson(text, 9)).toBe(undefined)
  })

  it('counts the levels of any JSON value exactly', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const depth = depthOf(value)
        const text = JSON.stringify(value)
        expect(nestsDeeper(text, depth)).toBe(false)
        expect(nestsDeeper(text, depth - 1)).toBe(depth > 0)
      }),
    )
  })

  it('stops at the first level that is too deep', () => {
    expect(boundedJson('['.repeat(30_000_000), 512)).toBeUndefined()
  })
})
