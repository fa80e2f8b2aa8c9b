import { Agent, OpenAIChatCompletionsModel, run } from '@openai/agents'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.MODEL_URL, apiKey: 'none' })
const model = new OpenAIChatCompletionsModel(client, 'mock')
const researcher = new Agent({ name: 'researcher', model, instructions: 'You find facts.' })
const research = researcher.asTool({
  toolName: 'research',
  toolDescription: 'Finds facts about a subject',
})
const writer = new Agent({
  name: 'writer',
  model,
  instructions: 'You write one sentence.',
  tools: [research],
})

const { finalOutput } = await run(writer, 'Write about weirs.')
console.log(finalOutput)
