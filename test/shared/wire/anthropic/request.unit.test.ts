import { describe, expect, it } from '@jest/globals'
import { messageRequest } from '../../../../shared/wire/anthropic/request.ts'
import type { ProviderRequest } from '../../../../shared/wire/exchange.ts'
import {
  agentOf,
  call,
  modelSays,
  result,
  tool,
  userSays,
} from '../../../services/llm-gateway/samples.ts'

const tools = [tool('read').declaration, tool('write').declaration]

function requestOf(fields: Partial<ProviderRequest> = {}, agent = agentOf()) {
  return messageRequest(agent, {
    nudge: null,
    tools,
    textOnly: false,
    rebuilt: false,
    history: [userSays('hello')],
    ...fields,
  })
}

/** Everything that a provider's cache compares, in its order, without the marks. */
function readingOrder(request: ReturnType<typeof requestOf>): string[] {
  const parts = [
    ...(request.tools ?? []),
    ...(request.system ?? []),
    ...request.messages.flatMap(({ role, content }) => [role, ...content]),
  ]
  return parts.map((part) =>
    JSON.stringify(typeof part === 'string' ? part : { ...part, cache_control: undefined }),
  )
}

describe('a request to Anthropic', () => {
  it('names the model and its limits, the tools that are offered and the system prompt', () => {
    expect(requestOf({}, agentOf({}, { temperature: 0.5 }))).toMatchObject({
      model: 'some-model',
      max_tokens: 1000,
      temperature: 0.5,
      tools: [
        {
          name: 'read',
          description: 'runs read',
          input_schema: { type: 'object', required: ['path'] },
        },
        { name: 'write', description: 'runs write' },
      ],
      system: [{ type: 'text', text: 'You are helpful.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    })
  })

  it('omits the settings that the agent omits', () => {
    const request = requestOf({ tools: [], textOnly: true }, agentOf({ system: ' ' }))
    for (const key of ['tools', 'tool_choice', 'system', 'temperature'])
      expect(request).not.toHaveProperty(key)
  })

  it('keeps the tools in a text-only round and forbids them', () => {
    expect(requestOf({ textOnly: true })).toMatchObject({
      tools: [{ name: 'read' }, { name: 'write' }],
      tool_choice: { type: 'none' },
    })
    expect(requestOf()).not.toHaveProperty('tool_choice')
  })

  it("shows a nudge as a further block of the system prompt, after the agent's own (I1)", () => {
    expect(requestOf({ nudge: 'Stop that.' }).system).toMatchObject([
      { text: 'You are helpful.' },
      { text: 'Stop that.' },
    ])
    expect(requestOf({ nudge: 'Stop that.' }, agentOf({ system: '' })).system).toEqual([
      { type: 'text', text: 'Stop that.' },
    ])
  })

  it('marks at most four places for the prompt cache, each at the end of a part that stays', () => {
    const request = requestOf({
      nudge: 'Stop that.',
      history: [userSays('a'), modelSays({ calls: [call()] }, { results: [result()] })],
    })
    expect(JSON.stringify(request).split('"cache_control"').length - 1).toBe(3)
    expect(request.tools?.at(-1)).toHaveProperty('cache_control')
    expect(request.system?.[0]).toHaveProperty('cache_control')
    expect(request.messages.at(-1)?.content.at(-1)).toHaveProperty('cache_control')
  })

  it('begins with the same bytes from round to round', () => {
    const first = [userSays('a')]
    const second = [
      ...first,
      modelSays({ text: 'I will', calls: [call()] }, { results: [result()] }),
    ]
    const before = readingOrder(requestOf({ history: first }))
    expect(readingOrder(requestOf({ history: second })).slice(0, before.length)).toEqual(before)
  })

  it('begins with the same tools and system prompt also where a nudge is shown', () => {
    const before = readingOrder(requestOf())
    expect(readingOrder(requestOf({ nudge: 'Stop that.' })).slice(0, 3)).toEqual(before.slice(0, 3))
  })
})
