// One contract for the providers of all formats, against an HTTP server on this machine: requests,
// answers and every kind of failure.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { foldResponse } from '../../../../../services/accumulator/response.ts'
import { connect } from '../../../../../services/llm-gateway/performer/providers/providers.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../../shared/contract/messages.ts'
import { answering } from '../../../../support/provider-streams.ts'
import { agentOf, apiKey, readToEnd, tool } from '../../samples.ts'
import { textAnswer, type Vendor, vendorNamed, vendors } from '../../vendors.ts'

type Fetch = typeof globalThis.fetch
type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** The address of a server. */
async function serve(answer: Answer): Promise<string> {
  const server = createServer(async (request, response) =>
    answer(request, response, (await request.toArray()).join('')),
  )
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const failing =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
const refusing = (status: number, headers: Record<string, string> = {}, message = 'no') =>
  failing(status, JSON.stringify({ error: { type: 'some_error', message, code: null } }), headers)
const streaming =
  (body: string): Answer =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
const json =
  (body: string): Fetch =>
  async () =>
    new Response(body, { headers: { 'content-type': 'application/json; charset=utf-8' } })

const refused = { kind: 'failed', code: 'provider.refused', class: 'refused', retryable: false }
const transient = { kind: 'failed', class: 'transient', retryable: true }
const unavailable = { ...transient, code: 'provider.unavailable' }
const brokenOff = { ...transient, code: 'provider.stream' }
const contextFull = {
  kind: 'failed',
  code: 'provider.refused',
  class: 'context_full',
  retryable: false,
}
const cut = { kind: 'finished', stop: 'cut', finish: '' }
const textIn = (events: PartEvent[]) =>
  events.map((event) => (event.kind === 'text' ? event.text : '')).join('')

type Options = Parameters<typeof readToEnd>[1] & {
  model?: Parameters<typeof agentOf>[1]
  fetch?: Fetch
}
const readOf =
  ({ provider }: Vendor) =>
  ({ model, fetch, ...options }: Options) =>
    readToEnd(connect(agentOf({}, { provider, ...model }), fetch), options)

describe.each(vendors)('a provider of $provider', (vendor) => {
  const { root, text, call, finish, rest, words, usage } = vendor
  const end = finish('end') + rest
  const ended = { kind: 'finished', stop: 'end', finish: words.end }
  const read = readOf(vendor)
  const ask = async (answer: Answer, options: Options = {}) => {
    const baseUrl = (await serve(answer)) + root
    return read({ ...options, model: { baseUrl, ...options.model } })
  }
  const askOf = (fetch: Fetch, options: Options = {}) => read({ ...options, fetch })
  /** The response and the end of an answer. */
  const answerOf = async (fetch: Fetch) => {
    const { events, ending } = await askOf(fetch)
    if (ending?.kind !== 'finished') throw new Error(`it failed: ${JSON.stringify(ending)}`)
    return { ending, ...foldResponse([events], { attempt: 'a', ...ending }, ['read']) }
  }

  describe('sends a request', () => {
    it('to the base URL of the agent, with its key, its model and its tools', async () => {
      let seen: { url?: string | undefined; headers: object; body: unknown } | undefined
      const { events, ending } = await ask(
        (request, response, body) => {
          seen = { url: request.url, headers: request.headers, body: JSON.parse(body) }
          streaming(textAnswer(vendor, 'hi'))(request, response, body)
        },
        { tools: [tool('read').declaration] },
      )
      const { url, headers, body } = vendor.sent
      expect(seen).toMatchObject({
        url,
        headers: JSON.parse(JSON.stringify(headers).replace('KEY', apiKey)),
        body,
      })
      expect(textIn(events)).toBe('hi')
      expect(ending).toEqual({
        ...ended,
        usage: { cacheReadTokens: 0, cacheWriteTokens: 0, ...usage },
      })
    })

    it('once: the reducer owns retries', async () => {
      let requests = 0
      await ask((request, response, body) => {
        requests += 1
        refusing(503)(request, response, body)
      })
      expect(requests).toBe(1)
    })

    it('ignores variables of the environment for address and account', async () => {
      const here = await serve(refusing(418))
      const variables = Object.entries(vendor.environment)
      for (const [name, value] of variables) process.env[name] = value.replace('HERE', here)
      try {
        let asked: { host: string; headers: Headers } | undefined
        await askOf(async (url, init) => {
          asked = { host: new URL(String(url)).hostname, headers: new Headers(init?.headers) }
          return new Response(end)
        })
        expect(asked?.host).toBe(vendor.host)
        for (const [name, value] of Object.entries(vendor.sent.headers))
          expect(asked?.headers.get(name)).toBe(value.replace('KEY', apiKey))
        for (const header of vendor.environmentHeaders)
          expect(asked?.headers.has(header)).toBe(false)
      } finally {
        for (const [name] of variables) delete process.env[name]
      }
    })

    it("with the headers of the agent's model in place of the format's", async () => {
      let sent: object = {}
      const [name = ''] = Object.keys(vendor.sent.headers)
      const headers = { [name]: 'of the agent', 'x-team': 'blue' }
      await ask(
        (request, response, body) => {
          sent = request.headers
          streaming(end)(request, response, body)
        },
        { model: { headers } },
      )
      expect(sent).toMatchObject({ 'content-type': 'application/json', ...headers })
    })

    it('needs no key for a server without keys', async () => {
      let authorization: string | undefined
      const { ending } = await ask(
        (request, response, body) => {
          authorization = request.headers.authorization
          streaming(textAnswer(vendor, 'hi'))(request, response, body)
        },
        { model: { apiKey: '' } },
      )
      expect(ending).toMatchObject(ended)
      // OpenAI's SDK wants a key, and an empty one is no header that servers read.
      expect([undefined, 'Bearer none']).toContain(authorization)
    })

    it("does not speak of a request that it cannot make in the words of a library, which quote the agent's file", async () => {
      const { ending } = await read({ model: { apiKey: `${apiKey}\nx` } })
      expect(ending).toMatchObject({ kind: 'failed', class: 'internal', retryable: false })
      expect(JSON.stringify(ending)).not.toContain(apiKey)
      const noUrl = await read({ model: { baseUrl: 'http://user:secret@' } })
      expect(noUrl.ending).toMatchObject({ class: 'internal', retryable: false })
      expect(JSON.stringify(noUrl.ending)).not.toContain('secret')
    })
  })

  describe('reads an HTTP error', () => {
    it.each([400, 401, 403, 404, 422])(
      '%i as a refusal that another try would meet again',
      async (status) => {
        const { ending } = await ask(refusing(status, {}, 'max_tokens: too many'))
        expect(ending).toMatchObject({
          ...refused,
          retryAfterMs: null,
          reason: `the provider answered ${status}: max_tokens: too many`,
        })
      },
    )

    it('that reports a full context as context_full', async () => {
      const message = 'prompt is too long: 9 tokens > 8 maximum'
      const { ending } = await ask(refusing(400, {}, message))
      expect(ending).toMatchObject({
        ...contextFull,
        reason: expect.stringMatching(
          /^the model's context is full; .*\(the provider answered 400: prompt is too long: 9 tokens > 8 maximum\)$/,
        ),
      })
      expect((await ask(refusing(413))).ending).toMatchObject(contextFull)
      const code = { type: 'invalid_request_error', message: 'no', code: 'context_length_exceeded' }
      const byCode = await ask(failing(400, JSON.stringify({ error: code })))
      expect(byCode.ending).toMatchObject(contextFull)
    })

    it.each([408, 409, 429, 500, 502, 529])('%i as worth another try', async (status) => {
      expect((await ask(refusing(status))).ending).toMatchObject(unavailable)
    })

    it.each<[string, Record<string, string>, number | null]>([
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
    ])('and its retry hint: %s', async (_, headers, retryAfterMs) => {
      expect((await ask(refusing(429, headers))).ending).toMatchObject({ retryAfterMs })
    })

    it('as final if the provider forbids a retry', async () => {
      const { ending } = await ask(refusing(429, { 'x-should-retry': 'false' }))
      expect(ending).toMatchObject({ class: 'transient', retryable: false })
    })

    it('with a bounded reason and without the key, even if the provider quotes it', async () => {
      const { ending } = await ask(refusing(401, {}, `invalid key ${apiKey} ${'ä'.repeat(5000)}`))
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
    ])('whose body is %s', async (_, body, said) => {
      const { ending } = await ask((_request, response) => response.writeHead(502).end(body))
      expect(ending).toMatchObject({ ...transient, reason: `the provider answered 502${said}` })
    })
  })

  describe('has a connection', () => {
    it('that is refused is worth another try, and the reason names no address', async () => {
      const baseUrl = await serve(() => undefined)
      await new Promise((resolve) => servers.pop()?.close(resolve))
      const { ending } = await read({ model: { baseUrl } })
      expect(ending).toMatchObject({
        ...unavailable,
        reason: 'no connection to the provider (ECONNREFUSED)',
      })
    })

    it('that breaks in the middle gives no answer', async () => {
      const { events, ending } = await ask((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(text('half'), () => setImmediate(() => response.destroy()))
      })
      expect(textIn(events)).toBe('half')
      expect(ending).toMatchObject(brokenOff)
    })

    it('that breaks before the headers is worth another try', async () => {
      expect((await ask((request) => request.socket.destroy())).ending).toMatchObject(transient)
    })

    it('that breaks after the finish reason has delivered its answer, with its calls', async () => {
      const bytes = call('{"path":"x"}') + finish('calls')
      const { response } = await answerOf(answering(bytes, { breaks: true }))
      expect(response).toMatchObject({
        stop: 'calls',
        calls: [{ name: 'read', raw: '{"path":"x"}', problem: null }],
      })
    })

    it('that ends without a reason has a cut answer', async () => {
      expect((await askOf(answering(text('half')))).ending).toMatchObject(cut)
      expect((await askOf(answering(''))).ending).toMatchObject(cut)
    })

    it('that ends without the last blank line has delivered its answer', async () => {
      const bytes = (text('all') + end).trimEnd()
      expect((await askOf(answering(bytes))).ending).toMatchObject(ended)
    })

    if (vendor.hasEndMark)
      it('is left at the end mark, even if the server keeps it open', async () => {
        const { ending } = await ask((_, response) =>
          response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .write(textAnswer(vendor, 'hi')),
        )
        expect(ending).toMatchObject(ended)
      })

    it('with an error in the stream gives no answer', async () => {
      const { ending } = await ask(streaming(text('half') + vendor.error('it is busy')))
      expect(ending).toMatchObject({ ...transient, reason: expect.stringContaining('it is busy') })
    })

    it('with garbage gives no answer', async () => {
      const { ending } = await ask(streaming(text('half') + vendor.garbage + end))
      expect(ending).toMatchObject(transient)
      const page = await ask((_, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
      )
      expect(page.ending).toMatchObject({
        kind: 'failed',
        class: 'provider',
        retryable: true,
        reason: expect.stringContaining('a web page'),
      })
    })

    it('is aborted if one line never ends', async () => {
      const endless: Fetch = async () =>
        new Response(
          new ReadableStream<Uint8Array>({
            pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(97)),
          }),
        )
      const { ending } = await askOf(endless)
      expect(ending).toMatchObject({ kind: 'failed', code: 'provider.stream', class: 'provider' })
    })

    it.each(['before', 'after'])('closes on abort %s its first byte', async (when) => {
      const stop = new AbortController()
      const closed = Promise.withResolvers<void>()
      const abort = () => setImmediate(() => stop.abort())
      await ask(
        (_, response) => {
          response.on('close', () => closed.resolve())
          if (when === 'after') response.writeHead(200).write(text('first'))
          else abort()
        },
        { signal: stop.signal, onBytes: abort },
      )
      await closed.promise
    })

    it('reports bytes for its headers and for every piece of its body', async () => {
      let reads = 0
      const body = `: keep-alive\n\n${text('hi')}${end}`
      await askOf(answering(body, { pieceBytes: 10 }), { onBytes: () => (reads += 1) })
      expect(reads).toBeGreaterThan(Math.floor(body.length / 10) - 10)
    })

    it.each([
      ['line ends of another system', (body: string) => body.replaceAll('\n', '\r\n')],
      ['no blanks after the colon', (body: string) => body.replaceAll('data: ', 'data:')],
      ['a mark at its beginning', (body: string) => `\ufeff${body}`],
      ['comments', (body: string) => body.replaceAll('data:', ': waiting\ndata:')],
      ['payloads over several lines', (body: string) => body.replaceAll(',"', ',\ndata: "')],
      ['ids of events', (body: string) => body.replaceAll('data:', 'id: 1\ndata:')],
      [
        'other names of events',
        (body: string) =>
          body.replaceAll(/^event: .*\n/gm, '').replaceAll('data:', 'event: message\ndata:'),
      ],
    ])('may send %s', async (_, written) => {
      const bytes = written(text('hi \ud83d\ude00') + end)
      const { events, ending } = await askOf(answering(bytes, { pieceBytes: 3 }))
      expect(textIn(events)).toBe('hi \ud83d\ude00')
      expect(ending).toMatchObject(ended)
    })
  })

  describe('reads a body of JSON, of a server that does not stream,', () => {
    const whole = { text: 'hi', args: '{"path":"x"}', stop: 'calls' } as const

    it('as the whole answer: text, calls, end and tokens', async () => {
      const { response, ending } = await answerOf(json(vendor.whole(whole)))
      expect(response).toMatchObject({
        text: 'hi',
        calls: [{ id: 'c1', name: 'read', raw: '{"path":"x"}', problem: null }],
      })
      expect(ending).toMatchObject({ stop: 'calls', finish: words.calls, usage })
    })

    it('with the arguments digit by digit', async () => {
      const args = '{"id":12345678901234567890}'
      const { response } = await answerOf(json(vendor.whole({ ...whole, args })))
      expect(response.calls).toMatchObject([{ raw: args }])
    })

    it('that the limit has cut, or that ends without a reason', async () => {
      const limited = await askOf(json(vendor.whole({ ...whole, stop: 'length' })))
      expect(limited.ending).toMatchObject({ stop: 'length' })
      const unended = await askOf(json(vendor.whole({ ...whole, stop: undefined })))
      expect(unended.ending).toMatchObject({ kind: 'finished', stop: vendor.unnamedEnd })
    })

    it('that is an error and calls itself a success', async () => {
      const body = '{"error":{"message":"no such model","code":404}}'
      expect((await askOf(json(body))).ending).toMatchObject({ kind: 'failed', class: 'refused' })
      const busy = '{"type":"error","error":{"type":"overloaded_error","message":"it is busy"}}'
      expect((await askOf(json(busy))).ending).toMatchObject({
        ...transient,
        reason: expect.stringContaining('it is busy'),
      })
    })

    it('that breaks off as no answer', async () => {
      const half = vendor.whole(whole).slice(0, -5)
      expect((await askOf(json(half))).ending).toMatchObject(brokenOff)
    })

    it('that is a stream and calls itself JSON', async () => {
      expect((await askOf(json(textAnswer(vendor, 'hi')))).ending).toMatchObject(ended)
    })
  })
})

it('an answer of Chat Completions that ends at its mark without a reason has another end', async () => {
  const chat = vendorNamed('openai-chat')
  const bytes = (chat.text('all') + chat.rest).trimEnd()
  const { ending } = await readOf(chat)({ fetch: answering(bytes) })
  expect(ending).toMatchObject({ kind: 'finished', stop: 'other' })
})

it.each([
  ['the request', {}, 1000],
  ['the response', { max_output_tokens: 50 }, 50],
])(
  'an answer of Responses with exactly as many tokens as %s allows has reached its limit',
  async (_, fields, limit) => {
    const vendor = vendorNamed('openai-responses')
    const endOf = async (output_tokens: number) => {
      const whole = JSON.parse(vendor.whole({ args: '{}', stop: 'calls' })) as object
      const body = { ...whole, ...fields, usage: { input_tokens: 1, output_tokens } }
      return (await readOf(vendor)({ fetch: json(JSON.stringify(body)) })).ending
    }
    expect(await endOf(limit)).toMatchObject({ stop: 'length', finish: 'completed' })
    expect(await endOf(limit - 1)).toMatchObject({ stop: 'calls' })
    expect(await endOf(limit + 1)).toMatchObject({ stop: 'calls' })
  },
)
