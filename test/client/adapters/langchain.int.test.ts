// The adapter in the real LangChain, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { guardLangChain } from '../../../client/adapters/langchain.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

type Call = [id: string, args: string]

describe.each(['invoke', 'stream'] as const)('guardLangChain in %s', (way) => {
  const run = (conversation: GuestConversation, answers: (n: number) => Call[] | string) =>
    runAgent(way, conversation, answers)

  test('passes an answer through, and shows Weir the request with its tools', async () => {
    const conversation = scriptedConversation()
    const { text, prompts } = await run(conversation, () => 'hello')
    expect(text).toBe('hello')
    expect(prompts[0]?.at(-1)?.type).toBe('human')
    expect(conversation.asked).toMatchObject([
      {
        format: 'langchain',
        body: {
          messages: [{ type: 'human', content: 'list the files' }],
          tools: [{ name: 'exec', schema: expect.anything() }],
        },
      },
    ])
    expect(conversation.answered).toMatchObject([{ answer: { type: 'ai', content: 'hello' } }])
  })

  test('ends the loop of an empty call in text, after the rungs of Weir', async () => {
    const conversation = scriptedConversation({
      advise: advisesLoop,
      judge: () => [verdict.run('c1')],
    })
    const { text, prompts, choices } = await run(conversation, () => [['c1', '{}']])
    expect(prompts).toHaveLength(4)
    expect(prompts[2]?.at(-1)?.content).toContain('failed the same way twice')
    expect(JSON.stringify(prompts[3])).not.toContain('failed the same way twice')
    expect(choices).toEqual([undefined, undefined, undefined, 'none'])
    expect(text).toBe('The agent repeated a failing call.')
  })

  test('lets the model end in text if Weir ends the turn before its first answer', async () => {
    const conversation = scriptedConversation({
      advise: () => ({ rung: 'end', reason: 'An operator stopped this agent.' }),
    })
    const { text, prompts, choices } = await run(conversation, () => 'I stop.')
    expect([text, choices]).toEqual(['I stop.', ['none']])
    expect(prompts[0]?.at(-1)?.content).toBe('An operator stopped this agent.')
  })

  test.each(['{}', '{"command":"ls"}', '{bad'])(
    'keeps a refused call of %s from running, and the model reads the refusal',
    async (args) => {
      const conversation = scriptedConversation({
        judge: (_, n) => (n < 4 ? [verdict.refuse('c1', 'Not on a Friday.')] : []),
      })
      const { text, ran, prompts } = await run(conversation, (n) =>
        n === 1 ? [['c1', args]] : 'ok',
      )
      expect([text, ran]).toEqual(['ok', []])
      expect(prompts[1]?.at(-1)).toMatchObject({
        ...{ type: 'tool', tool_call_id: 'c1', status: 'error', content: 'Not on a Friday.' },
      })
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

  test('answers an unreadable call beside one that runs', async () => {
    const conversation = scriptedConversation({
      judge: () => [verdict.run('c1'), verdict.refuse('c2', 'The arguments are no JSON.')],
    })
    const { ran, prompts } = await run(conversation, (n) =>
      n === 1
        ? [
            ['c1', '{"command":"ls"}'],
            ['c2', '{bad'],
          ]
        : 'ok',
    )
    expect(ran).toEqual(['ls'])
    const results = prompts[1]?.filter(({ type }) => type === 'tool') ?? []
    expect(results.map(({ content }) => content).toSorted()).toEqual([
      'The arguments are no JSON.',
      'done',
    ])
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
    const { ran, prompts } = await run(broken, call)
    expect(ran).toEqual([])
    expect(prompts[1]?.at(-1)?.content).toContain('the log is closed')
  })
})

test('does not end a run with the refusal of a tool whose result is the answer', async () => {
  const conversation = scriptedConversation({ judge: () => [verdict.refuse('c1', 'no')] })
  const { text } = await runAgent(
    'invoke',
    conversation,
    (n) => (n === 1 ? [['c1', '{"command":"ls"}']] : 'ok'),
    { returnDirect: true },
  )
  expect(text).toBe('ok')
})

test('guards each thread of an agent as its own conversation', async () => {
  const conversation = scriptedConversation()
  const threads: (string | undefined)[] = []
  const agent = createAgent({
    model: new ScriptedModel(() => 'ok'),
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

async function runAgent(
  way: 'invoke' | 'stream',
  conversation: GuestConversation,
  answers: (n: number) => Call[] | string,
  more: { returnDirect?: boolean } = {},
) {
  const ran: string[] = []
  const exec = tool(
    async ({ command }: { command: string }) => {
      ran.push(command)
      return 'done'
    },
    {
      name: 'exec',
      description: 'Run a command.',
      schema: z.object({ command: z.string() }),
      ...more,
    },
  )
  const model = new ScriptedModel(answers)
  const agent = createAgent({ model, tools: [exec], middleware: [guardLangChain(conversation)] })
  const input = { messages: 'list the files' }
  let messages: BaseMessage[] = []
  if (way === 'invoke') messages = (await agent.invoke(input)).messages
  else
    for await (const state of await agent.stream(input, { streamMode: 'values' }))
      messages = state.messages as BaseMessage[]
  return { text: messages.at(-1)?.content, ran, prompts: model.prompts, choices: model.choices }
}

class ScriptedModel extends BaseChatModel {
  readonly prompts: BaseMessage[][] = []
  readonly choices: unknown[] = []
  readonly #answers: (n: number) => Call[] | string

  constructor(answers: (n: number) => Call[] | string) {
    super({})
    this.#answers = answers
  }

  override _llmType(): string {
    return 'scripted'
  }

  override bindTools(_: unknown[], options?: Record<string, unknown>) {
    return this.withConfig({ ...options })
  }

  override async _generate(
    messages: BaseMessage[],
    options: { tool_choice?: unknown },
  ): Promise<ChatResult> {
    const message = this.#next(messages, options)
    return { generations: [{ text: '', message }] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: { tool_choice?: unknown },
  ) {
    const { content, tool_calls, invalid_tool_calls } = this.#next(messages, options)
    const calls = [...(tool_calls ?? []), ...(invalid_tool_calls ?? [])]
    const tool_call_chunks = calls.map(({ id, name, args }, index) => ({
      ...{ type: 'tool_call_chunk' as const, id, name, index },
      args: typeof args === 'string' ? args : JSON.stringify(args),
    }))
    const message = new AIMessageChunk({ content, tool_call_chunks })
    yield new ChatGenerationChunk({ text: '', message })
  }

  #next(messages: BaseMessage[], { tool_choice }: { tool_choice?: unknown }): AIMessage {
    this.prompts.push(messages)
    this.choices.push(tool_choice)
    const answer = this.#answers(this.prompts.length)
    if (typeof answer === 'string') return new AIMessage(answer)
    const [tool_calls, invalid_tool_calls] = [[], []] as [object[], object[]]
    for (const [id, args] of answer)
      try {
        tool_calls.push({ id, name: 'exec', args: JSON.parse(args) as object })
      } catch {
        invalid_tool_calls.push({ id, name: 'exec', args, type: 'invalid_tool_call' })
      }
    return new AIMessage({ content: '', tool_calls, invalid_tool_calls } as object)
  }
}
