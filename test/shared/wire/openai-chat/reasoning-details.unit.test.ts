// Thinking in blocks, from the stream in which it came to the request in which it goes back.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { limits } from '../../../../shared/contract/limits.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { chatAnswers } from '../../../../shared/wire/openai-chat/events.ts'
import { chatMessages } from '../../../../shared/wire/openai-chat/request/messages.ts'
import { call, modelSays, result, userSays } from '../../../services/llm-gateway/samples.ts'

type Detail = Record<string, unknown>

const text = (words: string, more: Detail = {}): Detail => ({
  type: 'reasoning.text',
  text: words,
  format: 'anthropic-claude-v1',
  index: 0,
  ...more,
})
const signature = {
  type: 'reasoning.text',
  signature: 'c2lnbmVk',
  format: 'anthropic-claude-v1',
  index: 0,
}
const encrypted = {
  type: 'reasoning.encrypted',
  data: 'AAAA',
  id: 'rs_1',
  format: 'openai-responses-v1',
  index: 0,
}
const summary = (words: string, index = 1): Detail => ({
  type: 'reasoning.summary',
  summary: words,
  format: 'openai-responses-v1',
  index,
})

/**
 * The visible text of a stream with these details in its chunks, and the details in the next
 * request to that model.
 */
function passed(...chunks: Detail[][]) {
  const stream = chatAnswers.begin({ secret: '', model: 'some-model' })
  const read = (delta: object, finish: string | null = null) =>
    readSent(
      chatAnswers,
      stream,
      null,
      JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] }),
    )
  const events = chunks.flatMap((details) => read({ reasoning_details: details }))
  events.push(
    ...read({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: '{}' } }] }),
    ...read({}, 'tool_calls'),
    ...chatAnswers.end(stream),
  )
  const blocks = events.flatMap(({ kind, text: block }) =>
    kind === 'reasoning_block' ? [block] : [],
  )
  const said = modelSays(
    { reasoning: `[${blocks.join(',')}]`, calls: [call()] },
    { results: [result()] },
  )
  const sent = (model: string) =>
    chatMessages(
      [userSays('hi'), said],
      { model, refused: 'none' },
      { nineCharacterIds: false, rebuilt: false },
    )[1] as unknown as Detail
  return {
    shown: events
      .flatMap(({ kind, text: words }) => (kind === 'reasoning' ? [words] : []))
      .join(''),
    returned: sent('some-model').reasoning_details,
    elsewhere: sent('another').reasoning_details,
  }
}

describe('thinking in blocks', () => {
  it('goes back as the block that was signed, not as the pieces in which it came', () => {
    const { shown, returned, elsewhere } = passed(
      [text('Let')],
      [text(' me compute.')],
      [signature],
    )
    expect(shown).toBe('Let me compute.')
    expect(returned).toEqual([text('Let me compute.', { signature: 'c2lnbmVk' })])
    expect(elsewhere).toBeUndefined()
  })

  it('is the same block however it is cut', () => {
    const words = 'First this, then that \u{1f600}, and so on.'
    fc.assert(
      fc.property(fc.array(fc.nat(words.length), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), words.length]
        const pieces = at.slice(1).map((end, n) => [text(words.slice(at[n], end))])
        expect(passed(...pieces, [signature]).returned).toEqual([
          text(words, { signature: 'c2lnbmVk' }),
        ])
      }),
      { seed: 20_261_122, numRuns: 100 },
    )
  })

  it('keeps blocks of different types and indexes apart, and in order', () => {
    const blocks = [
      text('a'),
      encrypted,
      summary('b', 1),
      summary('c', 2),
      { ...encrypted, id: 'rs_2', data: 'BBBB', index: 0 },
    ]
    expect(passed(...blocks.map((block) => [block])).returned).toEqual(blocks)
    expect(passed(blocks).returned).toEqual(blocks)
    expect(passed([summary('b', 1)], [summary('c', 2)], [summary('d', 1)]).returned).toEqual([
      summary('bd', 1),
      summary('c', 2),
    ])
  })

  it('without indexes goes on until it is signed, and is whole where several come at once', () => {
    const bare = (words: string, more: Detail = {}): Detail => ({
      type: 'reasoning.text',
      text: words,
      ...more,
    })
    expect(
      passed([bare('a')], [bare('b')], [bare('', { signature: 's' })], [bare('c')]).returned,
    ).toEqual([bare('ab', { signature: 's' }), bare('c')])
    expect(passed([bare('a'), bare('b')]).returned).toEqual([bare('a'), bare('b')])
  })

  it('keeps unknown fields unchanged', () => {
    const unknown = { type: 'reasoning.other', index: 0, deep: { list: [1, 'two', null] } }
    expect(passed([unknown]).returned).toEqual([unknown])
  })

  it.each<[string, unknown]>([
    ['no list', 'thinking'],
    ['an empty list', []],
    ['things that are no blocks', [null, 1, 'x']],
    [
      'too large',
      [{ type: 'reasoning.encrypted', data: 'x'.repeat(limits.reasoningDetailsBytesMax) }],
    ],
    [
      'more blocks than a response may have',
      Array.from({ length: limits.responseItemsMax + 1 }, (_, index) => summary('', index)),
    ],
    ['too deep', [{ type: 'x', deep: JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) }]],
  ])('that is %s is left out', (_, given) =>
    expect(passed(given as Detail[]).returned).toBeUndefined(),
  )
})
