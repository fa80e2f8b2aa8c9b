import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { hasEnding, itemOf } from '../../../services/llm-gateway/openai-responses-items.ts'

const itemWith = (texts: string[]) => ({ ...itemOf({ at: 0, index: 0, model: 'm', callsBefore: 0, sent: { type: 'message' } }), texts })

describe('the end of a text that came in pieces', () => {
  it('is what the end of the whole text is, wherever it was split', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 })
    const ending = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), ending, (texts, text) => {
        expect(hasEnding(itemWith(texts), text)).toBe(texts.join('').endsWith(text))
      }),
      { numRuns: 500 },
    )
  })

  it('is looked for in no more pieces than it has characters, however many came', () => {
    const asked: unknown[] = []
    const get = (pieces: string[], key: string | symbol) => {
      if (key !== 'length') asked.push(key)
      return Reflect.get(pieces, key)
    }
    const texts = new Proxy(new Array<string>(10_000).fill('x'), { get })
    expect(hasEnding(itemWith(texts), 'xxx')).toBe(true)
    expect(asked.length).toBeLessThanOrEqual(3)
  })
})
