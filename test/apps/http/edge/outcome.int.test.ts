// The end of a turn as programs read it, in each protocol, with the official clients.

import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { call, fails, says } from '../../../../client/testing/testing.ts'
import { defineTool } from '../../../../client/weir.ts'
import { type EdgeServerOptions, edgeServer } from './edge-server.ts'
import { PageChat } from './ui-stream/page-chat.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object' },
  run: () => {
    throw new Error('the file /tmp/a does not exist')
  },
})
const again = says(call('look', { at: 'a' }))
const loop = Array.from({ length: 12 }, () => again)

type Incident = { replies: Parameters<typeof edgeServer>[0]; options: EdgeServerOptions }

const incidents: [string, Incident, Record<string, string | null>][] = [
  [
    'an answer',
    { replies: [says('Hello.')], options: {} },
    { outcome: 'answered', class: null, cap: null, rule: null },
  ],
  [
    'a loop',
    { replies: loop, options: { tools: [look] } },
    { outcome: 'failed', class: 'no_progress', cap: null, rule: 'identical-failure' },
  ],
  [
    'a cap',
    { replies: loop, options: { tools: [look], caps: { rounds: 1 } } },
    { outcome: 'capped', class: 'budget', cap: 'rounds', rule: null },
  ],
  [
    'a refusal of the provider',
    { replies: [fails(400, 'no')], options: {} },
    { outcome: 'failed', class: 'refused', cap: null, rule: null },
  ],
]

/** The fields that have a value. */
const named = (fields: object) => Object.entries(fields).filter(([, value]) => value !== null)
const headerOf = ({ outcome, ...rest }: Record<string, string | null>) =>
  [outcome, ...named(rest).map(([name, value]) => `${name}=${value}`)].join('; ')

describe.each(incidents)('a turn that ends with %s', (_, { replies, options }, end) => {
  it('has its class and rule in the metadata of a response, and in a header', async () => {
    await using edge = await edgeServer(replies, options)
    const { responses } = new OpenAI({ apiKey: 'none', baseURL: `${edge.url}/v1` })
    const body = { model: 'weir/helper', input: 'go' }
    const key = { headers: { 'idempotency-key': 'k' } } // of one message, whole and streamed
    const { data, response } = await responses.create(body, key).withResponse()
    const metadata = Object.fromEntries(named(end).map(([name, value]) => [`weir_${name}`, value]))
    expect(data.metadata).toEqual({ ...metadata, weir_reason: expect.any(String) })
    expect(response.headers.get('x-weir-outcome')).toBe(headerOf(end))
    const streamed = await responses.stream(body, key).finalResponse()
    expect(streamed.metadata).toEqual(data.metadata)
    const found = await responses.retrieve(data.id).withResponse()
    expect(found.data.metadata).toEqual(data.metadata)
    expect(found.response.headers.get('x-weir-outcome')).toBe(headerOf(end))
  })

  it('has them in the completion and its last chunk', async () => {
    await using edge = await edgeServer(replies, options)
    const { completions } = new OpenAI({ apiKey: 'none', baseURL: `${edge.url}/v1` }).chat
    const messages = [{ role: 'user' as const, content: 'go' }]
    const body = { model: 'weir/helper', messages }
    const key = { headers: { 'idempotency-key': 'k' } } // of one message, whole and streamed
    const { data, response } = await completions.create(body, key).withResponse()
    expect(data).toMatchObject({ weir: end })
    expect(response.headers.get('x-weir-outcome')).toBe(headerOf(end))
    const last: unknown[] = []
    for await (const chunk of await completions.create({ ...body, stream: true }, key))
      if (chunk.choices[0]?.finish_reason != null) last.push(chunk)
    expect(last).toMatchObject([{ weir: end }])
  })

  it('has them in the data of a page and of a run', async () => {
    await using edge = await edgeServer(replies, options)
    const chat = new PageChat(edge.url, { id: 'c' })
    await chat.sendMessage({ text: 'go' })
    const parts = chat.lastMessage?.parts ?? []
    expect(parts.find(({ type }) => type === 'data-weir-turn')).toMatchObject({ data: end })
    const [turn] = await edge.weir.conversation('c').turns()
    const agent = new HttpAgent({ url: `${edge.url}/v1/ag-ui/helper`, threadId: 'c' })
    agent.addMessage({ id: 'm', role: 'user', content: 'go' })
    const values: unknown[] = []
    await agent
      .runAgent(
        { runId: turn?.messageId ?? '' },
        {
          onCustomEvent: ({ event }) =>
            void (event.name === 'weir.turn' && values.push(event.value)),
        },
      )
      .catch(() => {}) // a turn that fails
    expect(values).toMatchObject([end])
  })
})
