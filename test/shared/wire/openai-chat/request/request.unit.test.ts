import { describe, expect, it } from '@jest/globals'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import type { ProviderRequest } from '../../../../../shared/wire/exchange.ts'
import { chatRequest } from '../../../../../shared/wire/openai-chat/request/request.ts'
import {
  agentOf,
  call,
  modelSays,
  result,
  tool,
  userSays,
} from '../../../../services/llm-gateway/samples.ts'

const tools = [tool('read').declaration, tool('write').declaration]
const agentAt = (baseUrl?: string, fields: Partial<Agent['model']> = {}) =>
  agentOf({}, { provider: 'openai-chat', ...(baseUrl && { baseUrl }), ...fields })

function requestOf(fields: Partial<ProviderRequest> = {}, agent = agentAt()) {
  return chatRequest(agent, {
    nudge: null,
    tools,
    textOnly: false,
    rebuilt: false,
    history: [userSays('hello')],
    ...fields,
  })
}

describe('a Chat Completions request', () => {
  it('names the model and its limits, the tools that are offered and the system prompt, and streams with usage', () => {
    expect(requestOf({}, agentAt(undefined, { temperature: 0.5 }))).toEqual({
      model: 'some-model',
      messages: [
        { role: 'system', content: 'You are helpful.' },
        { role: 'user', content: 'hello' },
      ],
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: JSON.parse(schema) },
      })),
      max_completion_tokens: 1000,
      temperature: 0.5,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('omits the settings that the agent omits', () => {
    const request = requestOf({ tools: [], textOnly: true }, { ...agentAt(), system: ' ' })
    for (const key of ['tools', 'tool_choice', 'temperature'])
      expect(request).not.toHaveProperty(key)
    expect(request.messages).toEqual([{ role: 'user', content: 'hello' }])
  })

  it('keeps the tools in a text-only round and forbids them', () => {
    expect(requestOf({ textOnly: true })).toMatchObject({
      tools: [{ function: { name: 'read' } }, {}],
      tool_choice: 'none',
    })
    expect(requestOf()).not.toHaveProperty('tool_choice')
  })

  it('shows a nudge as a further system message before the conversation (I1)', () => {
    expect(requestOf({ nudge: 'Stop that.' }).messages).toEqual([
      { role: 'system', content: 'You are helpful.' },
      { role: 'system', content: 'Stop that.' },
      { role: 'user', content: 'hello' },
    ])
    expect(requestOf({ nudge: 'Stop \ud83d' }, { ...agentAt(), system: '' }).messages[0]).toEqual({
      role: 'system',
      content: 'Stop \ufffd',
    })
  })

  it('begins with the same bytes in each round: tools first, then messages', () => {
    const read = (history: ProviderRequest['history'], nudge: string | null = null) => {
      const { tools, messages } = requestOf({ history, nudge })
      return JSON.stringify([tools, ...messages]).replace(/\]$/, '')
    }
    const first = [userSays('a')]
    const second = [
      ...first,
      modelSays({ text: 'I will', calls: [call()] }, { results: [result()] }),
    ]
    const third = [...second, modelSays({ text: 'done' }, { round: 2 }), userSays('b', { turn: 1 })]
    expect(read(second).startsWith(read(first))).toBe(true)
    expect(read(third).startsWith(read(second))).toBe(true)
    const conversation = read(second).indexOf(',{"role":"user"')
    expect(read(second, 'Stop that.').slice(0, conversation)).toBe(
      read(second).slice(0, conversation),
    )
  })
})

describe('a server', () => {
  it.each([
    [undefined, 'max_completion_tokens', true],
    ['https://eu.api.openai.com/v1', 'max_completion_tokens', true],
    ['https://some.openai.azure.com/openai/v1', 'max_completion_tokens', true],
    ['https://api.deepseek.com', 'max_tokens', true],
    ['http://localhost:8080/v1', 'max_tokens', true],
    ['https://notopenai.com', 'max_tokens', true],
    ['https://api.mistral.ai/v1', 'max_tokens', false],
  ])('to %s has the limit as %s, and requests usage: %s', (baseUrl, limit, asks) => {
    const request = requestOf({}, agentAt(baseUrl))
    expect(request).toHaveProperty(limit, 1000)
    expect(request).not.toHaveProperty(
      limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
    )
    expect('stream_options' in request).toBe(asks)
  })
})
