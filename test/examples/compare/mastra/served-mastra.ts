import { serve } from '@hono/node-server'
import { handleChatStream } from '@mastra/ai-sdk'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { createUIMessageStreamResponse } from 'ai'
import { Hono } from 'hono'
import { z } from 'zod'

const weather = createTool({
  id: 'get_weather',
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
})
const helper = new Agent({
  id: 'helper',
  name: 'helper',
  instructions: 'You help travellers.',
  model: { id: 'mock/mock', url: process.env.MODEL_URL },
  tools: { get_weather: weather },
})
const mastra = new Mastra({ agents: { helper } })

const app = new Hono()
app.post('/chat', async (c) => {
  const params = await c.req.json()
  const stream = await handleChatStream({ mastra, agentId: 'helper', params, version: 'v7' })
  return createUIMessageStreamResponse({ stream })
})
serve({ fetch: app.fetch, port: 0 }, ({ port }) => console.error(`http://localhost:${port}/chat`))
