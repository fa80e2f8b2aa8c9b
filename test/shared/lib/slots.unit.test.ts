import { describe, expect, it } from '@jest/globals'
import { createSlots } from '../../../shared/lib/slots.ts'

/** Requests a slot in the name of `who`. Records each grant and its release function. */
function guests(count: number, lineMax?: number) {
  const slots = createSlots(count, lineMax)
  const seated: string[] = []
  const free = new Map<string, () => void>()
  const wait = (line: string, who: string) =>
    slots.wait(line, (giveBack) => {
      seated.push(who)
      free.set(who, giveBack)
    })
  return { wait, seated, free: (who: string) => free.get(who)?.() }
}

describe('slots', () => {
  it('are granted at once while any are free', () => {
    const { wait, seated } = guests(2)
    for (const who of ['a1', 'a2', 'a3']) wait('a', who)
    expect(seated).toEqual(['a1', 'a2'])
  })

  it('of one line have a limit, and other lines get the rest', () => {
    const { wait, seated, free } = guests(4, 2)
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
})
