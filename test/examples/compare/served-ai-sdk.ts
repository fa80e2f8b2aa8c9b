import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { serve } from '@hono/node-server'
import { convertToModelMessages, stepCountIs, streamText, tool } from 'ai'
import { Hono } from 'hono'
import { z } from 'zod'

const weather = tool({
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
})
const mock = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })

const app = new Hono()
app.post('/chat', async (c) => {
  const { messages } = await c.req.json()
  const result = streamText({
    model: mock('mock'),
    system: 'You help travellers.',
    tools: { get_weather: weather },
    stopWhen: stepCountIs(25),
    messages: await convertToModelMessages(messages),
  })
  return result.toUIMessageStreamResponse()
})
serve({ fetch: app.fetch, port: 0 }, ({ port }) => console.error(`http://localhost:${port}/chat`))
