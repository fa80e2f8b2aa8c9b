// A provider chooses the number of items in a delta, so the joining of items takes linear time.

import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Json } from '../../../../shared/wire/format.ts'
import { memberJoiner } from '../../../../shared/wire/openai-chat/joined-members.ts'
import { chatStrict } from '../../../../shared/wire/openai-chat/strict.ts'

/** Items that count the reads of their index. */
function countedItems(size: number): { items: Json[]; reads: () => number } {
  let reads = 0
  const items = Array.from({ length: size }, (_, n) => ({
    text: 'a',
    get index() {
      reads += 1
      return n
    },
  }))
  return { items, reads: () => reads }
}

const chunk = (delta: Json): Json => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta }],
})

describe('items of a list', () => {
  it('are joined by their index, also an item after many others', () => {
    const join = memberJoiner()
    const message: Json = {}
    join(message, { parts: [{ index: 0, text: 'a' }, { index: 1, text: 'b' }, 7, {}] })
    join(message, {
      parts: [
        { index: 0, text: 'A' },
        { index: 2, text: 'c' },
      ],
    })
    expect(message.parts).toEqual([
      { index: 0, text: 'aA' },
      { index: 1, text: 'b' },
      7,
      {},
      { index: 2, text: 'c' },
    ])
  })

  it('are each read a fixed number of times, however many there are', () => {
    const [one, four] = [1_000, 4_000].map((size) => {
      const { items, reads } = countedItems(size)
      const join = memberJoiner()
      const message: Json = {}
      for (const item of items) join(message, { parts: [item] })
      return reads()
    })
    expect(four).toBe(4 * (one ?? 0))
  })
})

it('an answer with too many calls is a fault before its other calls are read', () => {
  let reads = 0
  const calls = Array.from({ length: 10_000 }, (_, index) => ({
    index,
    type: 'function',
    function: { name: 'a', arguments: '{}' },
    get id() {
      reads += 1
      return `c${index}`
    },
  }))
  const reader = chatStrict.stream()
  expect(() => reader.read(chunk({ tool_calls: calls }))).toThrow('more than 256 calls')
  expect(reads).toBeLessThan(4 * limits.responseCallsMax)
})
