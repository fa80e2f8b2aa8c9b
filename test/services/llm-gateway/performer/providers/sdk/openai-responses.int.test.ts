// The Responses adapter and the real SDK against an HTTP server on this machine: requests, answers
// and every kind of failure.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { connect } from '../../../../../../services/llm-gateway/performer/providers/providers.ts'
import { answering, sse } from '../../../../../support/provider-streams.ts'
import { agentOf, apiKey, readToEnd } from '../../../samples.ts'

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** The base URL of a server that answers so. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => answer(request, response, body))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const agentAt = (baseUrl?: string) =>
  agentOf({}, { provider: 'openai-responses', ...(baseUrl && { baseUrl }) })
const askOf = async (fetch: typeof globalThis.fetch) => readToEnd(connect(agentAt(), fetch))

const event = (fields: Record<string, unknown>) => sse(String(fields.type), JSON.stringify(fields))
const item = {
  type: 'function_call',
  id: 'f1',
  call_id: 'c1',
  name: 'read',
  arguments: '{"path":"x"}',
  status: 'completed',
}
const said = event({ type: 'response.output_item.done', output_index: 0, item })
const end = (response: Record<string, unknown> = {}) =>
  event({
    type: 'response.completed',
    response: { status: 'completed', output: [item], ...response },
  })

describe('a request', () => {
  it('goes to the base URL of the agent, with its key and stream: true', async () => {
    let seen: { url?: string | undefined; key: unknown; body: Record<string, unknown> } | undefined
    const url = await serve((request, response, body) => {
      seen = { url: request.url, key: request.headers.authorization, body: JSON.parse(body) }
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(said + end())
    })
    const { events, ending } = await readToEnd(connect(agentAt(url)))
    expect(seen).toMatchObject({
      url: '/v1/responses',
      key: `Bearer ${apiKey}`,
      body: { model: 'some-model', stream: true, store: false },
    })
    expect(events.map(({ kind }) => kind)).toEqual(['call_start', 'call_done', 'call_end'])
    expect(ending).toMatchObject({ kind: 'finished', stop: 'calls', finish: 'completed' })
  })

  it.each([
    [
      400,
      { error: { type: 'invalid_request_error', message: 'no' } },
      { class: 'refused', retryable: false },
    ],
    [
      429,
      { error: { type: 'rate_limit', message: 'no' } },
      { class: 'transient', retryable: true, retryAfterMs: 7000 },
    ],
    [500, { detail: 'no' }, { class: 'transient', retryable: true }],
    [
      400,
      { error: { code: 'context_length_exceeded', message: 'no' } },
      { class: 'context_full', retryable: false },
    ],
  ])('that is answered %i is a failure: %j', async (status, body, expected) => {
    const url = await serve((_, response) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' })
        .end(JSON.stringify(body)),
    )
    const { ending } = await readToEnd(connect(agentAt(url)))
    expect(ending).toMatchObject({
      kind: 'failed',
      ...expected,
      reason: expect.stringContaining('no'),
    })
  })

  it('that is stopped closes its connection', async () => {
    const stop = new AbortController()
    const isClosed = new Promise<void>((resolve) => {
      void serve((request, response) => {
        request.socket.on('close', () => resolve())
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(said)
      }).then(async (url) =>
        readToEnd(connect(agentAt(url)), {
          signal: stop.signal,
          onBytes: () => setImmediate(() => stop.abort()),
        }),
      )
    })
    await isClosed
  })
})

describe('a response', () => {
  it('may be one body from a server that does not stream', async () => {
    const body = JSON.stringify({ object: 'response', status: 'completed', output: [item] })
    const fetch = () =>
      Promise.resolve(new Response(body, { headers: { 'content-type': 'application/json' } }))
    const { events, ending } = await askOf(fetch)
    expect(events.map(({ kind }) => kind)).toEqual(['call_start', 'call_done', 'call_end'])
    expect(ending).toMatchObject({ kind: 'finished', stop: 'calls' })
  })

  it('that breaks before its last event is a failure, and after it an answer', async () => {
    expect((await askOf(answering(said, { breaks: true }))).ending).toMatchObject({
      kind: 'failed',
      class: 'transient',
      retryable: true,
    })
    expect((await askOf(answering(said + end(), { breaks: true }))).ending).toMatchObject({
      kind: 'finished',
      stop: 'calls',
    })
  })

  it('that just ends is cut', async () => {
    expect((await askOf(answering(said))).ending).toMatchObject({
      kind: 'finished',
      stop: 'cut',
      finish: '',
    })
  })

  it.each([
    ['the request', {}, 1000],
    ['the response', { max_output_tokens: 50 }, 50],
  ])(
    'with exactly as many tokens as %s allows has reached its limit',
    async (_, fields, tokens) => {
      const usage = (output_tokens: number) => ({
        ...fields,
        usage: { input_tokens: 1, output_tokens },
      })
      expect((await askOf(answering(said + end(usage(tokens))))).ending).toMatchObject({
        stop: 'length',
        finish: 'completed',
      })
      expect((await askOf(answering(said + end(usage(tokens - 1))))).ending).toMatchObject({
        stop: 'calls',
      })
      expect((await askOf(answering(said + end(usage(tokens + 1))))).ending).toMatchObject({
        stop: 'calls',
      })
    },
  )
})
