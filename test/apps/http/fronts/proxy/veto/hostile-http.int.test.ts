// A hostile model server before the veto, next to the form of its answers: statuses, headers, other
// paths, and tricks of HTTP. The client gets no call that Weir has not judged, and no other address.

import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { type ApiCase, apiCases, chatCase, messagesCase } from '../requests.ts'
import { type Received, sendJson } from '../scripted-upstream.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

/** A proxy whose guard refuses each call. */
async function hostile(respond: (response: ServerResponse, request: Received) => unknown) {
  const guard = scriptedGuard({
    after: () => [
      { callId: 'call_2', name: 'exec', verdict: 'deny', text: 'Stopped.', code: 'guard.denied' },
    ],
  })
  proxy = await proxied(guard, (request, response) => respond(response, request), '', {
    coversSubscriptions: false,
  })
  return proxy
}

type Case = Pick<ApiCase, 'name' | 'path' | 'first' | 'answer'>
const geminiCase: Case = {
  name: 'Gemini',
  path: '/v1beta/models/m:generateContent',
  first: '{"contents":[{"role":"user","parts":[{"text":"list it"}]}]}',
  answer: {
    candidates: [
      {
        content: { role: 'model', parts: [{ functionCall: { id: 'call_2', name: 'exec' } }] },
        finishReason: 'STOP',
      },
    ],
  },
}
const cases: Case[] = [...apiCases, geminiCase]
const answers: Record<string, unknown> = {
  Messages: { ...(messagesCase.answer as object), content: [], stop_reason: 'end_turn' },
  'Chat Completions': {
    id: 'c',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi.' } }],
  },
}

const ask = ({ path, first }: Pick<Case, 'path' | 'first'>) =>
  fetch(`${proxy?.url}${path}`, { method: 'POST', body: first, redirect: 'manual' })

const streamed = (first: string) => first.replace('{', '{"stream":true,')

describe.each(cases)('a hostile model server of $name', (one) => {
  it.each([400, 401, 404, 418, 429, 499, 500, 529, 599])(
    'hides no answer after the status %i',
    async (status) => {
      await hostile((response) => sendJson(response, one.answer, status))
      const answer = await ask(one)
      const text = await answer.text()
      expect(answer.status).toBe(status)
      expect(text).toContain(`the upstream answered ${status}, with a body that is no error`)
      expect(text).not.toMatch(/exec|call_2/)
    },
  )

  it('hides no answer next to an error', async () => {
    const error = { type: 'overloaded_error', code: 'busy', message: 'Too busy.', exec: 'call_2' }
    await hostile((response) => sendJson(response, { ...(one.answer as object), error }, 500))
    const answer = await ask(one)
    const body = (await answer.json()) as { error: object }
    expect(body.error).toMatchObject({ message: 'Too busy.' })
    expect(JSON.stringify(body)).not.toMatch(/exec|call_2/)
  })

  it.each([201, 202, 203, 206, 226, 300, 304, 305, 399, 600, 999])(
    'hides no answer after the status %i, which is no answer of the API',
    async (status) => {
      await hostile((response) => sendJson(response, one.answer, status))
      const answer = await ask(one)
      expect(answer.status).toBe(502)
      expect(await answer.text()).not.toMatch(/exec|call_2/)
    },
  )
})

describe('an honest error under the veto', () => {
  it("has its status, type, code and message for OpenAI's SDK", async () => {
    const error = { type: 'tokens', code: 'rate_limit_exceeded', message: 'Slow down.', param: 'x' }
    await hostile((response) => {
      response.setHeader('retry-after', '7')
      response.setHeader('x-request-id', 'req_1')
      sendJson(response, { error }, 429)
    })
    const client = new OpenAI({ baseURL: `${proxy?.url}/v1`, apiKey: 'dummy', maxRetries: 0 })
    const request = { model: 'm', messages: [] }
    const thrown = await client.chat.completions.create(request).catch((one: unknown) => one)
    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError)
    const { status, type, code, message, headers, requestID } = thrown as InstanceType<
      typeof OpenAI.RateLimitError
    >
    expect({ status, type, code, message, requestID }).toEqual({
      status: 429,
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message: '429 Slow down.',
      requestID: 'req_1',
    })
    expect(headers.get('retry-after')).toBe('7')
  })

  it("has its status, type and message for Anthropic's SDK, also if it is compressed", async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    await hostile((response) => {
      response.writeHead(529, { 'content-encoding': 'gzip', 'request-id': 'req_1' })
      response.end(gzipSync(JSON.stringify({ type: 'error', error })))
    })
    const client = new Anthropic({ baseURL: proxy?.url, apiKey: 'dummy', maxRetries: 0 })
    const request = { model: 'm', max_tokens: 1, messages: [] }
    const thrown = await client.messages.create(request).catch((one: unknown) => one)
    expect(thrown).toBeInstanceOf(Anthropic.InternalServerError)
    expect(thrown).toMatchObject({
      status: 529,
      error: { type: 'error', error },
      requestID: 'req_1',
    })
  })

  it('has its status and the wait of its details for Gemini', async () => {
    const details = [{ '@type': 'RetryInfo', retryDelay: '5s' }]
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota.', details }
    await hostile((response) => sendJson(response, [{ error }], 429))
    expect(await (await ask(geminiCase)).json()).toEqual({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota. Please retry in 5s.' },
    })
  })
})

const leading = {
  'alt-svc': 'h2="other.example:443"',
  location: 'http://other.example/',
  link: '<http://other.example/>; rel="preload"',
  'content-location': '/v1/other',
  refresh: '0; url=http://other.example/',
  'set-cookie': 'a=b',
  'x-own': 'call_2',
  'content-disposition': 'attachment',
  'www-authenticate': 'Bearer resource_metadata="https:other.example"',
  connection: 'x-request-id, keep-alive',
}
const kept = { 'retry-after': '7', 'x-ratelimit-remaining-tokens': '5', 'request-id': 'req_1' }

describe('a header of the upstream under the veto', () => {
  it.each<[string, number, string, string, string | undefined]>([
    ['a whole answer', 200, chatCase.path, 'application/json', undefined],
    ['a streamed answer', 200, chatCase.path, 'text/event-stream', undefined],
    ['an error', 500, chatCase.path, 'application/json', undefined],
    ['a path without calls', 200, '/v1/models', 'application/json', 'GET'],
  ])(
    'leads no client past Weir, and tells it the limits of %s',
    async (...[, status, path, type, method = 'POST']) => {
      const chunk = {
        id: 'c',
        choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }],
      }
      await hostile((response) => {
        response.writeHead(status, { ...leading, ...kept, 'content-type': type })
        const body = JSON.stringify(answers['Chat Completions'])
        response.end(
          type === 'application/json' ? body : `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
        )
      })
      const body = method === 'GET' ? undefined : chatCase.first
      const { headers } = await fetch(`${proxy?.url}${path}`, { method, body: body ?? null })
      for (const name of Object.keys(leading))
        if (name !== 'connection') expect([name, headers.get(name)]).toEqual([name, null])
      for (const [name, value] of Object.entries(kept)) expect(headers.get(name)).toBe(value)
    },
  )
})

describe('a body under the veto that passes as it is', () => {
  it.each(['Negotiate TlRMTVNTUA', 'NTLM TlRMTVNTUA'])(
    "requests no login of the client's system: %s",
    async (challenge) => {
      await hostile((response) => response.writeHead(401, { 'www-authenticate': challenge }).end())
      const { headers } = await fetch(`${proxy?.url}/v1/models`)
      expect(headers.get('www-authenticate')).toBe(null)
    },
  )

  it.each([
    [206, { 'content-range': 'bytes 0-3/9' }],
    [401, { 'www-authenticate': 'Bearer realm="models", error="invalid_token"' }],
  ])('keeps the header that its status %d needs', async (status, needed) => {
    await hostile((response) => response.writeHead(status, { ...needed }).end('text'))
    const { status: answered, headers } = await fetch(`${proxy?.url}/v1/models`)
    expect(answered).toBe(status)
    for (const [name, value] of Object.entries(needed)) expect(headers.get(name)).toBe(value)
  })
})

describe('a path under the veto', () => {
  it.each([
    ['POST', '/v1/responses/r1/cancel'],
    ['GET', '/v1/responses/r1'],
    ['GET', '/v1/responses/r1?stream=true'],
    ['DELETE', '/v1/responses/r1'],
    ['GET', '/v1/responses/r1/input_items'],
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/chat/completions/c1/messages'],
    ['POST', '/v1beta/models/m:batchGenerateContent'],
    ['POST', '/v1beta/models/m:batch'],
    ['POST', '/v1/logs'],
    ['GET', '/v1/files/f/content'],
    ['GET', '/v1/batches/b'],
    ['GET', '/v1/conversations/c/items'],
    ['PUT', '/v1/chat/completions'],
  ])('that could bring an answer is refused with a reason: %s %s', async (method, path) => {
    await hostile((response) => sendJson(response, chatCase.answer))
    const answer = await fetch(`${proxy?.url}${path}`, { method })
    const { error } = (await answer.json()) as { error: { message: string } }
    expect(answer.status).toBe(400)
    expect(error.message).toContain(`an answer to ${method} "${path}": use Messages`)
    expect(error.message).toContain('or start the proxy without --veto')
    expect(proxy?.received).toEqual([])
  })

  it('of a list of Gemini is refused with the query that helps', async () => {
    await hostile((response) => sendJson(response, [geminiCase.answer]))
    const path = '/v1beta/models/m:streamGenerateContent'
    const answer = await ask({ ...geminiCase, path })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('?alt=sse')])
    expect(proxy?.received).toEqual([])
    const both = await ask({ ...geminiCase, path: `${path}?alt=sse&alt=json` })
    expect(await both.text()).not.toContain('call_2')
  })

  it.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/models/m'],
    ['POST', '/v1/messages/count_tokens?beta=true'],
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/files'],
  ])('without calls passes: %s %s', async (method, path) => {
    await hostile((response) => sendJson(response, { data: [] }))
    const answer = await fetch(`${proxy?.url}${path}`, { method })
    expect([answer.status, await answer.json()]).toEqual([200, { data: [] }])
  })

  it('is answered without a body to HEAD', async () => {
    await hostile((response) => sendJson(response, chatCase.answer))
    const answer = await fetch(`${proxy?.url}/v1/responses/r1`, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

/** The socket gets these bytes for the answer. */
const raw = (text: string) =>
  hostile((response) => {
    response.socket?.end(text)
  })

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const call = chatCase.answer as { choices: { message: object }[] }
const hi = answers['Chat Completions']
const head = (extra = '') => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${extra}`
const plain = (body: unknown, extra = '') =>
  `${head(`content-length: ${bytesOf(body)}\r\n${extra}`)}\r\n${JSON.stringify(body)}`
const chunked = (body: unknown, extension = '', trailer = '') =>
  `${head('transfer-encoding: chunked\r\n')}\r\n${bytesOf(body).toString(16)}${extension}\r\n${JSON.stringify(body)}\r\n0\r\n${trailer}\r\n`
const callLine = `x-call: ${JSON.stringify(call)}`

/** The whole answer with its trailers, and the informational answers before it. */
async function received(request: string): Promise<string> {
  const { port } = new URL(proxy?.url ?? '')
  const sent = nodeRequest({ host: '127.0.0.1', port, path: chatCase.path, method: 'POST' })
  const early: unknown[] = []
  sent.on('information', (one) => early.push(one))
  const [answer] = (await once(sent.end(request), 'response')) as [IncomingMessage]
  const body = (await buffer(answer)).toString()
  return JSON.stringify([early, answer.rawHeaders, body, answer.rawTrailers])
}

describe('a trick of HTTP before the veto', () => {
  it.each([
    [
      'an early hint',
      `HTTP/1.1 103 Early Hints\r\nlink: <http://x/>\r\n${callLine}\r\n\r\n${plain(hi)}`,
    ],
    ['many interim answers', `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)}${plain(hi)}`],
    ['an extension of a chunk', chunked(hi, ';a="call_2"')],
    ['a trailer', chunked(hi, '', `${callLine}\r\n`)],
    ['a second answer behind the first', `${plain(hi)}${plain(call)}`],
    ['an answer of HTTP/1.0', plain(hi).replace('HTTP/1.1', 'HTTP/1.0')],
    [
      'an answer that its connection ends',
      `${head('connection: close\r\n')}\r\n${JSON.stringify(hi)}`,
    ],
    ['two content types', plain(hi, 'content-type: text/html\r\n')],
    ['a strange reason', plain(hi).replace('OK', 'call_2')],
  ])('gives the client the judged answer alone: %s', async (_, text) => {
    await raw(text)
    const answer = await received(chatCase.first)
    expect(answer).toContain('Hi.')
    expect(answer).not.toMatch(/call_2|x-call|link/i)
  })

  it.each([
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['a body behind 204', plain(call).replace('200 OK', '204 No Content')],
    ['a length and chunks', chunked(call).replace('\r\n\r\n', '\r\ncontent-length: 3\r\n\r\n')],
    ['two lengths', plain(call, 'content-length: 3\r\n')],
    ['two codings', chunked(call).replace('chunked', 'gzip, chunked')],
    ['a coding of another spelling', chunked(call).replace('chunked', 'xchunked')],
    [
      'two content encodings',
      plain(call, 'content-encoding: identity\r\ncontent-encoding: gzip\r\n'),
    ],
    ['an unknown content encoding', plain(call, 'content-encoding: x\r\n')],
    ['an answer that is cut', plain(call).slice(0, -5)],
    ['a folded header', plain(call, 'x-a: b\r\n c: d\r\n')],
    ['parts', plain(call).replace('application/json', 'multipart/mixed; boundary=a')],
    ['a mark of the byte order', plain(call).replace('\r\n\r\n{', '\r\n\r\n\ufeff{')],
    ['no HTTP', JSON.stringify(call)],
  ])('gives the client an error: %s', async (_, text) => {
    await raw(text)
    const answer = await received(chatCase.first)
    expect(answer).not.toContain('call_2')
    expect(answer).toMatch(/"error/)
  })

  it('holds the calls of a stream also if the request is for JSON, and the reverse', async () => {
    const delta = call.choices[0]?.message
    const chunk = { id: 'c', choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }
    for (const isStreamed of [false, true]) {
      await hostile((response) => {
        if (isStreamed) return sendJson(response, call)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        return response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
      })
      const answer = await received(isStreamed ? streamed(chatCase.first) : chatCase.first)
      expect(answer).not.toContain('call_2')
      expect(proxy?.received).toHaveLength(4)
      await proxy?.close()
    }
  })

  it.each([
    ['UTF-16', 'application/json; charset=utf-16', Buffer.from(JSON.stringify(call), 'utf16le')],
    [
      'a stream in UTF-16',
      'text/event-stream; charset=utf-16',
      Buffer.from(`data: ${JSON.stringify(call)}\n\n`, 'utf16le'),
    ],
    ['two values', 'application/json', Buffer.from(`{}${JSON.stringify(call)}`)],
    [
      'lines of JSON',
      'application/x-ndjson',
      Buffer.from(`${JSON.stringify(hi)}\n${JSON.stringify(call)}`),
    ],
  ])('gives the client an error for bytes with two readings: %s', async (_, type, body) => {
    await hostile((response) => response.writeHead(200, { 'content-type': type }).end(body))
    const answer = await (await ask(chatCase)).text()
    expect(answer).toContain('"error"')
    expect(answer).not.toContain('call_2')
  })
})

describe('an answer with another one in it', () => {
  const block = { type: 't\\u006fol_use', id: 't_2', name: 'exec', input: {} }
  const start = JSON.stringify({ type: 'content_block_start', index: 0, content_block: block })
  const forged = `x\ndata: {"type":"x"}\n\nevent: content_block_start\ndata: ${start.replaceAll('\\\\', '\\')}\n\n`

  it('brings no event in the type of another event', async () => {
    const message = { ...(messagesCase.answer as object), content: [], stop_reason: null }
    const events = [
      { type: 'message_start', message },
      { type: forged },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ]
    await hostile((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))
    })
    const answer = await (
      await ask({ ...messagesCase, first: streamed(messagesCase.first) })
    ).text()
    expect(answer).not.toMatch(/^event: content_block_start/m)
    expect(answer).toContain('Weir cannot judge the answer')
  })

  it('brings no call of Chat Completions next to the output of Responses', async () => {
    const response = { id: 'r', object: 'response', status: 'completed', model: 'm', output: [] }
    const both = { ...response, choices: call.choices }
    await hostile((outgoing) => sendJson(outgoing, both))
    const answer = await ask({ path: '/v1/responses', first: '{"model":"m","input":"go"}' })
    expect(await answer.text()).not.toContain('call_2')
  })
})
