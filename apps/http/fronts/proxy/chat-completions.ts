// OpenAI's Chat Completions in the terms of the proxy.

import { chatReading } from '../../../../shared/wire/openai-chat/reading.ts'
import { receivedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { eventStream, type Json, listIn, type ProxyApi, textIn } from './api.ts'

export const chatCompletions: ProxyApi = {
  path: '/chat/completions',
  format: 'openai-chat',
  history: 'messages',
  elsewhere: () => undefined,
  hasTools: ({ tools, functions }) => listIn(tools).length + listIn(functions).length > 0,
  isCall: ({ role, tool_calls: calls, function_call: call }) =>
    role === 'assistant' && (listIn(calls).length > 0 || (call !== undefined && call !== null)),
  isOfModel: ({ role }) => role === 'assistant',
  userText: ({ role, content }) => (role === 'user' ? textIn(content, ['text']) : undefined),

  ownAnswer({ id, model, text, isStreamed }) {
    const about = { id, created: 0, model }
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    if (!isStreamed)
      return JSON.stringify({
        ...about,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
        ],
        usage,
      })
    const chunk = (delta: Json, finish_reason: string | null) => ({
      ...about,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    })
    const chunks = [chunk({ role: 'assistant', content: text }, null), chunk({}, 'stop')]
    return `${eventStream(chunks, false)}data: [DONE]\n\n`
  },

  read: (answer) => receivedAnswer(chatReading({ secret: [], model: '' }), answer),

  assembled: ({ text, finish, calls, usage }) => ({
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          tool_calls: calls.map(({ id, name, raw }) => ({
            id,
            type: 'function',
            function: { name, arguments: raw },
          })),
        },
        finish_reason: finish,
      },
    ],
    usage: {
      prompt_tokens: usage.inputTokens + usage.cacheReadTokens,
      completion_tokens: usage.outputTokens,
      prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    },
  }),
}
