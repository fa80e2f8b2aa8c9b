// A streamed answer as the official SDK of its API reads it.

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Api } from './provider-streams.ts'

/** The final answer of the SDK. Rejects like the SDK. */
export async function sdkAnswer(api: Api, stream: Buffer | string): Promise<unknown> {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async () => new Response(stream, { headers })
  const options = { apiKey: 'dummy', maxRetries: 0, fetch }
  const message = { role: 'user' as const, content: 'Hi.' }
  switch (api) {
    case 'anthropic': {
      const request = { model: 'm', max_tokens: 9, messages: [message] }
      return new Anthropic(options).messages.stream(request).finalMessage()
    }
    case 'openai-chat': {
      const { completions } = new OpenAI(options).chat
      return completions.stream({ model: 'm', messages: [message] }).finalChatCompletion()
    }
    case 'openai-responses':
      return new OpenAI(options).responses.stream({ model: 'm', input: 'Hi.' }).finalResponse()
  }
}
