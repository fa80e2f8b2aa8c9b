// An agent on OpenAI Agents with one tool and a scripted model.

import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  tool,
  Usage,
} from '@openai/agents'
import { z } from 'zod'
import { guardOpenAIAgents } from '../../../client/adapters/openai-agents.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { type Call, prompt, type Scripts } from './agent.ts'

export async function runOpenAIAgents(
  way: 'run' | 'stream',
  conversation: GuestConversation,
  { answers, result = () => 'done', steps = 25 }: Scripts,
  /** Of an answer without text and calls. */
  silent?: ModelResponse['output'],
) {
  const ran: string[] = []
  const exec = tool({
    name: 'exec',
    description: 'Run a command.',
    parameters: z.object({ command: z.string() }),
    execute: async ({ command }) => {
      ran.push(command)
      return result(command)
    },
  })
  const model = new ScriptedModel(answers, silent)
  const weir = guardOpenAIAgents(conversation)
  const agent = new Agent({ name: 'ops', model: weir.model(model), tools: weir.tools([exec]) })
  const options = { maxTurns: steps }
  let text: unknown
  if (way === 'run') text = (await quietRunner().run(agent, prompt, options)).finalOutput
  else {
    const streamed = await quietRunner().run(agent, prompt, { ...options, stream: true })
    await streamed.completed
    text = streamed.finalOutput
  }
  const choices = model.requests.map(({ modelSettings }) => modelSettings.toolChoice)
  return { text, ran, requests: model.requests, choices }
}

export function quietRunner(): Runner {
  return new Runner({ tracingDisabled: true })
}

const thought: ModelResponse['output'][number] = {
  type: 'reasoning',
  content: [{ type: 'input_text', text: 'Hm.' }],
}

export class ScriptedModel implements Model {
  readonly requests: (Omit<ModelRequest, 'input'> & { input: unknown[] })[] = []
  readonly #answers: (n: number) => Call[] | string
  readonly #silent: ModelResponse['output']

  constructor(
    answers: (n: number) => Call[] | string,
    silent: ModelResponse['output'] = [thought],
  ) {
    this.#answers = answers
    this.#silent = silent
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const input = typeof request.input === 'string' ? [request.input] : request.input
    this.requests.push({ ...request, input })
    const answer = this.#answers(this.requests.length)
    return {
      usage: new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
      output:
        typeof answer === 'string'
          ? [
              {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                id: 'm1',
                content: [{ type: 'output_text', text: answer }],
              },
            ]
          : answer.length === 0
            ? this.#silent
            : answer.map(([callId, text, name = 'exec']) => ({
                type: 'function_call',
                callId,
                name,
                arguments: text,
                status: 'completed',
              })),
    } as ModelResponse
  }

  async *getStreamedResponse(request: ModelRequest) {
    const { usage, output } = await this.getResponse(request)
    yield { type: 'response_started' } as const
    yield { type: 'response_done', response: { id: 'r1', usage, output } } as never
  }
}
