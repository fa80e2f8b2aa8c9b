import { ChatOpenAI } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { guardLangChain } from '../../client/adapters/langchain.ts'
import { openGuard } from '../../client/guard/guard.ts'

const guard = await openGuard({ agent: 'ops' })

const exec = tool(async ({ command }: { command: string }) => `ran ${command}`, {
  name: 'exec',
  description: 'Run a shell command.',
  schema: z.object({ command: z.string() }),
})
const baseURL = process.env.MODEL_URL ?? 'http://localhost:11434/v1'
const agent = createAgent({
  model: new ChatOpenAI({ model: 'qwen3', apiKey: 'none', configuration: { baseURL } }),
  tools: [exec],
  middleware: [
    guardLangChain(({ configurable }) => guard.conversation(`${configurable?.thread_id}`)),
  ],
})
const { messages } = await agent.invoke(
  { messages: 'List the files.' },
  { configurable: { thread_id: 'ticket-42' }, recursionLimit: 100 },
)
const answers = messages.filter(({ type }) => type === 'ai').length
console.log(`${answers} answers, the last one: ${messages.at(-1)?.text}`)
await guard.close()
