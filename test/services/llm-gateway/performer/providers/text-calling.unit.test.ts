import { describe, expect, it } from '@jest/globals'
import { recover } from '../../../../../services/accumulator/dialects/recover.ts'
import { inItsWords } from '../../../../../services/llm-gateway/performer/providers/text-calling.ts'
import type { Agent } from '../../../../../shared/agents/agents.ts'
import type { HistoryEntry } from '../../../../../shared/contract/messages.ts'
import { messageRequest } from '../../../../../shared/wire/anthropic/request.ts'
import type { ProviderRequest } from '../../../../../shared/wire/exchange.ts'
import { chatRequest } from '../../../../../shared/wire/openai-chat/request/request.ts'
import { agentOf, call, modelSays, result, tool, userSays } from '../../samples.ts'

const agent: Agent = agentOf({}, { toolCalls: 'text' })
const tools = [tool('read').declaration, tool('write').declaration]
const offered = tools.map(({ name, schema }) => ({ name, schema }))

function asked(history: HistoryEntry[], fields: Partial<ProviderRequest> = {}): ProviderRequest {
  return inItsWords(agent, {
    nudge: null,
    tools,
    textOnly: false,
    rebuilt: false,
    history,
    ...fields,
  })
}

const round: HistoryEntry[] = [
  userSays('hello'),
  modelSays(
    { calls: [call({ raw: '{ "path": "x" }' })] },
    { results: [result({ text: 'the text of x' })] },
  ),
]
const two: HistoryEntry = modelSays(
  { calls: [call(), call({ ordinal: 1, name: 'write' })] },
  { round: 2, results: [result(), result({ ordinal: 1, status: 'error', text: 'no' })] },
)

describe('a model without native tool calls', () => {
  it('gets the form, an example and the tools with schemas after its instructions', () => {
    const { system = '' } = asked([])
    expect(system).toMatch(/^You are helpful\.\n\nYou can call tools\./)
    expect(system).toContain('\n{"name": "read", "arguments": {"path":"..."}}\n')
    expect(system).toContain('Do not write the arguments beside the name')
    expect(system).toContain('Do not put it into a code fence')
    for (const { name, schema } of tools)
      expect(system).toContain(`- ${name}: runs ${name}\n  ${schema}`)
  })

  it('gets an example that is itself a call', () => {
    const example =
      asked([])
        .system?.split('\n')
        .find((line) => line.startsWith('{"name": "read"')) ?? ''
    expect(recover({ text: example, offered })).toMatchObject({
      kind: 'calls',
      calls: [{ name: 'read', raw: '{"path":"..."}' }],
    })
  })

  it('gets no tools, and no native call or result, from either provider', () => {
    const request = asked([...round, two])
    const anthropic = messageRequest(agent, request)
    expect(anthropic).not.toHaveProperty('tools')
    expect(anthropic.system).toMatchObject([{ text: request.system }])
    expect(anthropic.messages).toMatchObject([
      { role: 'user', content: [{ text: 'hello' }] },
      { role: 'assistant', content: [{ text: '{"name": "read", "arguments": { "path": "x" }}' }] },
      { role: 'user', content: [{ text: 'Result of the tool read (ok):\nthe text of x' }] },
      {
        role: 'assistant',
        content: [
          { text: expect.stringMatching(/^\[\{"name": "read", .*,\n\{"name": "write", .*\]$/) },
        ],
      },
      {
        role: 'user',
        content: [
          { text: 'Result of the tool read (ok):\ndone\n\nResult of the tool write (error):\nno' },
        ],
      },
    ])
    const chat = chatRequest(
      { ...agent, model: { ...agent.model, provider: 'openai-chat' } },
      request,
    )
    expect(chat).not.toHaveProperty('tools')
    expect(chat.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ])
  })

  it('reads its calls in the shape in which they are taken', () => {
    for (const { response } of asked([...round, two]).history)
      if (response !== null)
        expect(recover({ text: response.text, offered })).toMatchObject({ kind: 'calls' })
  })

  it('gets the same bytes for earlier entries when the history grows', () => {
    const before = JSON.stringify(messageRequest(agent, asked(round)).messages.slice(0, 2))
    const { messages, system } = messageRequest(agent, asked([...round, two]))
    expect(JSON.stringify(messages.slice(0, 2))).toBe(before)
    expect(system).toEqual(messageRequest(agent, asked(round)).system)
  })

  it('gets no instructions without tools', () =>
    expect(asked([], { tools: [] }).system).toBe('You are helpful.'))
})

describe('a model with tool calls', () => {
  it('gets an unchanged request', () => {
    const request: ProviderRequest = {
      nudge: null,
      tools,
      textOnly: false,
      rebuilt: false,
      history: round,
    }
    expect(inItsWords(agentOf(), request)).toBe(request)
  })
})
