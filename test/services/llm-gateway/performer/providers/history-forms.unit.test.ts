// Every provider's messages are valid for the strictest reading of their form, for any history.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { HistoryEntry } from '../../../../../shared/contract/messages.ts'
import { conversationMessages } from '../../../../../shared/wire/anthropic/request.ts'
import { chatMessages } from '../../../../../shared/wire/openai-chat/request/messages.ts'
import { chatFault, requestFault } from '../../../../support/valid-request.ts'
import { call, modelSays, result, userSays } from '../../samples.ts'

const thought = (block: object) => JSON.stringify([block])
const text = fc.constantFrom('', ' ', 'hi', 'so')
const id = fc.constantFrom('', 'toolu_1', 'call_0', 'functions.read:0', 'abcdefghi')
const round = fc.tuple(
  text,
  fc.array(id, { maxLength: 3 }),
  fc.nat(3),
  fc.boolean(),
  fc.constantFrom(
    '',
    thought({ type: 'thinking', thinking: 'hm', signature: 's' }),
    thought({ type: 'redacted_thinking', data: 'd' }),
    thought({ model: 'some-model', reasoning_content: ' ' }),
    thought({ model: 'some-model', content_thinking: 'hm' }),
  ),
  fc.boolean(),
)
const image = { hash: 'ab', mediaType: 'image/png', bytes: 9, pieces: 1, name: '' }

/** Turns of rounds; models reuse ids, results may be missing, a round may have no response. */
const anyHistory = fc
  .array(fc.tuple(text, fc.array(round, { maxLength: 4 })), { minLength: 1, maxLength: 3 })
  .map((turns) =>
    turns.flatMap(([said, rounds], turn): HistoryEntry[] => [
      { ...userSays(said, { turn }), contents: turn === 1 ? [image] : [] },
      ...rounds.map(([words, ids, results, failed, reasoning, shows], n): HistoryEntry => {
        const calls = ids.map((one, ordinal) => call({ id: one, ordinal }))
        const entry = modelSays(
          { text: words, calls, reasoning },
          {
            turn,
            round: n + 1,
            results: calls
              .slice(0, results)
              .map(({ ordinal }) => result({ ordinal, contents: shows ? [image] : [] })),
          },
        )
        return failed && calls.length === 0
          ? { ...entry, response: null, note: 'It failed.' }
          : entry
      }),
    ]),
  )

const seed = 20_261_122
const returned = { model: 'some-model', refused: 'none' } as const

describe('any history', () => {
  it.each([false, true])('is valid for Anthropic (rebuilt: %s)', (rebuilt) => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const messages = conversationMessages(history, rebuilt)
        expect(requestFault({ messages })).toBeUndefined()
        if (rebuilt) for (const sent of idsOf(messages)) expect(sent).toMatch(/^call_\d+_\d+_\d+$/)
      }),
      { seed, numRuns: 300 },
    )
  })

  it.each([
    ['Mistral', { nineCharacterIds: true, rebuilt: false }],
    ['a server that has refused it', { nineCharacterIds: false, rebuilt: true }],
  ])('is valid for %s: roles alternate and ids have nine characters', (_, how) => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const messages = chatMessages(history, returned, how)
        expect(chatFault(messages)).toBeUndefined()
      }),
      { seed, numRuns: 300 },
    )
  })

  it('repeats earlier entries byte for byte when it grows', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const whole = conversationMessages([...history, userSays('more', { turn: 9 })])
        const before = conversationMessages(history)
        for (const [n, message] of before.slice(0, -1).entries()) expect(whole[n]).toEqual(message)
      }),
      { seed, numRuns: 300 },
    )
  })
})

function idsOf(messages: ReturnType<typeof conversationMessages>): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  )
}
