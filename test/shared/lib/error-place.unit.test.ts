import { describe, expect, it } from '@jest/globals'
import { thrownText } from '../../../shared/lib/error-place.ts'

const own = 'file:///weir/guard-partition.ts'

function thrown(stack: unknown): Error {
  return Object.assign(new Error('oops'), { stack })
}

describe('the text of a thrown error', () => {
  it.each<[string, unknown, string]>([
    [
      'names the file and the line of the innermost frame',
      'Error: oops\n    at judge (file:///home/a/no-rome.ts:12:9)\n    at file:///weir/x.ts:1:1',
      'oops (no-rome.ts:12)',
    ],
    [
      'skips frames of Node.js, and the query of a module',
      'Error: oops\n    at JSON.parse (<anonymous>)\n    at node:internal/x:3:1\n    at file:///a/b.mjs?v=2:7:1',
      'oops (b.mjs:7)',
    ],
    ['accepts a path', 'Error: oops\n    at Object.judge (/a/b c/g.ts:3:5)', 'oops (g.ts:3)'],
    [
      "names no place if the caller's own file threw",
      `Error: oops\n    at judged (${own}:9:1)\n    at file:///a/b.ts:7:1`,
      'oops',
    ],
    ['names no place without frames', 'Error: oops', 'oops'],
    ['survives a stack that is no text', 7, 'oops'],
  ])('%s', (_, stack, text) => {
    expect(thrownText(thrown(stack), own)).toBe(text)
  })

  it('has the message of the cause, as the error of fetch has no other reason', () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:8181')
    const error = Object.assign(new TypeError('fetch failed', { cause }), { stack: '' })
    expect(thrownText(error, own)).toBe('fetch failed: connect ECONNREFUSED 127.0.0.1:8181')
    expect(thrownText(new Error('oops', { cause: 'a text' }), own)).toMatch(/^oops/)
  })

  it('has the value if it is no error', () => {
    expect(thrownText('a text', own)).toBe('a text')
    expect(thrownText(undefined, own)).toBe('undefined')
  })
})
