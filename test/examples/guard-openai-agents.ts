import { Agent, OpenAIChatCompletionsModel, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { guardOpenAIAgents } from '../../client/adapters/openai-agents.ts'
import { openGuard } from '../../client/guard/guard.ts'

const guard = await openGuard({ agent: 'ops' })
const weir = guardOpenAIAgents(guard.conversation('ticket-42'))

const exec = tool({
  name: 'exec',
  description: 'Run a shell command.',
  parameters: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
})
const baseURL = process.env.MODEL_URL ?? 'http://localhost:11434/v1'
const model = new OpenAIChatCompletionsModel(new OpenAI({ baseURL, apiKey: 'none' }), 'qwen3')
const agent = new Agent({ name: 'ops', model: weir.model(model), tools: weir.tools([exec]) })

const runner = new Runner({ tracingDisabled: true })
const { rawResponses, finalOutput } = await runner.run(agent, 'List the files.', { maxTurns: 25 })
console.log(`${rawResponses.length} answers, the last one: ${finalOutput}`)
await guard.close()
