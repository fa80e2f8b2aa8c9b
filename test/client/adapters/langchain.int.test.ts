// The adapter in the real LangChain, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
import { createAgent } from 'langchain'
import { guardLangChain } from '../../../client/adapters/langchain.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import type { Call, Scripts } from './agent.ts'
import { runLangChain, ScriptedModel } from './langchain-agent.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

describe.each(['invoke', 'stream'] as const)('guardLangChain in %s', (way) => {
  const run = (conversation: GuestConversation, answers: Scripts['answers']) =>
    runLangChain(way, conversation, { answers })

  test('passes an answer through, and shows Weir the request with its tools, and the end of the answer', async () => {
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
    expect(conversation.answered).toMatchObject([
      {
        answer: {
          type: 'ai',
          content: 'hello',
          response_metadata: { finish_reason: 'length' },
        },
      },
    ])
  })

  test('ends the loop of an empty call in text, after the actions of Weir', async () => {
    const conversation = scriptedConversation({
      advise: advisesLoop,
      judge: () => [verdict.run('c1')],
    })
    const { text, prompts, choices } = await run(conversation, () => [['c1', '{}']])
    expect(prompts).toHaveLength(4)
    expect(prompts[2]?.at(-1)?.content).toContain('failed the same way twice')
    expect(JSON.stringify(prompts[3])).not.toContain('failed the same way twice')
    expect(choices).toEqual([undefined, undefined, undefined, 'none'])
    expect(text).toBe('Weir ended the turn: The agent repeated a failing call.')
  })

  test('lets the model end in text if Weir ends the turn before its first answer', async () => {
    const conversation = scriptedConversation({
      advise: () => ({ action: 'end', reason: 'An operator stopped this agent.' }),
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
        type: 'tool',
        tool_call_id: 'c1',
        status: 'error',
        content: 'Not on a Friday.',
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
