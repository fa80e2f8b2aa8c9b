// The adapter and the real SDK against an HTTP server on this machine: requests, answers and every
// kind of failure.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { connect } from '../../../../../../services/llm-gateway/performer/providers/providers.ts'
import { limits } from '../../../../../../shared/contract/limits.ts'
import { answering, sse } from '../../../../../support/provider-streams.ts'
import { agentOf, apiKey, readToEnd } from '../../../samples.ts'

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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const text = (words: string) =>
  sse(
    'content_block_start',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  ) +
  sse(
    'content_block_delta',
    JSON.stringify({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: words },
    }),
  )
const end =
  sse(
    'message_delta',
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
  ) + sse('message_stop', '{"type":"message_stop"}')

function refusing(status: number, headers: Record<string, string> = {}, message = 'no') {
  return (_: IncomingMessage, response: ServerResponse) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { type: 'some_error', message } }))
}

const ask = async (baseUrl: string, options: Parameters<typeof readToEnd>[1] = {}) =>
  readToEnd(connect(agentOf({}, { baseUrl })), options)

describe('a request', () => {
  it('goes to the base URL of the agent, with its key, its model and stream: true', async () => {
    let seen: { url?: string | undefined; key: unknown; body: Record<string, unknown> } | undefined
    const url = await serve((request, response, body) => {
      seen = { url: request.url, key: request.headers.authorization, body: JSON.parse(body) }
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text('hi') + end)
    })
    const { events, ending } = await ask(url)
    expect(seen).toMatchObject({
      url: '/v1/messages',
      key: `Bearer ${apiKey}`,
      body: { model: 'some-model', stream: true, max_tokens: 1000 },
    })
    expect(events).toMatchObject([{ kind: 'text', text: 'hi' }])
    expect(ending).toEqual({
      kind: 'finished',
      stop: 'end',
      finish: 'end_turn',
      usage: { inputTokens: 0, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 },
    })
  })

  it('is made once: retries are the reducer business', async () => {
    let requests = 0
    const url = await serve((request, response) => {
      requests += 1
      refusing(503)(request, response)
    })
    await ask(url)
    expect(requests).toBe(1)
  })

  it('does not go where a variable of the environment points', async () => {
    process.env.ANTHROPIC_BASE_URL = await serve(refusing(418))
    try {
      let asked = ''
      const elsewhere: typeof fetch = async (url) => {
        asked = String(url)
        return new Response(end)
      }
      await readToEnd(connect(agentOf(), elsewhere))
      expect(new URL(asked).hostname).toBe('api.anthropic.com')
    } finally {
      delete process.env.ANTHROPIC_BASE_URL
    }
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

  it.each([408, 409, 429, 500, 502, 529])('%i is worth another try', async (status) => {
    expect((await ask(await serve(refusing(status)))).ending).toMatchObject({
      code: 'provider.unavailable',
      class: 'transient',
      retryable: true,
    })
  })

  it.each([
    ['retry-after in seconds', { 'retry-after': '7' }, 7000],
    ['retry-after with a fraction', { 'retry-after': '0.5' }, 500],
    ['retry-after-ms', { 'retry-after-ms': '1500.2', 'retry-after': '7' }, 1501],
    [
      "a date, read against the server's own",
      { date: 'Wed, 01 Jan 2020 00:00:00 GMT', 'retry-after': 'Wed, 01 Jan 2020 00:00:09 GMT' },
      9000,
    ],
    [
      'a date that is past',
      { date: 'Wed, 01 Jan 2020 00:00:09 GMT', 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' },
      0,
    ],
    ['nonsense', { 'retry-after': 'soon' }, null],
    ['a number without bounds', { 'retry-after': '1e999' }, null],
    ['nothing', {}, null],
  ])('says when to come back: %s', async (_, headers, retryAfterMs) => {
    expect(
      (await ask(await serve(refusing(429, headers as unknown as Record<string, string>)))).ending,
    ).toMatchObject({ retryAfterMs })
  })

  it('is final if the provider forbids a retry', async () => {
    expect(
      (await ask(await serve(refusing(429, { 'x-should-retry': 'false' })))).ending,
    ).toMatchObject({
      class: 'transient',
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
    ['terminal codes, which are taken out', '\u001b[2Jall\u0000 is\u202e well', ': all is well'],
    ['an error that is a text', '{"error":"no such model"}', ': no such model'],
    ['a message that is no text', '{"error":{"message":["a"]}}', ': {"message":["a"]}'],
    ['JSON without a message, which is shown as it is', '{"a":1}', ': {"a":1}'],
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

  it('that breaks after the finish reason has delivered its answer', async () => {
    const said =
      text('all') +
      sse('message_delta', '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}')
    expect(
      (await readToEnd(connect(agentOf(), answering(said, { breaks: true })))).ending,
    ).toMatchObject({
      kind: 'finished',
      stop: 'end',
    })
  })

  it('that ends without a reason has a cut answer, also without the last blank line', async () => {
    expect((await readToEnd(connect(agentOf(), answering(text('half'))))).ending).toMatchObject({
      kind: 'finished',
      stop: 'cut',
      finish: '',
    })
    expect((await readToEnd(connect(agentOf(), answering('')))).ending).toMatchObject({
      kind: 'finished',
      stop: 'cut',
    })
    const unended = answering((text('all') + end).trimEnd())
    expect((await readToEnd(connect(agentOf(), unended))).ending).toMatchObject({
      kind: 'finished',
      stop: 'end',
    })
  })

  it('is left at the end of the message, even if the server keeps it open', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text('hi') + end),
    )
    expect((await ask(url)).ending).toMatchObject({ kind: 'finished', stop: 'end' })
  })

  it('with garbage gives no answer', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200).end(`${text('half')}data: {"type": "content_bl\n\n${end}`),
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
    const { ending } = await readToEnd(connect(agentOf(), endless))
    expect(ending).toMatchObject({ kind: 'failed', code: 'provider.stream', class: 'provider' })
  })

  it('closes on abort, before and after its first byte', async () => {
    const closed: string[] = []
    let arrived = (): void => undefined
    const url = await serve((request, response) => {
      const isSilent =
        JSON.parse(String(request.headers['content-length'])) > 0 && closed.length === 0
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
    const body = `: keep-alive\n\n${sse('ping', '{"type":"ping"}')}${text('hi')}${end}`
    await readToEnd(connect(agentOf(), answering(body, { pieceBytes: 10 })), {
      onBytes: () => (reads += 1),
    })
    expect(reads).toBeGreaterThan(Math.floor(body.length / 10) - 10)
  })
})

it("does not speak of a request that it cannot make in the words of the library, which quote the agent's file", async () => {
  const withLineEnd = `${apiKey}\nx`
  const { ending } = await readToEnd(connect(agentOf({}, { apiKey: withLineEnd })))
  expect(ending).toMatchObject({ kind: 'failed', class: 'internal', retryable: false })
  expect(JSON.stringify(ending)).not.toContain(apiKey)
  const noUrl = await readToEnd(connect(agentOf({}, { baseUrl: 'http://user:secret@' })))
  expect(noUrl.ending).toMatchObject({ class: 'internal', retryable: false })
  expect(JSON.stringify(noUrl.ending)).not.toContain('secret')
})

describe('a body of JSON, of a server that does not stream', () => {
  const askFor = (body: string) =>
    readToEnd(
      connect(
        agentOf(),
        async () =>
          new Response(body, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
      ),
    )
  const bodyOf = (fields: object, input = '{"path":"x"}') =>
    JSON.stringify({
      id: 'm1',
      type: 'message',
      role: 'assistant',
      usage: { input_tokens: 3, output_tokens: 2 },
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 't1', name: 'read', input: 'INPUT' },
      ],
      ...fields,
    }).replace('"INPUT"', input)

  it('is the whole message: its text, its calls, its end and its tokens', async () => {
    const { events, ending } = await askFor(bodyOf({}))
    expect(events).toMatchObject([
      { kind: 'text', text: 'hi' },
      { kind: 'call_whole', id: 't1', name: 'read', text: '{"path":"x"}' },
      { kind: 'call_end' },
    ])
    expect(ending).toMatchObject({
      kind: 'finished',
      stop: 'calls',
      finish: 'tool_use',
      usage: { inputTokens: 3, outputTokens: 2 },
    })
  })

  it('has its arguments digit by digit', async () => {
    const { events } = await askFor(bodyOf({}, '{"id":12345678901234567890}'))
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'call_whole', text: '{"id":12345678901234567890}' }),
    )
  })

  it('may be cut by the limit, or end without a reason', async () => {
    expect((await askFor(bodyOf({ stop_reason: 'max_tokens' }))).ending).toMatchObject({
      stop: 'length',
    })
    expect((await askFor(bodyOf({ stop_reason: null }))).ending).toMatchObject({
      stop: 'cut',
      finish: '',
    })
  })

  it('may be an error, and one that is half there cannot be read', async () => {
    const error = await askFor(
      '{"type":"error","error":{"type":"overloaded_error","message":"it is busy"}}',
    )
    expect(error.ending).toMatchObject({
      kind: 'failed',
      retryable: true,
      reason: expect.stringContaining('it is busy'),
    })
    expect((await askFor(bodyOf({}).slice(0, -5))).ending).toMatchObject({
      kind: 'failed',
      code: 'provider.stream',
      retryable: true,
    })
  })
})
