// The messages of a chat for a page that is loaded again.

import { expect, it } from '@jest/globals'
import { uiMessagesOf } from '../../../../../apps/http/edge/ui-stream/ui-history.ts'
import type { CallCard, ConversationMessage, ConversationTurn } from '../../../../../client/weir.ts'

const user = (turn: number, text: string): ConversationMessage => ({
  role: 'user',
  turn,
  text,
  contents: [],
})
const answer = (turn: number, round: number, fields: object): ConversationMessage => ({
  role: 'assistant',
  turn,
  round,
  text: '',
  reasoning: '',
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
  ...fields,
})
const card = (fields: Partial<CallCard>): CallCard => ({
  ordinal: 0,
  id: 'x',
  name: 'look',
  arguments: { a: 1 },
  rawArguments: '{"a":1}',
  problem: null,
  status: 'ok',
  reason: '',
  durationMs: 1,
  result: 'seen',
  rawResult: typeof fields.result === 'string' ? fields.result : 'seen',
  ...fields,
})
const turn = (number: number, messageId: string, end?: object) =>
  ({ turn: number, messageId, agent: 'helper', end }) as ConversationTurn
const tools = (agent: string) => new Set(agent === 'helper' ? ['pick'] : [])

it('has the reasoning, texts and calls of each round, under the ids of the stream', () => {
  const calls = [
    card({}),
    card({ ordinal: 1, name: 'drop', status: 'denied', result: '', reason: 'not you' }),
    card({ ordinal: 2, name: 'pick', arguments: null, rawArguments: '{"a' }),
  ]
  const messages = [
    user(3, 'Hi'),
    answer(3, 1, { reasoning: 'Hm.', text: 'I look.', calls }),
    { role: 'note', turn: 3, round: 2, kind: 'nudge', text: 'for the model' } as const,
    answer(3, 2, { text: 'Done.' }),
  ]
  expect(uiMessagesOf(messages, [turn(3, 'm1', { outcome: 'answered' })], tools)).toEqual([
    { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi', state: 'done' }] },
    {
      id: 'turn-3',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Hm.', state: 'done' },
        { type: 'text', text: 'I look.', state: 'done' },
        expect.objectContaining({
          toolCallId: 'call-3-1-0',
          input: { a: 1 },
          state: 'output-available',
          output: 'seen',
          providerExecuted: true,
        }),
        expect.objectContaining({
          toolCallId: 'call-3-1-1',
          state: 'output-error',
          errorText: 'not you',
        }),
        expect.not.objectContaining({ providerExecuted: true }),
        { type: 'step-start' },
        { type: 'text', text: 'Done.', state: 'done' },
      ],
    },
  ])
})

it('shows of a running turn the message of the user only', () => {
  const messages = [user(3, 'Hi'), answer(3, 1, { text: 'Yes?' }), user(9, 'Go'), answer(9, 1, {})]
  const turns = [turn(9, 'm2'), turn(3, 'm1', { outcome: 'answered' })]
  const shown = uiMessagesOf(messages, turns, tools)
  expect(shown.map(({ id }) => id)).toEqual(['m1', 'turn-3', 'm2'])
})

it('shows the fallback of a turn without an answer, and older messages than the known turns', () => {
  const messages = [user(1, 'Old'), answer(1, 1, { text: 'Yes.' }), user(3, 'Hi')]
  const turns = [turn(3, 'm1', { outcome: 'failed', reply: 'Sorry.' })]
  expect(uiMessagesOf(messages, turns, tools).map(({ id, parts }) => [id, parts.at(-1)])).toEqual([
    ['message-0', { type: 'text', text: 'Old', state: 'done' }],
    ['turn-1', { type: 'text', text: 'Yes.', state: 'done' }],
    ['m1', { type: 'text', text: 'Hi', state: 'done' }],
    ['turn-3', { type: 'text', text: 'Sorry.', state: 'done' }],
  ])
})
