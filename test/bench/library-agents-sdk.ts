// The conversation with the OpenAI Agents SDK, as its documents show it: `run` with a stream, and
// every event read. Its tracing is off, because it sends each run to OpenAI.

import {
  Agent,
  OpenAIChatCompletionsModel,
  run,
  setTracingDisabled,
  tool as toolOf,
} from '@openai/agents'
import OpenAI from 'openai'
import { callRounds, maxOutputTokens, question, system, tool } from './agent-loop-conversation.ts'
import { countArticles, parameters } from './library-tool.ts'
import type { Loop } from './measured-loop.ts'

export function openAgentsSdk(url: string): Loop {
  setTracingDisabled(true)
  const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 })
  const { name, description } = tool
  const agent = new Agent({
    name: 'bench',
    model: new OpenAIChatCompletionsModel(client, 'bench'),
    modelSettings: { maxTokens: maxOutputTokens },
    instructions: system,
    tools: [toolOf({ name, description, parameters, execute: countArticles })],
  })
  return {
    async converse(_, onText) {
      const stream = await run(agent, question, { stream: true, maxTurns: callRounds * 2 })
      for await (const event of stream)
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
          onText?.(event.data.delta)
      await stream.completed
      return stream.finalOutput ?? ''
    },
    close: async () => {},
  }
}
