import { Agent, OpenAIChatCompletionsModel, run } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const client = new OpenAI({ baseURL: process.env.MODEL_URL, apiKey: 'none' })
const agent = new Agent({
  name: 'clerk',
  model: new OpenAIChatCompletionsModel(client, 'mock'),
  instructions: 'You read letters.',
  outputType: z.object({ city: z.string(), chairs: z.number() }),
})

const { finalOutput } = await run(agent, 'Please send two chairs to Ulm.')
if (finalOutput === undefined) throw new Error('no output')
const { city, chairs } = finalOutput
console.log(`${chairs} chairs to ${city}`)
