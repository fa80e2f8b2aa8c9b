import { serve } from '@hono/node-server'
import { z } from 'zod'
import { defineAgent, defineTool, openaiChat, Weir } from '../../../client/weir.ts'

const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `rain in ${city}`,
})
const agent = defineAgent({
  name: 'helper',
  model: openaiChat('mock', { baseUrl: process.env.MODEL_URL }),
  system: 'You help travellers.',
  tools: [weather],
})
const weir = await Weir.open({ agents: [agent] })

const fetch = weir.http({ principal: () => ({ name: 'ann', tenant: 'ann' }) })
serve({ fetch, port: 0 }, ({ port }) => console.error(`http://localhost:${port}/v1/ui-stream`))
