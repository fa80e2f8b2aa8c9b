import { describe, expect, it } from '@jest/globals'
import { newest } from '../../../shared/lib/newest.ts'

describe('a map of the newest entries', () => {
  it('keeps the entries that were set last', () => {
    const map = newest<number>(2)
    map.set('a', 1)
    map.set('b', 2)
    expect(map.at('a', () => 9)).toBe(1)
    map.set('c', 3)
    expect(['a', 'b', 'c'].map(map.get)).toEqual([1, undefined, 3])
  })

  it('keeps entries up to a size together', () => {
    const map = newest<string>(5, ({ length }) => length)
    map.set('a', 'xx')
    map.set('b', 'xx')
    map.set('a', 'xxx')
    expect(['a', 'b'].map(map.get)).toEqual(['xxx', 'xx'])
    map.set('c', 'xxx')
    expect(['a', 'b', 'c'].map(map.get)).toEqual([undefined, undefined, 'xxx'])
  })

  it('keeps the others, and no older value, when an entry is too large', () => {
    const map = newest<string>(3, ({ length }) => length)
    map.set('a', 'x')
    map.set('b', 'x')
    map.set('b', 'xxxx')
    expect(['a', 'b'].map(map.get)).toEqual(['x', undefined])
  })
})
