import { serve } from '@hono/node-server'
import { Agent, assistant, OpenAIChatCompletionsModel, run, tool, user } from '@openai/agents'
import { createUIMessageStream, createUIMessageStreamResponse, type UIMessage } from 'ai'
import { Hono } from 'hono'
import OpenAI from 'openai'
import { z } from 'zod'

const weather = tool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
})
const client = new OpenAI({ baseURL: process.env.MODEL_URL, apiKey: 'none' })
const agent = new Agent({
  name: 'helper',
  model: new OpenAIChatCompletionsModel(client, 'mock'),
  instructions: 'You help travellers.',
  tools: [weather],
})
const textOf = ({ parts }: UIMessage) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const app = new Hono()
app.post('/chat', async (c) => {
  const { messages }: { messages: UIMessage[] } = await c.req.json()
  const history = messages.map((one) => (one.role === 'user' ? user : assistant)(textOf(one)))
  const stream = createUIMessageStream({
    async execute({ writer }) {
      const events = await run(agent, history, { stream: true })
      let isWriting = false
      for await (const event of events) {
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') {
          if (!isWriting) writer.write({ type: 'text-start', id: 'text' })
          isWriting = true
          writer.write({ type: 'text-delta', id: 'text', delta: event.data.delta })
        }
        if (event.type !== 'run_item_stream_event') continue
        const { rawItem } = event.item
        if (rawItem?.type === 'function_call') {
          const { callId: toolCallId, name: toolName, arguments: input } = rawItem
          const call = { toolCallId, toolName, input: JSON.parse(input) }
          writer.write({ type: 'tool-input-available', ...call, dynamic: true })
        }
        if (rawItem?.type === 'function_call_result' && 'output' in event.item)
          writer.write({
            type: 'tool-output-available',
            toolCallId: rawItem.callId,
            output: event.item.output,
          })
      }
      if (isWriting) writer.write({ type: 'text-end', id: 'text' })
    },
  })
  return createUIMessageStreamResponse({ stream })
})
serve({ fetch: app.fetch, port: 0 }, ({ port }) => console.error(`http://localhost:${port}/chat`))
