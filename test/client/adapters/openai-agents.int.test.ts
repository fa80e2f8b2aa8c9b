// The adapter in the real OpenAI Agents SDK, with a scripted model and a scripted Weir.

import { describe, expect, test } from '@jest/globals'
import { Agent } from '@openai/agents'
import { guardOpenAIAgents } from '../../../client/adapters/openai-agents.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import type { Call, Scripts } from './agent.ts'
import { quietRunner, runOpenAIAgents, ScriptedModel } from './openai-agents-agent.ts'
import { advisesLoop, scriptedConversation, verdict } from './scripted-conversation.ts'

describe.each(['run', 'stream'] as const)('guardOpenAIAgents in %s', (way) => {
  const run = (conversation: GuestConversation, answers: Scripts['answers']) =>
    runOpenAIAgents(way, conversation, { answers })

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

  test('ends the loop of an empty call in text, after the actions of Weir', async () => {
    const conversation = scriptedConversation({ advise: advisesLoop })
    const { text, requests } = await run(conversation, (n) => [[`c${n}`, '{}']])
    expect(requests).toHaveLength(4)
    expect(JSON.stringify(requests[2]?.input)).toContain('failed the same way twice')
    expect(JSON.stringify(requests[3]?.input)).not.toContain('failed the same way twice')
    expect(requests.map(({ modelSettings }) => modelSettings.toolChoice)).toEqual([
      ...[undefined, undefined, undefined, 'none'],
    ])
    expect(text).toBe('Weir ended the turn: The agent repeated a failing call.')
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
        type: 'function_call_result',
        callId: 'c1',
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
