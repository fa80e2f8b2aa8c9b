// The adapter in the real OpenAI Agents SDK, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
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
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

type Call = [id: string, args: string]

describe.each(['run', 'stream'] as const)('guardOpenAIAgents in %s', (way) => {
  const run = (conversation: GuestConversation, answers: (n: number) => Call[] | string) =>
    runAgent(way, conversation, answers)

  test('passes an answer through, and shows Weir the request with its tools', async () => {
    const conversation = scriptedConversation()
    const { text } = await run(conversation, () => 'hello')
    expect(text).toBe('hello')
    expect(conversation.asked).toMatchObject([
      {
        format: 'openai-agents',
        body: { tools: [{ name: 'exec', parameters: { type: 'object' } }] },
      },
    ])
    expect(conversation.answered).toMatchObject([
      { answer: { output: [{ type: 'message' }], usage: { inputTokens: 1 } } },
    ])
  })

  test('ends the loop of an empty call in text, after the rungs of Weir', async () => {
    const conversation = scriptedConversation({ advise: advisesLoop })
    const { text, requests } = await run(conversation, (n) => [[`c${n}`, '{}']])
    expect(requests).toHaveLength(4)
    expect(JSON.stringify(requests[2]?.input)).toContain('failed the same way twice')
    expect(JSON.stringify(requests[3]?.input)).not.toContain('failed the same way twice')
    expect(requests.map(({ modelSettings }) => modelSettings.toolChoice)).toEqual([
      ...[undefined, undefined, undefined, 'none'],
    ])
    expect(text).toBe('The agent repeated a failing call.')
  })

  test.each(['{}', '{"command":"ls"}', '{bad'])(
    'keeps a refused call of %s from running, and the model reads the refusal',
    async (args) => {
      const conversation = scriptedConversation({
        judge: () => [verdict.refuse('c1', 'Not on a Friday.')],
      })
      const { ran, requests } = await run(conversation, (n) => (n === 1 ? [['c1', args]] : 'ok'))
      expect(ran).toEqual([])
      expect(requests[1]?.input.at(-1)).toMatchObject({
        ...{ type: 'function_call_result', callId: 'c1' },
        output: { type: 'text', text: 'Not on a Friday.' },
      })
      expect(JSON.stringify(conversation.asked[1]?.body)).toContain(JSON.stringify(args))
    },
  )

  test('runs the allowed ones of parallel calls', async () => {
    const conversation = scriptedConversation({
      judge: () => [verdict.run('c1'), verdict.refuse('c2', 'no'), verdict.run('c3')],
    })
    const calls: Call[] = [
      ['c1', '{"command":"ls"}'],
      ['c2', '{"command":"rm"}'],
      ['c3', '{"command":"pwd"}'],
    ]
    const { ran } = await run(conversation, (n) => (n === 1 ? calls : 'ok'))
    expect(ran.toSorted()).toEqual(['ls', 'pwd'])
  })

  test('holds a call until a person has approved it', async () => {
    const conversation = scriptedConversation({
      judge: (_, n) => [n < 3 ? verdict.wait('c1') : verdict.run('c1')],
    })
    const { ran } = await run(conversation, (n) => (n === 1 ? [['c1', '{"command":"ls"}']] : 'ok'))
    expect(ran).toEqual(['ls'])
    expect(conversation.answered.length).toBeGreaterThanOrEqual(3)
  })

  test('refuses a call without a verdict, and a call that Weir cannot judge', async () => {
    const call = (n: number): Call[] | string => (n === 1 ? [['c1', '{"command":"ls"}']] : 'ok')
    expect((await run(scriptedConversation(), call)).ran).toEqual([])
    const broken = scriptedConversation({
      judge: (_, n) => {
        if (n === 2) throw new Error('the log is closed')
        return [verdict.run('c1')]
      },
    })
    const { ran, requests } = await run(broken, call)
    expect(ran).toEqual([])
    expect(JSON.stringify(requests[1]?.input.at(-1))).toContain('the log is closed')
  })
})

test('refuses a request whose history the provider keeps', async () => {
  const { model } = guardOpenAIAgents(scriptedConversation())
  const agent = new Agent({ name: 'ops', model: model(new ScriptedModel(() => 'ok')) })
  await expect(quietRunner().run(agent, 'go', { previousResponseId: 'resp_1' })).rejects.toThrow(
    'run the agent without previousResponseId',
  )
})

async function runAgent(
  way: 'run' | 'stream',
  conversation: GuestConversation,
  answers: (n: number) => Call[] | string,
) {
  const ran: string[] = []
  const exec = tool({
    name: 'exec',
    description: 'Run a command.',
    parameters: z.object({ command: z.string() }),
    execute: async ({ command }) => {
      ran.push(command)
      return 'done'
    },
  })
  const model = new ScriptedModel(answers)
  const weir = guardOpenAIAgents(conversation)
  const agent = new Agent({ name: 'ops', model: weir.model(model), tools: weir.tools([exec]) })
  const options = { maxTurns: 25 }
  let text: unknown
  if (way === 'run') text = (await quietRunner().run(agent, 'list the files', options)).finalOutput
  else {
    const streamed = await quietRunner().run(agent, 'list the files', { ...options, stream: true })
    await streamed.completed
    text = streamed.finalOutput
  }
  return { text, ran, requests: model.requests }
}

function quietRunner(): Runner {
  return new Runner({ tracingDisabled: true })
}

class ScriptedModel implements Model {
  readonly requests: (Omit<ModelRequest, 'input'> & { input: unknown[] })[] = []
  readonly #answers: (n: number) => Call[] | string

  constructor(answers: (n: number) => Call[] | string) {
    this.#answers = answers
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
                ...{ type: 'message', role: 'assistant', status: 'completed', id: 'm1' },
                content: [{ type: 'output_text', text: answer }],
              },
            ]
          : answer.map(([callId, text]) => ({
              ...{ type: 'function_call', callId, name: 'exec', arguments: text },
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
