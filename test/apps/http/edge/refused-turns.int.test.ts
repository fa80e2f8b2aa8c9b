// A turn that a budget or a stop of the operator ended, as each protocol reports it to its official
// client.

import { PassThrough } from 'node:stream'
import { HttpAgent } from '@ag-ui/client'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI, { APIError } from 'openai'
import { budgetChange } from '../../../../apps/service/budgets/change.ts'
import { changeSetting } from '../../../../apps/service/setting-command.ts'
import { stopChange } from '../../../../apps/service/stops/change.ts'
import { says } from '../../../../client/testing/testing.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { type EdgeServer, edgeServer, post, serverSentEvents } from './edge-server.ts'
import { PageChat } from './ui-stream/page-chat.ts'

const streams = () => ({ out: new PassThrough() as never, errors: new PassThrough() as never })
const embedded = { WEIR_BUS: 'embedded', WEIR_LOG_LEVEL: 'silent' }

const causes = [
  {
    cause: 'a budget',
    end: { status: 429, code: 'budget.reached', class: 'budget' },
    text: 'the budget */agent:helper/day/tokens is reached',
    set: ({ folder }: EdgeServer) =>
      changeSetting(
        budgetChange,
        { agent: 'helper', window: 'day', tokens: '1', by: 'anna' },
        readSettings({ dataFolder: folder }, embedded),
        streams(),
      ),
  },
  {
    cause: 'a stop',
    end: { status: 403, code: 'stop.in-force', class: 'stopped' },
    text: 'an operator stopped agent "helper": wrong transfers',
    set: ({ folder }: EdgeServer) =>
      changeSetting(
        stopChange,
        { agent: 'helper', reason: 'wrong transfers', by: 'anna' },
        readSettings({ dataFolder: folder }, embedded),
        streams(),
      ),
  },
]

async function errorOf(request: Promise<unknown>): Promise<APIError> {
  const error = await request.then(() => undefined).catch((error: unknown) => error)
  if (error instanceof APIError) return error
  throw new Error('the client has no error of the API', { cause: error })
}

describe.each(causes)('a turn that $cause ended', ({ set, end, text }) => {
  const { status, code } = end
  const reason = expect.stringContaining(text)
  let edge: EdgeServer
  let client: OpenAI
  let requests = 0

  beforeAll(async () => {
    edge = await edgeServer([says('Hello.')])
    await set(edge)
    await edge.weir.ask({ agent: 'helper', text: 'go' }).finished // uses the budget up
    const counted: typeof fetch = (...given) => {
      requests += 1
      return fetch(...given)
    }
    client = new OpenAI({ apiKey: 'none', baseURL: `${edge.url}/v1`, fetch: counted })
  })
  afterAll(async () => {
    await edge[Symbol.asyncDispose]()
  })

  it('is an error with its status and code in the Responses API, which no SDK repeats', async () => {
    requests = 0
    const error = await errorOf(client.responses.create({ model: 'weir/helper', input: 'go' }))
    expect(error).toMatchObject({ status, code, error: { message: reason } })
    expect(error.headers?.get('x-weir-outcome')).toBe(`failed; class=${end.class}`)
    expect(requests).toBe(1)
    const { response } = error.error as { response: { id: string } }
    const found = await client.responses.retrieve(response.id)
    expect(found).toMatchObject({ status: 'failed', error: { code, message: reason } })
    expect(found.metadata).toMatchObject({ weir_code: code, weir_class: end.class })
  })

  it('is response.failed with its code in a stream of the Responses API', async () => {
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    const body = { model: 'weir/helper', input: 'go', stream: true } as const
    for await (const event of await client.responses.create(body)) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { code } } })
  })

  it('is an error with its status and code in Chat Completions, which no SDK repeats', async () => {
    requests = 0
    const messages = [{ role: 'user' as const, content: 'go' }]
    const body = { model: 'weir/helper', messages }
    const error = await errorOf(client.chat.completions.create(body))
    const weir = { outcome: 'failed', class: end.class, code }
    expect(error).toMatchObject({ status, code, error: { message: reason, weir } })
    expect(error.headers?.get('x-weir-conversation')).toEqual(expect.any(String))
    expect(requests).toBe(1)
  })

  it('is an error with its code in a stream of Chat Completions, after the fallback', async () => {
    const messages = [{ role: 'user' as const, content: 'go' }]
    const stream = await client.chat.completions.create({
      model: 'weir/helper',
      messages,
      stream: true,
    })
    let shown = ''
    const read = async () => {
      for await (const { choices } of stream) shown += choices[0]?.delta.content ?? ''
    }
    expect(await errorOf(read())).toMatchObject({ code, type: code, error: { message: reason } })
    expect(shown).not.toBe('')
  })

  it('puts useChat into its error state, and the message has the code', async () => {
    const chat = new PageChat(edge.url, { id: 'page' })
    await chat.sendMessage({ text: 'go' })
    expect(chat.status).toBe('error')
    expect(chat.error?.message).toMatch(`${code}: ${text}`)
    const parts = chat.lastMessage?.parts ?? []
    expect(parts).toContainEqual(
      expect.objectContaining({ type: 'data-weir-turn', data: expect.objectContaining({ code }) }),
    )
  })

  it('is RUN_ERROR with its code in AG-UI', async () => {
    const agent = new HttpAgent({ url: `${edge.url}/v1/ag-ui/helper`, threadId: 'run' })
    agent.addMessage({ id: 'm', role: 'user', content: 'go' })
    const errors: unknown[] = []
    const seen = { onRunErrorEvent: ({ event }: { event: unknown }) => void errors.push(event) }
    await agent.runAgent({ runId: 'r' }, seen).catch(() => {})
    expect(errors).toMatchObject([{ type: 'RUN_ERROR', code, message: reason }])
  })

  it('has its code in the last event of the native protocol', async () => {
    const url = `${edge.url}/v1/conversations/own`
    expect((await post(`${url}/messages`, { text: 'go' })).status).toBe(202)
    const opened = async (): Promise<Response> => {
      const response = await fetch(`${url}/events`)
      return response.status === 404 ? opened() : response
    }
    for await (const { event, data } of serverSentEvents(await opened()))
      if (event === 'turn-finished') {
        expect(JSON.parse(data)).toMatchObject({ class: end.class, code, reason })
        break
      }
    expect.assertions(2)
  })
})
