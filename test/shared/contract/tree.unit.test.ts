import { describe, expect, it } from '@jest/globals'
import { lineOf, parentOf, treeOf } from '../../../shared/contract/tree.ts'

const native = (conversation: string) => ({ conversation, parent: null })

describe('the tree of a conversation', () => {
  it('is in the id of a native child, however deep', () => {
    const child = native('call/call/c/0/1/0~2/2/3/0')
    expect(lineOf(child)).toEqual(['call/call/c/0/1/0~2/2/3/0', 'call/c/0/1/0~2', 'c'])
    expect([treeOf(child), parentOf(child)]).toEqual(['c', 'call/c/0/1/0~2'])
    expect([treeOf(native('c')), parentOf(native('c'))]).toEqual(['c', null])
  })

  it('is as its front recorded it for a guest, and an unknown parent stays unknown', () => {
    const placed = (conversation: string | null) => ({
      conversation: 'guest:coder:s:a',
      parent: { root: 'guest:coder:s', conversation },
    })
    expect(parentOf(placed(null))).toBeUndefined()
    expect(lineOf(placed(null))).toEqual(['guest:coder:s:a', 'guest:coder:s'])
    expect(parentOf(placed('guest:coder:s:b'))).toBe('guest:coder:s:b')
    expect(lineOf(placed('guest:coder:s:b'))).toEqual([
      'guest:coder:s:a',
      'guest:coder:s:b',
      'guest:coder:s',
    ])
  })

  it('is never read from the id of a guest', () => {
    expect(lineOf(native('guest:coder:s:a'))).toEqual(['guest:coder:s:a'])
    expect(parentOf(native('call/3f2a'))).toBeUndefined()
  })
})
