import { Agent, OpenAIChatCompletionsModel, run, tool } from '@openai/agents'
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

const stream = await run(agent, 'How is Paris?', { stream: true })
for await (const event of stream) {
  if (event.type === 'run_item_stream_event' && event.name === 'tool_output')
    console.log('get_weather ran')
  if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
    process.stdout.write(event.data.delta)
}
