// The rules of one adapter that its SDK needs. All adapters keep adapters.int.test.ts.

import { describe, expect, test } from '@jest/globals'
import { Agent } from '@openai/agents'
import { generateText, streamText, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { AIMessage, createAgent, HumanMessage, ToolMessage } from 'langchain'
import { z } from 'zod'
import { guardAiSdk } from '../../../client/adapters/ai-sdk.ts'
import { guardLangChain } from '../../../client/adapters/langchain.ts'
import { guardOpenAIAgents } from '../../../client/adapters/openai-agents.ts'
import type { GuestAnswer } from '../../../client/guard/guest-conversation.ts'
import { aiSdk } from '../../../shared/wire/ai-sdk/format.ts'
import type { Call } from './agent.ts'
import { execTool, runAiSdk } from './ai-sdk-agent.ts'
import { ScriptedModel as LangChainModel, runLangChain } from './langchain-agent.ts'
import { ScriptedModel as AgentsModel, quietRunner } from './openai-agents-agent.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

describe.each(['generateText', 'streamText'] as const)('guardAiSdk in %s', (way) => {
  test('ends the run in text also if its caller forces a call in each step', async () => {
    const conversation = scriptedConversation({ advise: (n) => (n === 1 ? {} : advisesLoop(4)) })
    const answers = (n: number): Call[] | string => (n === 1 ? [['c1', '{}']] : 'I stop.')
    const { text, choices } = await runAiSdk(way, conversation, { answers, toolChoice: 'required' })
    expect(choices).toEqual(['required', 'none'])
    expect(text).toBe('I stop.')
  })

  test("leaves a tool's own approval in force", async () => {
    const conversation = scriptedConversation({ judge: () => [verdict.run('c1')] })
    const { ran, requested } = await runAiSdk(way, conversation, {
      answers: () => [['c1', '{"command":"ls"}']],
      needsApproval: true,
    })
    expect(ran).toEqual([])
    expect(requested).toBe(1)
  })
})

describe('guardAiSdk', () => {
  test('refuses a call if the middleware is not installed', async () => {
    const { toolApproval } = guardAiSdk(scriptedConversation())
    const toolCall = { toolCallId: 'c1', toolName: 'exec', input: {} }
    expect(await toolApproval({ toolCall, tools: {}, messages: [] })).toEqual({
      type: 'denied',
      reason: 'the model of exec has no middleware of Weir',
    })
  })

  test('judges a call again if a person approved it in the SDK and another process runs it', async () => {
    const conversation = scriptedConversation({ judge: () => [verdict.run('c1')] })
    const { toolApproval } = guardAiSdk(conversation)
    const weir = { round: 'of another process', input: '{ "command": "ls" }' }
    const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'exec', input: { command: 'ls' } }
    const part = { ...call, providerOptions: { weir } }
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [part] },
      {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }],
      },
    ]
    expect(await toolApproval({ toolCall: part, tools: {}, messages })).toBeUndefined()
    const answer = aiSdk.transcript.answer(conversation.answered[0]?.answer, 'answer')
    const calls = answer.filter(({ kind }) => kind === 'call')
    expect(calls).toMatchObject([{ arguments: weir.input }])
  })

  test.each<[string, object, boolean?]>([
    ['other arguments', { input: { command: 'rm -rf /' } }],
    ['another tool', { toolName: 'erase' }],
    ['other arguments and the text of the old ones', { input: { command: 'rm' } }, true],
  ])('refuses a call that comes back from a page with %s', async (_, changed, isMarked = false) => {
    // The call of the page is judged as it stands, if it is judged at all.
    const judge = ({ answer }: GuestAnswer) => [
      JSON.stringify(answer).includes('erase') ? verdict.refuse('c1', 'no') : verdict.run('c1'),
    ]
    const { toolApproval, middleware } = guardAiSdk(scriptedConversation({ judge }))
    const call = {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'exec',
      input: '{"command":"ls"}',
    }
    // biome-ignore lint/suspicious/noExplicitAny: the SDK passes more than the middleware reads
    const { content } = await (middleware.wrapGenerate as any)({
      model: { provider: 'p', modelId: 'm', doGenerate: async () => ({ content: [call] }) },
      params: { prompt: [] },
    })
    const [{ providerMetadata }] = content
    const weir = { ...providerMetadata.weir, ...(isMarked && { input: call.input }) }
    const part = { ...call, input: { command: 'ls' }, providerOptions: { weir } }
    expect(await toolApproval({ toolCall: part, tools: {}, messages: [] })).toBeUndefined()
    const other = { ...part, ...changed }
    for (const messages of [[], [{ role: 'assistant', content: [other] }]])
      expect([changed, await toolApproval({ toolCall: other, tools: {}, messages })]).toEqual([
        changed,
        expect.objectContaining({ type: 'denied' }),
      ])
  })

  test.each([
    ['{"amount":"7"}', [{ amount: 7, currency: 'EUR' }]],
    ['', [{ amount: 1, currency: 'EUR' }]],
    ['{"amount":', []],
  ])('knows a call with %j again whose schema fills in defaults', async (input, expected) => {
    const ran: unknown[] = []
    const weir = guardAiSdk(scriptedConversation({ judge: () => [verdict.run('c1')] }))
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }),
    })
    await generateText({
      model: wrapLanguageModel({ model, middleware: weir.middleware }),
      tools: {
        pay: tool({
          inputSchema: z.object({
            amount: z.coerce.number().default(1),
            currency: z.string().default('EUR'),
          }),
          execute: async (input) => void ran.push(input),
        }),
      },
      toolApproval: weir.toolApproval,
      experimental_repairToolCall: async ({ toolCall }) => ({ ...toolCall, input: '{"amount":9}' }),
      prompt: 'go',
    })
    expect(ran).toEqual(expected)
  })

  test('starts no call of a stream that breaks before its end', async () => {
    const ran: string[] = []
    const weir = guardAiSdk(scriptedConversation({ judge: () => [verdict.run('c1')] }))
    const broken = new MockLanguageModelV4({
      doStream: async () => ({
        stream: simulateReadableStream({
          chunks: [
            { type: 'stream-start' as const, warnings: [] },
            {
              type: 'tool-call' as const,
              toolCallId: 'c1',
              toolName: 'exec',
              input: '{"command":"ls"}',
            },
          ],
        }),
      }),
    })
    const { steps } = streamText({
      model: wrapLanguageModel({ model: broken, middleware: weir.middleware }),
      tools: { exec: execTool(ran) },
      toolApproval: weir.toolApproval,
      prompt: 'go',
      maxRetries: 0,
      onError: () => {},
    })
    await Promise.resolve(steps).catch(() => [])
    expect(ran).toEqual([])
  })
})

describe('guardLangChain', () => {
  test.each(['invoke', 'stream'] as const)(
    'lets the model end in text if Weir ends the turn before its first answer: %s',
    async (way) => {
      const conversation = scriptedConversation({
        advise: () => ({ action: 'end', reason: 'An operator stopped this agent.' }),
      })
      const { text, requests, choices } = await runLangChain(way, conversation, {
        answers: () => 'I stop.',
      })
      expect([text, choices]).toEqual(['I stop.', ['none']])
      expect(requests[0]?.at(-1)?.content).toBe('An operator stopped this agent.')
    },
  )

  test('does not end a run with the refusal of a tool whose result is the answer', async () => {
    const conversation = scriptedConversation({ judge: () => [verdict.refuse('c1', 'no')] })
    const { text } = await runLangChain('invoke', conversation, {
      answers: (n) => (n === 1 ? [['c1', '{"command":"ls"}']] : 'ok'),
      returnDirect: true,
    })
    expect(text).toBe('ok')
  })

  test('guards each thread of an agent as its own conversation', async () => {
    const conversation = scriptedConversation()
    const threads: (string | undefined)[] = []
    const agent = createAgent({
      model: new LangChainModel(() => 'ok'),
      tools: [],
      middleware: [
        guardLangChain(({ configurable }) => {
          threads.push(configurable?.thread_id)
          return conversation
        }),
      ],
    })
    for (const thread_id of ['a', 'b'])
      await agent.invoke({ messages: 'hello' }, { configurable: { thread_id } })
    expect(new Set(threads)).toEqual(new Set(['a', 'b']))
  })
})

describe('a verdict is one on an id, a name and arguments', () => {
  const changes: [string, object, boolean][] = [
    ['the same', { name: 'exec', args: { command: 'ls' } }, true],
    ['other arguments', { name: 'exec', args: { command: 'rm' } }, false],
    ['another tool', { name: 'erase', args: { command: 'ls' } }, false],
  ]

  test.each(changes)('in LangChain, for a call with %s', async (_, changed, runs) => {
    const ran: unknown[] = []
    const { wrapToolCall } = guardLangChain(
      scriptedConversation({ judge: () => [verdict.run('c1')] }),
    )
    const call = { type: 'tool_call', id: 'c1', name: 'exec', args: { command: 'ls' } }
    const messages = [
      new HumanMessage('go'),
      new AIMessage({ content: '', tool_calls: [call as never] }),
    ]
    const request = { toolCall: { ...call, ...changed }, state: { messages }, runtime: {} }
    await wrapToolCall?.(request as never, async ({ toolCall, tool: given }) => {
      if (given === undefined) ran.push(toolCall)
      return new ToolMessage({ content: '', tool_call_id: 'c1' })
    })
    expect(ran).toHaveLength(runs ? 1 : 0)
  })

  test.each(changes)('in OpenAI Agents, for a call with %s', async (_, changed, runs) => {
    const { inputGuardrail, model } = guardOpenAIAgents(
      scriptedConversation({ judge: () => [verdict.run('c1')] }),
    )
    const scripted = model(new AgentsModel(() => [['c1', '{"command": "ls"}']]))
    await scripted.getResponse({ input: 'go', modelSettings: {}, tools: [], handoffs: [] } as never)
    const { name, args } = changed as { name: string; args: object }
    const toolCall = { callId: 'c1', name, arguments: JSON.stringify(args) }
    const { behavior } = await inputGuardrail.run({ toolCall } as never)
    expect(behavior.type).toBe(runs ? 'allow' : 'rejectContent')
  })
})

describe('guardOpenAIAgents', () => {
  test('refuses a request whose history the provider keeps', async () => {
    const { model } = guardOpenAIAgents(scriptedConversation())
    const agent = new Agent({ name: 'ops', model: model(new AgentsModel(() => 'ok')) })
    await expect(quietRunner().run(agent, 'go', { previousResponseId: 'resp_1' })).rejects.toThrow(
      'run the agent without previousResponseId',
    )
  })
})
