// Anthropic's Messages in the terms of the proxy.

import { limits } from '../../../../shared/contract/limits.ts'
import { boundedJson } from '../../../../shared/lib/json/bounded-json.ts'
import { isToolOfClient } from '../../../../shared/wire/anthropic/history.ts'
import { messageReading } from '../../../../shared/wire/anthropic/reading.ts'
import { receivedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { eventStream, type Json, listIn, type ProxyApi, textIn } from './api.ts'

export const messages: ProxyApi = {
  path: '/messages',
  format: 'anthropic',
  history: 'messages',
  elsewhere: () => undefined,
  hasTools: ({ tools }) => listIn(tools).some(isToolOfClient),
  isCall: ({ role, content }) =>
    role === 'assistant' && listIn(content).some(({ type }) => type === 'tool_use'),
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) =>
    role !== 'user' || listIn(content).some(({ type }) => type === 'tool_result')
      ? undefined
      : textIn(content, ['text']),

  ownAnswer({ id, model, text, isStreamed }) {
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    }
    return isStreamed ? eventStream(eventsOf(message, text), true) : JSON.stringify(message)
  },

  read: (answer) => receivedAnswer(messageReading({ secret: [] }), answer),

  assembled: ({ text, finish, calls, usage }) => ({
    type: 'message',
    role: 'assistant',
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, raw }) => ({ type: 'tool_use', id, name, input: inputOf(raw) })),
    ],
    stop_reason: finish,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
  }),
}

function eventsOf(message: Json, text: string): Json[] {
  const { usage, stop_reason } = message
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** A text that is not JSON stays a text, which no schema accepts. */
function inputOf(raw: string): unknown {
  return raw === '' ? {} : (boundedJson(raw, limits.jsonDepthMax) ?? raw)
}
