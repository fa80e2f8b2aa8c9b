// A model's server that redirects the request, with each real SDK and two servers on this machine.
// Checks the requests that reach the second one.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { connect } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { chunk, sse } from '../../support/provider-streams.ts'
import { agentOf, apiKey, readToEnd } from './samples.ts'

type Received = { path: string; headers: IncomingHttpHeaders; body: string }
type Place = {
  server: Server
  url: string
  requests: Received[]
  answer: (path: string) => { status: number; location?: string; body?: string }
}

let model: Place
let stranger: Place

beforeEach(async () => {
  model = await place()
  stranger = await place()
})

afterEach(async () => {
  for (const { server } of [model, stranger]) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function place(): Promise<Place> {
  const requests: Received[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers, body: (await request.toArray()).join('') })
    const { status, location, body = '' } = here.answer(path)
    const type = status === 200 ? 'text/event-stream' : 'text/html'
    response
      .writeHead(status, { 'content-type': type, ...(location === undefined ? {} : { location }) })
      .end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const here: Place = { server, url, requests, answer: () => ({ status: 200 }) }
  return here
}

const answers = {
  anthropic:
    sse(
      'content_block_start',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}',
    ) +
    sse('message_delta', '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}') +
    sse('message_stop', '{"type":"message_stop"}'),
  'openai-chat': chunk(
    '{"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}',
  ),
  'openai-responses':
    sse(
      'response.output_text.delta',
      '{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"Hello"}',
    ) +
    sse('response.completed', '{"type":"response.completed","response":{"status":"completed"}}'),
}
const apis = ['anthropic', 'openai-chat', 'openai-responses'] as const

describe.each(apis)('a redirect of a server of %s', (api) => {
  const ask = async () =>
    readToEnd(await connect(agentOf({}, { provider: api, baseUrl: model.url })))

  it.each([301, 302, 303, 307, 308])(
    'to another server is not followed, and the error names it: %d',
    async (status) => {
      model.answer = () => ({ status, location: `${stranger.url}/v1?key=${apiKey}` })
      stranger.answer = () => ({ status: 200, body: answers[api] })
      const { events, ending } = await ask()
      expect([model.requests.length, stranger.requests.length, events]).toEqual([1, 0, []])
      expect(ending).toMatchObject({ code: 'provider.refused', class: 'refused', retryable: false })
      expect(ending).toMatchObject({
        reason: `the provider redirects to ${stranger.url} (HTTP ${status}), which is not followed: correct model.baseUrl in the agent file`,
      })
    },
  )

  it('within its server is followed, and no further', async () => {
    model.answer = (path) => {
      if (path === '/second') return { status: 308, location: '/third' }
      if (path === '/third') return { status: 200, body: answers[api] }
      return { status: 307, location: '/second' }
    }
    expect(await ask()).toMatchObject({
      events: [{ kind: 'text', text: 'Hello' }],
      ending: { kind: 'finished', stop: 'end' },
    })
    expect(model.requests.map(({ path }) => path).slice(1)).toEqual(['/second', '/third'])
    const [first, , third] = model.requests
    expect(third).toEqual({ ...first, path: '/third' })
    expect(JSON.stringify(first?.headers)).toContain(apiKey)

    model.answer = (path) =>
      path === '/second'
        ? { status: 307, location: stranger.url }
        : { status: 307, location: '/second' }
    expect((await ask()).ending).toMatchObject({ kind: 'failed', class: 'refused' })
    expect(stranger.requests).toEqual([])
  })

  it('in a loop fails the attempt', async () => {
    model.answer = () => ({ status: 307, location: '/again' })
    expect((await ask()).ending).toMatchObject({
      kind: 'failed',
      class: 'refused',
      retryable: false,
    })
    expect(model.requests).toHaveLength(6)
  })
})
