// The conversation with the AI SDK, as its documents show it: `streamText`, with every part read.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { stepCountIs, streamText, tool as toolOf } from 'ai'
import { callRounds, maxOutputTokens, question, system, tool } from './agent-loop-conversation.ts'
import { countArticles, parameters } from './library-tool.ts'
import type { Loop } from './measured-loop.ts'

export function openAiSdk(url: string): Loop {
  const model = createOpenAICompatible({ name: 'bench', baseURL: url, apiKey: 'none' })('bench')
  const tools = {
    [tool.name]: toolOf({
      description: tool.description,
      inputSchema: parameters,
      execute: countArticles,
    }),
  }
  return {
    async converse(_, onText) {
      const result = streamText({
        model,
        system,
        tools,
        maxOutputTokens,
        prompt: question,
        maxRetries: 0,
        stopWhen: stepCountIs(callRounds * 2),
      })
      for await (const part of result.fullStream) {
        if (part.type === 'text-delta') onText?.(part.text)
        if (part.type === 'error') throw part.error
      }
      return result.text
    },
    close: async () => {},
  }
}
