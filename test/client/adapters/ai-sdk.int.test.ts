// The adapter in the real AI SDK, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
import { streamText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import { guardAiSdk } from '../../../client/adapters/ai-sdk.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import type { Piece } from '../../../shared/transcript/transcript.ts'
import { aiSdk } from '../../../shared/wire/ai-sdk/format.ts'
import type { Call, Scripts } from './agent.ts'
import { execTool, runAiSdk } from './ai-sdk-agent.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

describe.each(['generateText', 'streamText'] as const)('guardAiSdk in %s', (way) => {
  const run = (
    conversation: GuestConversation,
    answers: Scripts['answers'],
    more: { toolChoice?: 'required'; needsApproval?: boolean } = {},
  ) => runAiSdk(way, conversation, { answers, ...more })

  test('passes an answer through, and shows Weir the request with its tools', async () => {
    const conversation = scriptedConversation()
    const { text, prompts } = await run(conversation, () => 'hello')
    expect(text).toBe('hello')
    expect(prompts[0]?.at(-1)).toMatchObject({ role: 'user' })
    expect(conversation.asked).toMatchObject([
      { format: 'ai-sdk', body: { tools: [{ name: 'exec', inputSchema: { type: 'object' } }] } },
    ])
    expect(conversation.answered).toMatchObject([{ answer: { content: [{ text: 'hello' }] } }])
  })

  test('ends the loop of an empty call in text, after the actions of Weir', async () => {
    const conversation = scriptedConversation({ advise: advisesLoop })
    const { text, prompts, choices } = await run(conversation, () => [['c1', '{}']])
    expect(prompts).toHaveLength(4)
    expect(JSON.stringify(prompts[2])).toContain('failed the same way twice')
    expect(JSON.stringify(prompts[3])).not.toContain('failed the same way twice')
    expect(choices).toEqual(['auto', 'auto', 'auto', 'none'])
    expect(text).toBe('Weir ended the turn: The agent repeated a failing call.')
  })

  test('ends the run in text also if its caller forces a call in each step', async () => {
    const conversation = scriptedConversation({ advise: (n) => (n === 1 ? {} : advisesLoop(4)) })
    const answers = (n: number): Call[] | string => (n === 1 ? [['c1', '{}']] : 'I stop.')
    const { text, choices } = await run(conversation, answers, { toolChoice: 'required' })
    expect(choices).toEqual(['required', 'none'])
    expect(text).toBe('I stop.')
  })

  test('keeps a refused call from running, and the model reads the refusal', async () => {
    const conversation = scriptedConversation({
      judge: () => [verdict.refuse('c1', 'Not on a Friday.')],
    })
    const { ran, prompts } = await run(conversation, (n) =>
      n === 1 ? [['c1', '{"command":"ls"}']] : 'ok',
    )
    expect(ran).toEqual([])
    expect(prompts[1]?.at(-1)).toMatchObject({
      content: [{ toolCallId: 'c1', output: { value: 'Not on a Friday.' } }],
    })
  })

  test.each(['{}', '{bad'])(
    'shows the model the refusal of %s, which the SDK never runs',
    async (args) => {
      const conversation = scriptedConversation({
        judge: () => [verdict.refuse('c1', 'exec needs a command.')],
      })
      const { ran, prompts } = await run(conversation, (n) => (n === 1 ? [['c1', args]] : 'ok'))
      expect(ran).toEqual([])
      expect(prompts[1]?.at(-1)).toMatchObject({
        content: [
          { toolCallId: 'c1', output: { type: 'error-text', value: 'exec needs a command.' } },
        ],
      })
      expect(callsOf(conversation.asked[1]?.body)).toEqual([args])
    },
  )

  test('runs the allowed ones of parallel calls, and shows Weir their own argument texts', async () => {
    const conversation = scriptedConversation({
      judge: () => [verdict.run('c1'), verdict.refuse('c2', 'no'), verdict.run('c3')],
    })
    const calls: Call[] = [
      ['c1', '{ "command": "ls" }'],
      ['c2', '{"command":"rm"}'],
      ['c3', '{"command":"pwd","extra":1}'],
    ]
    const { ran } = await run(conversation, (n) => (n === 1 ? calls : 'ok'))
    expect(ran).toEqual(['ls', 'pwd'])
    expect(callsOf(conversation.asked[1]?.body)).toEqual(calls.map(([, args]) => args))
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
    const silent = scriptedConversation()
    const call = (n: number): Call[] | string => (n === 1 ? [['c1', '{"command":"ls"}']] : 'ok')
    expect((await run(silent, call)).ran).toEqual([])
    const broken = scriptedConversation({
      judge: (_, n) => {
        if (n === 2) throw new Error('the log is closed')
        return [verdict.run('c1')]
      },
    })
    const { ran, prompts } = await run(broken, call)
    expect(ran).toEqual([])
    expect(JSON.stringify(prompts[1]?.at(-1))).toContain('the log is closed')
  })

  test("leaves a tool's own approval in force", async () => {
    const conversation = scriptedConversation({ judge: () => [verdict.run('c1')] })
    const { ran, requested } = await run(conversation, () => [['c1', '{"command":"ls"}']], {
      needsApproval: true,
    })
    expect(ran).toEqual([])
    expect(requested).toBe(1)
  })
})

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
  expect(argumentsIn(answer)).toEqual([weir.input])
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

/** The argument texts that Weir reads in a history. */
function callsOf(body: unknown): string[] {
  const { pieces } = aiSdk.transcript.read({ request: body, answer: undefined }, 'body')
  return argumentsIn(pieces)
}

function argumentsIn(pieces: Piece[]): string[] {
  return pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.arguments] : []))
}
