// The Chat Completions adapter and the real SDK against an HTTP server on this machine: requests,
// answers and every kind of failure.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { connect } from '../../../../../../services/llm-gateway/performer/providers/providers.ts'
import { limits } from '../../../../../../shared/contract/limits.ts'
import { answering, chunk, sse } from '../../../../../support/provider-streams.ts'
import { agentOf, apiKey, readToEnd, tool } from '../../../samples.ts'

const servers: { close: () => Promise<void> }[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  servers.push({ close })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

const agentAt = (baseUrl?: string, key = apiKey) =>
  agentOf({}, { provider: 'openai-chat', apiKey: key, ...(baseUrl && { baseUrl }) })
const ask = async (baseUrl: string, options: Parameters<typeof readToEnd>[1] = {}) =>
  readToEnd(connect(agentAt(baseUrl)), options)
const askOf = async (
  fetch: typeof globalThis.fetch,
  options: Parameters<typeof readToEnd>[1] = {},
) => readToEnd(connect(agentAt(), fetch), options)

const text = (content: string) =>
  chunk(JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }))
const finish = (reason = 'stop') =>
  chunk(JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }))
const usage = chunk('{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}')
const done = chunk('[DONE]')
const end = finish() + usage + done

function refusing(status: number, headers: Record<string, string> = {}, message = 'no') {
  return (_: IncomingMessage, response: ServerResponse) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { type: 'some_error', message, code: null } }))
}

describe('a request', () => {
  it('goes to the base URL of the agent, with its key, its model and stream: true', async () => {
    let seen:
      | { url?: string | undefined; headers: IncomingMessage['headers']; body: unknown }
      | undefined
    const url = await serve((request, response, body) => {
      seen = { url: request.url, headers: request.headers, body: JSON.parse(body) }
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('hi') + end)
    })
    const { events, ending } = await readToEnd(connect(agentAt(url)), {
      tools: [tool('read').declaration],
    })
    expect(seen).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: `Bearer ${apiKey}` },
      body: {
        model: 'some-model',
        stream: true,
        max_tokens: 1000,
        tools: [{ type: 'function', function: { name: 'read' } }],
      },
    })
    expect(events).toMatchObject([{ kind: 'text', text: 'hi' }])
    expect(ending).toEqual({
      kind: 'finished',
      stop: 'end',
      finish: 'stop',
      usage: { inputTokens: 9, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 },
    })
  })

  it('is sent once: the reducer owns retries', async () => {
    let requests = 0
    const url = await serve((request, response) => {
      requests += 1
      refusing(503)(request, response)
    })
    await ask(url)
    expect(requests).toBe(1)
  })

  it('ignores variables of the environment for address and account', async () => {
    const variables = {
      OPENAI_BASE_URL: await serve(refusing(418)),
      OPENAI_ORG_ID: 'o',
      OPENAI_PROJECT_ID: 'p',
      OPENAI_ADMIN_KEY: 'k',
    }
    Object.assign(process.env, variables)
    try {
      let asked: { host: string; headers: Headers } | undefined
      await askOf(async (url, init) => {
        asked = { host: new URL(String(url)).hostname, headers: new Headers(init?.headers) }
        return new Response(end)
      })
      expect(asked?.host).toBe('api.openai.com')
      expect(asked?.headers.get('authorization')).toBe(`Bearer ${apiKey}`)
      for (const header of ['openai-organization', 'openai-project'])
        expect(asked?.headers.has(header)).toBe(false)
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name]
    }
  })

  it('needs no key for a server without keys', async () => {
    const url = await serve((_, response) => response.writeHead(200).end(text('hi') + end))
    expect((await readToEnd(connect(agentAt(url, '')))).ending).toMatchObject({
      kind: 'finished',
      stop: 'end',
    })
  })
})

describe('an HTTP error', () => {
  it.each([400, 401, 403, 404, 422])(
    '%i is a refusal that another try would meet again',
    async (status) => {
      const { ending } = await ask(await serve(refusing(status, {}, 'max_tokens: too many')))
      expect(ending).toMatchObject({
        kind: 'failed',
        code: 'provider.refused',
        class: 'refused',
        retryable: false,
        retryAfterMs: null,
        reason: `the provider answered ${status}: max_tokens: too many`,
      })
    },
  )

  it('that reports a full context has the class context_full', async () => {
    const { ending } = await ask(
      await serve(refusing(400, {}, 'prompt is too long: 9 tokens > 8 maximum')),
    )
    expect(ending).toMatchObject({
      kind: 'failed',
      code: 'provider.refused',
      class: 'context_full',
      retryable: false,
      reason: expect.stringMatching(
        /^the model's context is full; .*\(the provider answered 400: prompt is too long: 9 tokens > 8 maximum\)$/,
      ),
    })
    expect((await ask(await serve(refusing(413)))).ending).toMatchObject({
      class: 'context_full',
      retryable: false,
    })
  })

  it('says that the context is full by its code alone', async () => {
    const body = JSON.stringify({
      error: { type: 'invalid_request_error', message: 'no', code: 'context_length_exceeded' },
    })
    const headers = { 'content-type': 'application/json' }
    const { ending } = await ask(
      await serve((_, response) => response.writeHead(400, headers).end(body)),
    )
    expect(ending).toMatchObject({ class: 'context_full', retryable: false })
  })

  it.each([408, 409, 429, 500, 502, 529])('%i is worth another try', async (status) => {
    expect((await ask(await serve(refusing(status)))).ending).toMatchObject({
      code: 'provider.unavailable',
      class: 'transient',
      retryable: true,
    })
  })

  it('carries the retry hint and the retry flag', async () => {
    const headers = { 'retry-after': '7', 'x-should-retry': 'false' }
    expect((await ask(await serve(refusing(429, headers)))).ending).toMatchObject({
      retryAfterMs: 7000,
      retryable: false,
    })
  })

  it('has a bounded reason without the key, even if the provider quotes it', async () => {
    const { ending } = await ask(
      await serve(refusing(401, {}, `invalid key ${apiKey} ${'ä'.repeat(5000)}`)),
    )
    const { reason } = ending as { reason: string }
    expect(reason).toContain('invalid key [key]')
    expect(reason).not.toContain(apiKey)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(limits.reasonBytesMax)
  })

  it.each([
    [
      'a page of HTML, which becomes one line',
      '<html>\r\n\t<b>bad gateway</b>\n</html>\n',
      ': <html> <b>bad gateway</b> </html>',
    ],
    ['terminal codes, which are taken out', '\u001b[2Jall\u0000 is well', ': all is well'],
    ['an error that is a text', '{"error":"no such model"}', ': no such model'],
    [
      'a message without an error around it',
      '{"object":"error","message":"no such model"}',
      ': no such model',
    ],
    ['a detail', '{"detail":"no such model"}', ': no such model'],
    [
      'a detail that is no text',
      '{"detail":[{"loc":["body"]}]}',
      ': {"detail":[{"loc":["body"]}]}',
    ],
    ['a list of errors', '[{"error":{"code":502,"message":"no such model"}}]', ': no such model'],
    ['a text as JSON', '"no such model"', ': no such model'],
    ['nothing at all', '', ' without a body'],
  ])('may have a body that is %s', async (_, body, said) => {
    const { ending } = await ask(
      await serve((_request, response) => response.writeHead(502).end(body)),
    )
    expect(ending).toMatchObject({ class: 'transient', reason: `the provider answered 502${said}` })
  })
})

describe('a connection', () => {
  it('that is refused is worth another try, and the reason names no address', async () => {
    const url = await serve(() => undefined)
    await servers.pop()?.close()
    const { ending } = await ask(url)
    expect(ending).toMatchObject({
      code: 'provider.unavailable',
      class: 'transient',
      retryable: true,
    })
    expect((ending as { reason: string }).reason).toBe(
      'no connection to the provider (ECONNREFUSED)',
    )
  })

  it('that breaks in the middle gives no answer', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(text('half'), () => setTimeout(() => response.destroy(), 10))
    })
    const { events, ending } = await ask(url)
    expect(events).toMatchObject([{ kind: 'text', text: 'half' }])
    expect(ending).toMatchObject({
      kind: 'failed',
      code: 'provider.stream',
      class: 'transient',
      retryable: true,
    })
  })

  it('that breaks before the headers is worth another try', async () => {
    const url = await serve((request) => request.socket.destroy())
    expect((await ask(url)).ending).toMatchObject({ class: 'transient', retryable: true })
  })

  it('that breaks after the finish reason has delivered its answer, with its calls', async () => {
    const call = { index: 0, id: 'c1', function: { name: 'read', arguments: '{}' } }
    const said =
      chunk(JSON.stringify({ choices: [{ delta: { tool_calls: [call] } }] })) + finish('tool_calls')
    const { events, ending } = await askOf(answering(said, { breaks: true }))
    expect(events.map(({ kind }) => kind)).toEqual(['call_piece'])
    expect(ending).toMatchObject({ kind: 'finished', stop: 'calls' })
  })

  it('that ends without a reason has a cut answer, also without the last blank line', async () => {
    expect((await askOf(answering(text('half')))).ending).toMatchObject({
      kind: 'finished',
      stop: 'cut',
      finish: '',
    })
    expect((await askOf(answering(''))).ending).toMatchObject({ kind: 'finished', stop: 'cut' })
    expect((await askOf(answering((text('all') + finish()).trimEnd()))).ending).toMatchObject({
      kind: 'finished',
      stop: 'end',
    })
    expect((await askOf(answering((text('all') + done).trimEnd()))).ending).toMatchObject({
      kind: 'finished',
      stop: 'other',
    })
  })

  it('is left at the end mark, even if the server keeps it open', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text('hi') + end),
    )
    expect((await ask(url)).ending).toMatchObject({ kind: 'finished', stop: 'end' })
  })

  it('with an error in the stream gives no answer', async () => {
    const error = sse('error', '{"error":{"message":"overloaded","type":"server_error"}}')
    const { ending } = await ask(
      await serve((_, response) => response.writeHead(200).end(text('half') + error)),
    )
    expect(ending).toMatchObject({
      kind: 'failed',
      class: 'transient',
      retryable: true,
      reason: expect.stringContaining('overloaded'),
    })
  })

  it('with garbage gives no answer', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200).end(`${text('half')}data: {"choices": [{"del\n\n${end}`),
    )
    expect((await ask(url)).ending).toMatchObject({
      kind: 'failed',
      class: 'transient',
      retryable: true,
    })
    const page = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
    )
    expect((await ask(page)).ending).toMatchObject({
      kind: 'failed',
      class: 'provider',
      retryable: true,
      reason: expect.stringContaining('a web page'),
    })
  })

  it('is aborted if one line never ends', async () => {
    const endless: typeof fetch = async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(97)),
        }),
      )
    expect((await askOf(endless)).ending).toMatchObject({
      kind: 'failed',
      code: 'provider.stream',
      class: 'provider',
    })
  })

  it('closes on abort, before and after its first byte', async () => {
    const closed: string[] = []
    let arrived = (): void => undefined
    const url = await serve((_, response) => {
      const isSilent = closed.length === 0
      response.on('close', () => closed.push('closed'))
      if (!isSilent) response.writeHead(200).write(text('first'))
      arrived()
    })
    for (const count of [1, 2]) {
      const stop = new AbortController()
      arrived = () => setImmediate(() => stop.abort())
      await ask(url, { signal: stop.signal })
      while (closed.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(closed).toHaveLength(2)
  })
})

describe('the response', () => {
  it('reports bytes for its headers and for every piece of its body', async () => {
    let reads = 0
    const body = `: keep-alive\n\n${text('hi')}${end}`
    await askOf(answering(body, { pieceBytes: 10 }), { onBytes: () => (reads += 1) })
    expect(reads).toBeGreaterThan(Math.floor(body.length / 10) - 10)
  })

  const json = (body: string) => async () =>
    new Response(body, { headers: { 'content-type': 'application/json; charset=utf-8' } })

  it('may be one completion, of a server that does not stream', async () => {
    const message = {
      content: 'hi',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }],
    }
    const whole = {
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    }
    const { events, ending } = await askOf(json(JSON.stringify(whole)))
    expect(events.map(({ kind }) => kind)).toEqual(['text', 'call_piece'])
    expect(ending).toMatchObject({
      kind: 'finished',
      stop: 'calls',
      usage: { inputTokens: 9, outputTokens: 2 },
    })
  })

  it('may be an error that calls itself a success, or a stream that calls itself JSON', async () => {
    expect(
      (await askOf(json('{"error":{"message":"no such model","code":404}}'))).ending,
    ).toMatchObject({
      kind: 'failed',
      class: 'refused',
    })
    expect((await askOf(json(text('hi') + end))).ending).toMatchObject({
      kind: 'finished',
      stop: 'end',
    })
  })

  it.each([
    ['line ends of another system', (body: string) => body.replaceAll('\n', '\r\n')],
    ['no blanks after the colon', (body: string) => body.replaceAll('data: ', 'data:')],
    ['a mark at its beginning', (body: string) => `\ufeff${body}`],
    ['comments', (body: string) => body.replaceAll('data:', ': waiting\ndata:')],
    [
      'payloads over several lines',
      (body: string) => body.replaceAll(',"delta"', ',\ndata: "delta"'),
    ],
    ['names of events', (body: string) => body.replaceAll('data:', 'event: message\nid: 1\ndata:')],
  ])('may have %s', async (_, written) => {
    const { events, ending } = await askOf(
      answering(written(text('hi \ud83d\ude00') + end), { pieceBytes: 3 }),
    )
    expect(events).toMatchObject([{ kind: 'text', text: 'hi \ud83d\ude00' }])
    expect(ending).toMatchObject({ kind: 'finished', stop: 'end' })
  })
})

it("does not speak of a request that it cannot make in the words of the library, which quote the agent's file", async () => {
  const withLineEnd = `${apiKey}\nx`
  const { ending } = await readToEnd(connect(agentAt(undefined, withLineEnd)))
  expect(ending).toMatchObject({ kind: 'failed', class: 'internal', retryable: false })
  expect(JSON.stringify(ending)).not.toContain(apiKey)
  const noUrl = await readToEnd(connect(agentAt('http://user:secret@')))
  expect(noUrl.ending).toMatchObject({ class: 'internal', retryable: false })
  expect(JSON.stringify(noUrl.ending)).not.toContain('secret')
})
