import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, Output } from 'ai'
import { z } from 'zod'

const mock = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })

const { output } = await generateText({
  model: mock('mock'),
  system: 'You read letters.',
  prompt: 'Please send two chairs to Ulm.',
  output: Output.object({ schema: z.object({ city: z.string(), chairs: z.number() }) }),
})
const { city, chairs } = output
console.log(`${chairs} chairs to ${city}`)
