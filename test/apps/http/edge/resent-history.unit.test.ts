// The comparison of a resent history with the log.

import { describe, expect, it } from '@jest/globals'
import { isFork } from '../../../../apps/http/edge/resent-history.ts'

describe('a resent history', () => {
  it.each([
    ['is the whole one', ['a', 'b'], ['a', 'b']],
    ['is missing', [], ['a', 'b']],
    ['is the newest part', ['b'], ['a', 'b']],
    ['has a message that the log refused', ['a', 'refused', 'b'], ['a', 'b']],
    ['has messages that are older than the log', ['old', 'a'], ['a']],
    ['has the same text twice', ['yes', 'yes'], ['yes', 'yes']],
    ['meets an empty log', ['a'], []],
  ])('that %s is no fork', (_, sent, held) => {
    expect(isFork(sent, held)).toBe(false)
  })

  it.each([
    ['lacks the newest message', ['a'], ['a', 'b']],
    ['lacks one in between', ['a', 'c'], ['a', 'b', 'c']],
    ['has another text', ['x', 'b'], ['a', 'b']],
    ['has none of the texts', ['x'], ['a']],
  ])('that %s is a fork', (_, sent, held) => {
    expect(isFork(sent, held)).toBe(true)
  })
})
