import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const weather = tool({
  description: 'Current weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
})
const mock = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })

const result = streamText({
  model: mock('mock'),
  system: 'You help travellers.',
  tools: { get_weather: weather },
  stopWhen: stepCountIs(25),
  prompt: 'How is Paris?',
})
for await (const part of result.fullStream) {
  if (part.type === 'tool-result') console.log(`${part.toolName} ran`)
  if (part.type === 'text-delta') process.stdout.write(part.text)
}
