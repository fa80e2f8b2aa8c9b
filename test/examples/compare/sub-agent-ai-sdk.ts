import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const model = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })('mock')
const research = tool({
  description: 'Finds facts about a subject',
  inputSchema: z.object({ task: z.string() }),
  execute: async ({ task }, { abortSignal }) => {
    const system = 'You find facts.'
    const { text } = await generateText({ model, system, prompt: task, abortSignal })
    return text
  },
})

const { text } = await generateText({
  model,
  system: 'You write one sentence.',
  tools: { research },
  stopWhen: stepCountIs(25),
  prompt: 'Write about weirs.',
})
console.log(text)
