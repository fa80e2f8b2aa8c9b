// The agents of the three SDKs, in both of their ways to run. Each gives the differences of its
// adapter.

import { expect } from '@jest/globals'
import type { GuestConversation, GuestFormat } from '../../../client/guard/guest-conversation.ts'
import type { Run, Scripts } from './agent.ts'
import { runAiSdk } from './ai-sdk-agent.ts'
import { runLangChain } from './langchain-agent.ts'
import { runOpenAIAgents } from './openai-agents-agent.ts'

export type Adapter = {
  name: string
  run: (conversation: GuestConversation, scripts: Scripts) => Promise<Run>
  format: GuestFormat
  /** The first request as Weir gets it. */
  asked: object
  /** The answer `hello` as Weir gets it. */
  answered: object
  /** The tool choice of a request that leaves the model free. */
  free: string | undefined
  /** Each result of a call in a request: the last ones. */
  results: (request: object) => { callId: unknown; text: unknown }[]
  /** False: the SDK parses the arguments, so Weir gets the same JSON in another notation. */
  keepsArguments: boolean
}

type Named = Record<string, unknown>
const listOf = (value: unknown) => value as Named[]

const aiSdk: Omit<Adapter, 'name' | 'run'> = {
  format: 'ai-sdk',
  asked: { tools: [{ name: 'exec', inputSchema: { type: 'object' } }] },
  answered: { content: [{ text: 'hello' }] },
  free: 'auto',
  results: (request) =>
    listOf(request)
      .filter(({ role }) => role === 'tool')
      .flatMap(({ content }) => listOf(content))
      .map(({ toolCallId, output }) => {
        const { value, reason } = output as Named
        return { callId: toolCallId, text: value ?? reason }
      }),
  keepsArguments: true,
}

const langChain: Omit<Adapter, 'name' | 'run'> = {
  format: 'langchain',
  asked: {
    messages: [{ type: 'human', content: 'list the files' }],
    tools: [{ name: 'exec', schema: expect.anything() }],
  },
  answered: { type: 'ai', content: 'hello', response_metadata: { finish_reason: 'length' } },
  free: undefined,
  results: (request) =>
    listOf(request)
      .filter(({ type }) => type === 'tool')
      .map(({ tool_call_id, content }) => ({ callId: tool_call_id, text: content })),
  keepsArguments: false,
}

const openaiAgents: Omit<Adapter, 'name' | 'run'> = {
  format: 'openai-agents',
  asked: { tools: [{ name: 'exec', parameters: { type: 'object' } }] },
  answered: { output: [{ type: 'message' }], usage: { inputTokens: 1 } },
  free: undefined,
  results: (request) =>
    listOf((request as Named).input)
      .filter(({ type }) => type === 'function_call_result')
      .map(({ callId, output }) => ({ callId, text: (output as Named).text })),
  keepsArguments: true,
}

export const adapters: Adapter[] = [
  ...(['generateText', 'streamText'] as const).map((way) => ({
    ...aiSdk,
    name: `${way} of the AI SDK`,
    run: (...given: Parameters<Adapter['run']>) => runAiSdk(way, ...given),
  })),
  ...(['invoke', 'stream'] as const).map((way) => ({
    ...langChain,
    name: `${way} of LangChain`,
    run: (...given: Parameters<Adapter['run']>) => runLangChain(way, ...given),
  })),
  ...(['run', 'stream'] as const).map((way) => ({
    ...openaiAgents,
    name: `${way} of OpenAI Agents`,
    run: (...given: Parameters<Adapter['run']>) => runOpenAIAgents(way, ...given),
  })),
]
