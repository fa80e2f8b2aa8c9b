// Rounds that forbid tool calls, against servers that cannot express this: the real SDKs, and
// servers that answer 400 like Bedrock.

import { afterEach, describe, expect, it } from '@jest/globals'
import {
  inPlainText,
  obstacleIn,
} from '../../../../../services/llm-gateway/performer/providers/plain-request.ts'
import { toolRef } from '../../../../../shared/agents/agents.ts'
import type { HistoryEntry, ModelRequest } from '../../../../../shared/contract/messages.ts'
import type { ProviderRequest } from '../../../../../shared/wire/exchange.ts'
import { formRefusedBy } from '../../../../../shared/wire/faults/fault-table.ts'
import {
  type Api,
  type Body,
  closeServers,
  gatewayBefore,
  type Refusal,
} from '../../gateway-before.ts'
import { agentOf, call, modelSays, result, tool, userSays } from '../../samples.ts'

afterEach(closeServers)

/** The history as the model gets it, in any form. */
const toldIn = ({ messages, input }: Body) => JSON.stringify(messages ?? input)
const speaksOfCalls = (body: Body) =>
  /tool_use|tool_calls|tool_result|"tool"|function_call/.test(toldIn(body))

const bedrock =
  'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
const noneRefused = (body: Body): Refusal =>
  JSON.stringify(body.tool_choice ?? '').includes('none')
    ? { status: 400, message: 'Unknown parameter in toolConfig.toolChoice: "none"' }
    : undefined
const toolsDemanded = (body: Body): Refusal =>
  speaksOfCalls(body) && !body.tools ? { status: 400, message: bedrock } : undefined

const history: HistoryEntry[] = [
  userSays('hello'),
  modelSays(
    {
      text: 'I look.',
      calls: [
        call({ raw: '{"path":"x"}' }),
        call({ ordinal: 1, id: 'toolu_2', raw: '{"path":"y"}' }),
      ],
    },
    {
      results: [
        result({ text: 'x is here' }),
        result({ ordinal: 1, status: 'error', text: 'y is not' }),
      ],
    },
  ),
]

const gatewayOf = (api: Api, refuse: (body: Body) => Refusal) => {
  const { bodies, ask } = gatewayBefore({ api, refuse })
  return { bodies, ask: (fields: Partial<ModelRequest>) => ask(history, fields) }
}
const tools = ['read', 'write'].map((name) => toolRef(tool(name).declaration))
const textOnly = { tools, callsLeft: 0 }
const apis: Api[] = ['anthropic', 'openai-chat', 'openai-responses']

describe.each(apis)('a server of %s', (api) => {
  it('that accepts tool_choice none gets it with the declarations', async () => {
    const { bodies, ask } = gatewayOf(api, () => undefined)
    expect((await ask(textOnly)).failed).toEqual([])
    expect(bodies).toMatchObject([{ tools: [{}, {}], tool_choice: expect.anything() }])
    expect(speaksOfCalls(bodies[0] as Body)).toBe(true)
  })

  it.each([
    ['knows no tool_choice none', noneRefused],
    [
      'does not route it',
      (body: Body) =>
        body.tools
          ? { status: 404, message: "No endpoints support the provided 'tool_choice'" }
          : undefined,
    ],
  ])('that %s gets it once more in plain text, and from then on at once', async (_, refuse) => {
    const { bodies, ask } = gatewayOf(api, refuse)
    const first = await ask(textOnly)
    expect(first.failed).toMatchObject([
      {
        toolsRefused: true,
        historyRefused: false,
        reason: expect.stringMatching(
          /^the request is refused, and sent once more in plain text, without tools: /,
        ),
      },
    ])
    expect(first.end).toMatchObject({ type: 'model-finished', failure: null, stop: 'end' })
    expect(bodies).toHaveLength(2)
    const [, plain] = bodies as [Body, Body]
    expect(plain.tools).toBeUndefined()
    expect(plain.tool_choice).toBeUndefined()
    expect(speaksOfCalls(plain)).toBe(false)
    for (const words of ['I look.', 'the tool read', 'x is here', 'y is not'])
      expect(toldIn(plain)).toContain(words)

    expect((await ask(textOnly)).failed).toEqual([])
    expect(bodies).toHaveLength(3)
    expect(bodies[2]).toEqual(plain)
  })

  it('that answers 400 without speaking of tools gets it once more in plain text, each time: it may have had another reason', async () => {
    let refusals = 2
    const { bodies, ask } = gatewayOf(api, (body) => {
      if (!body.tools || refusals === 0) return undefined
      refusals -= 1
      return { status: 400, message: 'ValidationException' }
    })
    for (const _ of [1, 2])
      expect((await ask(textOnly)).end).toMatchObject({ failure: null, stop: 'end' })
    expect((await ask(textOnly)).failed).toEqual([])
    expect(bodies.map(({ tools: sent }) => sent !== undefined)).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
  })

  it('that later refuses plain text too gets the tools again', async () => {
    let takes: 'plain text' | 'tools' = 'plain text'
    const { bodies, ask } = gatewayOf(api, (body) =>
      (body.tools === undefined) === (takes === 'plain text')
        ? undefined
        : { status: 400, message: 'tool_choice' },
    )
    await ask(textOnly)
    expect((await ask(textOnly)).failed).toEqual([])
    takes = 'tools'
    expect((await ask(textOnly)).end).toMatchObject({ failure: { class: 'refused' } })
    expect((await ask(textOnly)).failed).toEqual([])
    expect(bodies.map(({ tools: sent }) => sent !== undefined)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ])
  })

  it('that wants tools wherever the history has calls gets it in plain text where there are none to offer', async () => {
    const { bodies, ask } = gatewayOf(api, toolsDemanded)
    expect((await ask({ tools: [], callsLeft: 5 })).end).toMatchObject({ failure: null })
    expect((await ask({ tools: [], callsLeft: 5 })).failed).toEqual([])
    expect(bodies.map(speaksOfCalls)).toEqual([true, false, false])
    // Where there are tools, nothing changes, whether they may be called or not.
    expect((await ask(textOnly)).failed).toEqual([])
    expect(bodies[3]).toMatchObject({ tools: [{}, {}], tool_choice: expect.anything() })
    expect((await ask({ tools, callsLeft: 5 })).failed).toEqual([])
    expect(bodies[4]).toMatchObject({ tools: [{}, {}] })
    expect(speaksOfCalls(bodies[4] as Body)).toBe(true)
  })

  it('that also refuses plain text gets no third request, and its reason ends the round', async () => {
    const { bodies, ask } = gatewayOf(api, () => ({
      status: 400,
      message: 'max_tokens: too many',
    }))
    const { end } = await ask(textOnly)
    expect(bodies).toHaveLength(2)
    expect(end).toMatchObject({
      failure: {
        class: 'refused',
        reason:
          'the request is refused, also in plain text and without tools: the provider answered 400: max_tokens: too many',
      },
    })
    // A plain request that did not help is not remembered.
    await ask(textOnly)
    expect(bodies.map(({ tools: sent }) => sent !== undefined)).toEqual([true, false, true, false])
  })

  it.each([401, 403, 429, 500])('that answers %i is not sent it otherwise', async (status) => {
    const { bodies, ask } = gatewayOf(api, () => ({ status, message: 'tool_choice' }))
    await ask(textOnly)
    expect(bodies).toHaveLength(1)
  })

  it('that refuses a request in which tools may be called is not sent it otherwise', async () => {
    const { bodies, ask } = gatewayOf(api, () => ({
      status: 400,
      message: 'tools.0: bad schema',
    }))
    expect((await ask({ tools, callsLeft: 5 })).end).toMatchObject({
      failure: { reason: 'the provider answered 400: tools.0: bad schema' },
    })
    expect(bodies).toHaveLength(1)
  })
})

describe('a request in plain text', () => {
  const request: ProviderRequest = {
    nudge: null,
    tools: [tool('read').declaration],
    textOnly: true,
    history,
    rebuilt: false,
  }

  it('says each call and each result once, in order, and nothing else changes', () => {
    const thought = modelSays(
      { text: 'So.', reasoning: '[{"type":"thinking","thinking":"hm","signature":"s"}]' },
      { round: 2 },
    )
    const { history: said, ...rest } = inPlainText({ ...request, history: [...history, thought] })
    expect(rest).toEqual({ nudge: null, tools: [], textOnly: true, rebuilt: false })
    expect(said.map(({ user, response }) => user ?? response?.text)).toEqual([
      'hello',
      'I look.\n\nI called the tool read with the arguments {"path":"x"}.\n\nI called the tool read with the arguments {"path":"y"}.',
      'Result of the tool read (ok):\nx is here\n\nResult of the tool read (error):\ny is not',
      'So.',
    ])
    expect(said[3]).toBe(thought)
    expect(said.every(({ response }) => (response?.calls ?? []).length === 0)).toBe(true)
  })

  it('is one that speaks of tools and asks for no call, of a model that has tool calls', () => {
    expect(obstacleIn(agentOf(), request)).toBe('no-choice')
    expect(obstacleIn(agentOf(), { ...request, textOnly: false })).toBeUndefined()
    expect(obstacleIn(agentOf(), { ...request, tools: [] })).toBe('no-declarations')
    expect(
      obstacleIn(agentOf(), { ...request, tools: [], history: [userSays('hello')] }),
    ).toBeUndefined()
    expect(obstacleIn(agentOf({}, { toolCalls: 'text' }), request)).toBeUndefined()
  })

  it('may help where the request is refused, and not where its sender is', () => {
    expect(formRefusedBy({ status: 400, statement: 'no' })).toBe('unsaid')
    expect(
      formRefusedBy({
        status: 404,
        statement: "No endpoints found that support the provided 'tool_choice' value.",
      }),
    ).toBe('tools')
    expect(formRefusedBy({ status: 404, statement: 'no such model' })).toBeUndefined()
    expect(formRefusedBy({ status: undefined, statement: 'tool_choice is not supported' })).toBe(
      'tools',
    )
    for (const status of [401, 402, 403, 429, 500, 529])
      expect(formRefusedBy({ status, statement: 'tool_choice' })).toBeUndefined()
  })
})
