import { describe, expect, it } from '@jest/globals'
import { createGuardMemory } from '../../../../shared/runtime/guards/guard-memory.ts'

const at = (offset: number, isFork = false) => ({ offset, time: offset, marks: {}, isFork })

describe("a guard's memory of a fork", () => {
  it("begins with the newest state of its origin, and never changes the origin's", () => {
    const memory = createGuardMemory()
    memory.set('c', '1', at(3))
    memory.fork('f', 'c', 5)
    expect(memory.get('f')).toBe('1')
    memory.set('f', '2', at(5, true))
    memory.fork('f', 'c', 6)
    expect([memory.get('c'), memory.get('f')]).toEqual(['1', '2'])
    memory.fork('g', 'unknown', 7)
    expect(memory.get('g')).toBeUndefined()
  })

  it("does not get its origin's state again after the guard cleared its own", () => {
    const memory = createGuardMemory()
    memory.set('c', '1', at(3))
    memory.fork('f', 'c', 5)
    memory.set('f', undefined, at(5, true))
    memory.fork('f', 'c', 6)
    expect(memory.get('f')).toBeUndefined()
    memory.set('c', undefined, at(7))
    expect(memory.oldest()).toMatchObject({ first: 3 }) // a fold finds the cleared state again
  })

  it('is folded again from the first record of its origin, also after that is forgotten', () => {
    const memory = createGuardMemory()
    memory.set('c', '1', at(3))
    memory.set('other', '1', at(4))
    memory.fork('f', 'c', 5)
    memory.set('f', '2', at(5, true))
    memory.forgetBefore(4)
    expect(memory.get('c')).toBeUndefined()
    expect(memory.oldest()).toMatchObject({ first: 3 })
  })
})
