import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createSlots, type SlotOptions } from '../../../shared/lib/slots.ts'

/** Requests a slot in the name of `who`. Records each grant and its release function. */
function guests(count: number, { lineMax = count, weightOf = () => 1 }: SlotOptions = {}) {
  const slots = createSlots(count, { lineMax, weightOf })
  const seated: string[] = []
  const free = new Map<string, () => void>()
  const wait = (line: string, who: string, group?: string) => {
    const take = (giveBack: () => void): void => {
      seated.push(who)
      free.set(who, giveBack)
    }
    return slots.wait(line, take, group)
  }
  return { wait, seated, free: (who: string) => free.get(who)?.() }
}

describe('slots', () => {
  it('are granted at once while any are free', () => {
    const { wait, seated } = guests(2)
    for (const who of ['a1', 'a2', 'a3']) wait('a', who)
    expect(seated).toEqual(['a1', 'a2'])
  })

  it('of one line have a limit, and other lines get the rest', () => {
    const { wait, seated, free } = guests(4, { lineMax: 2 })
    for (const who of ['a1', 'a2', 'a3', 'a4']) wait('a', who)
    expect(seated).toEqual(['a1', 'a2'])
    for (const who of ['b1', 'b2', 'b3']) wait('b', who)
    wait('c', 'c1')
    expect(seated).toEqual(['a1', 'a2', 'b1', 'b2'])
    for (const who of ['a1', 'b1', 'a2', 'c1', 'a3']) free(who)
    expect(seated.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'c1'])
  })

  it('go to the lines in rotation, and one long line delays no other', () => {
    const { wait, seated, free } = guests(1)
    for (const who of ['a1', 'a2', 'a3']) wait('a', who)
    for (const who of ['b1', 'b2']) wait('b', who)
    wait('c', 'c1')
    for (const who of ['a1', 'a2', 'b1', 'c1', 'a3']) free(who)
    expect(seated).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('are not granted to a caller that has left the line', () => {
    const { wait, seated, free } = guests(1)
    wait('a', 'a1')
    const leave = wait('a', 'a2')
    wait('b', 'b1')
    leave()
    leave()
    free('a1')
    expect(seated).toEqual(['a1', 'b1'])
  })

  it('are released once, even if released twice or after leaving', () => {
    const { wait, seated, free } = guests(1)
    const leave = wait('a', 'a1')
    leave()
    free('a1')
    free('a1')
    for (const who of ['a2', 'a3']) wait('a', who)
    expect(seated).toEqual(['a1', 'a2'])
  })

  it('go to the groups in turn, and one with many lines delays no other', () => {
    const { wait, seated, free } = guests(1)
    for (const who of ['a1', 'a2', 'a3', 'a4']) wait(who, who, 'a')
    for (const who of ['b1', 'b2']) wait(who, who, 'b')
    wait('c1', 'c1', 'c')
    for (const who of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) free(who)
    expect(seated).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('go to groups by their weights', () => {
    const weights: Record<string, number> = { a: 3, b: 1 }
    const { wait, seated, free } = guests(1, { weightOf: (group) => weights[group] ?? 1 })
    wait('x', 'x', 'other')
    for (let i = 1; i <= 6; i++) wait(`a${i}`, `a${i}`, 'a')
    for (let i = 1; i <= 3; i++) wait(`b${i}`, `b${i}`, 'b')
    for (let at = 0; at < 9; at++) free(seated[at] as string)
    expect(seated).toEqual(['x', 'a1', 'a2', 'a3', 'b1', 'a4', 'a5', 'a6', 'b2', 'b3'])
  })

  it('pass over a group whose lines all have their limit', () => {
    const { wait, seated, free } = guests(4, { lineMax: 1 })
    for (const who of ['a1', 'a2']) wait('a', who, 'a')
    for (const who of ['b1', 'b2']) wait(who, who, 'b')
    expect(seated).toEqual(['a1', 'b1', 'b2'])
    free('a1')
    expect(seated).toEqual(['a1', 'b1', 'b2', 'a2'])
  })

  it('are granted to each caller that stays, once, in any order of calls', () => {
    const step = fc.record({
      act: fc.constantFrom('wait', 'wait', 'free', 'leave'),
      line: fc.nat(4),
      group: fc.constantFrom('a', 'bb', 'ccc'),
      pick: fc.nat(59),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { wait, seated, free } = guests(3, { lineMax: 2, weightOf: ({ length }) => length })
        const leaves = new Map<string, () => void>()
        const gone = new Set<string>()
        for (const [at, { act, line, group, pick }] of steps.entries()) {
          const who = `${pick % Math.max(1, at)}`
          if (act === 'wait') leaves.set(`${at}`, wait(`${group} ${line}`, `${at}`, group))
          else if (act === 'free') free(who)
          else if (leaves.has(who)) {
            leaves.get(who)?.()
            if (!seated.includes(who)) gone.add(who)
          }
        }
        for (let at = 0; at < seated.length; at++) free(seated[at] as string)
        expect(seated.toSorted()).toEqual(
          [...leaves.keys()].filter((who) => !gone.has(who)).toSorted(),
        )
      }),
    )
  })

  it('serve callers that wait while the last line of their group gets a slot', () => {
    const slots = createSlots(1)
    const order: string[] = []
    const frees: (() => void)[] = []
    const join = (who: string) =>
      slots.wait(who, (giveBack) => {
        order.push(who)
        frees.push(giveBack)
        if (who !== 'second') return
        giveBack()
        for (const later of ['third', 'fourth']) join(later)
      })
    for (const who of ['first', 'second']) join(who)
    for (let at = 0; at < frees.length; at++) frees[at]?.()
    expect(order).toEqual(['first', 'second', 'third', 'fourth'])
  })
})
