import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { guardAiSdk } from '../../client/adapters/ai-sdk.ts'
import { openGuard } from '../../client/guard/guard.ts'

const guard = await openGuard({ agent: 'ops' })
const weir = guardAiSdk(guard.conversation('ticket-42'))

const baseURL = process.env.MODEL_URL ?? 'http://localhost:11434/v1'
const model = createOpenAICompatible({ name: 'local', baseURL }).chatModel('qwen3')
const { text, steps } = await generateText({
  model: wrapLanguageModel({ model, middleware: weir.middleware }),
  toolApproval: weir.toolApproval,
  tools: {
    exec: tool({
      description: 'Run a shell command.',
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }) => `ran ${command}`,
    }),
  },
  stopWhen: isStepCount(25),
  prompt: 'List the files.',
})
console.log(`${steps.length} answers, the last one: ${text}`)
await guard.close()
