// The tool kind `http` against a real server on this machine. Nothing here is timed: the tool's timeout bounds the wait for an event that must not come.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { HttpTool } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { httpTools } from '../../../../shared/tools/http/http.ts'
import { toolResponseBytesMax } from '../../../../shared/tools/http/http-ending.ts'
import type { RunningTool, ToolCall, ToolEnding } from '../../../../shared/tools/tool.ts'
import { clockFiring } from '../../../support/clock-firing.ts'
import { until } from '../../../support/inbox.ts'

type Seen = { request: IncomingMessage; body: string }
type Behave = (response: ServerResponse, seen: Seen) => void

const startHttp = httpTools()
const running: RunningTool[] = []
const seen: Seen[] = []
let behave: Behave = () => {}
let connections = 0

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    seen.push({ request, body })
    behave(response, { request, body })
  })
})
server.on('connection', () => {
  connections += 1
})
/** Accepts connections and sends nothing, or the bytes of a test. */
const mute = createTcpServer((socket) => sockets.add(socket.on('error', () => {})))
const sockets = new Set<Socket>()

beforeAll(async () => {
  await Promise.all([
    once(server.listen(0, '127.0.0.1'), 'listening'),
    once(mute.listen(0, '127.0.0.1'), 'listening'),
  ])
})
afterEach(async () => {
  for (const one of running) one.stop(0, 'the test is over')
  await Promise.all(running.splice(0).map(({ ended }) => ended))
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  seen.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  mute.close()
})

type Options = { run?: Partial<HttpTool>; call?: Partial<ToolCall> }

function start({ run = {}, call = {} }: Options = {}): RunningTool {
  const started = startHttp(
    { kind: 'http', url: urlOf(server), headers: {}, ...run },
    {
      arguments: '{}',
      idempotencyKey: '["c",7,1,0]',
      timeoutMs: 20_000,
      graceMs: 20_000,
      clock: systemClock,
      ...call,
    },
  )
  running.push(started)
  return started
}

function post(as: Behave, options?: Options): Promise<ToolEnding> {
  behave = as
  return start(options).ended
}

function urlOf(
  of: { address(): AddressInfo | string | null },
  { protocol = 'http', path = '/tool' } = {},
): string {
  return `${protocol}://127.0.0.1:${(of.address() as AddressInfo).port}${path}`
}

function answer(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Behave {
  return (response) => response.writeHead(status, headers).end(body)
}

const mayHaveEffect =
  'The request was sent, so it may have taken effect, or may still do; check before doing it again.'
const setupAdvice =
  'This is a fault of the set-up, not of the arguments: do not retry, continue without this tool or tell the user.'

describe('a server that answers', () => {
  it("gets the arguments as the body of a POST, and its answer's body is the result", async () => {
    behave = answer(200, 'it is sünny', { 'content-type': 'image/png' })
    const started = start({ call: { arguments: '{"town":"Zürich"}' } })
    expect(await started.started).toBe(true)
    expect(await started.ended).toEqual({ status: 'ok', text: 'it is sünny', reason: '' })
    expect(seen).toMatchObject([
      { body: '{"town":"Zürich"}', request: { method: 'POST', url: '/tool' } },
    ])
  })

  it('sees the idempotency key, the type of the body and the headers of the agent file', async () => {
    await post(answer(200, ''), {
      run: { headers: { Authorization: ' Bearer abc\n', 'X-Team': 'fish' } },
    })
    expect(seen[0]?.request.headers).toMatchObject({
      'idempotency-key': '["c",7,1,0]',
      'content-type': 'application/json',
      'content-length': '2',
      authorization: 'Bearer abc',
      'x-team': 'fish',
    })
  })

  it('sees its own name, and the user and the password of the URL where no header has others', async () => {
    const url = urlOf(server).replace('//', '//fi%20sh:s%C3%BCss@')
    await post(answer(200, ''), { run: { url } })
    await post(answer(200, ''), {
      run: { url, headers: { Authorization: 'Bearer abc', Host: 'fish.example' } },
    })
    expect(
      seen.map(({ request }) => [request.headers.host, request.headers.authorization]),
    ).toEqual([
      [new URL(url).host, `Basic ${Buffer.from('fi sh:süss').toString('base64')}`],
      ['fish.example', 'Bearer abc'],
    ])
  })

  it('sees an idempotency key that no header can carry as the same JSON, escaped', async () => {
    const idempotencyKey = JSON.stringify(['会話 \u007f\u0000 é', 7, 1, 0])
    await post(answer(200, ''), { call: { idempotencyKey } })
    const header = String(seen[0]?.request.headers['idempotency-key'])
    expect(header).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(header)).toEqual(JSON.parse(idempotencyKey))
  })

  it('sees our headers also if the agent file names them', async () => {
    const headers = {
      'Content-Length': '999',
      'Transfer-Encoding': 'chunked',
      'Idempotency-Key': 'mine',
      'content-type': 'text/plain',
    }
    expect(await post(answer(200, 'fine'), { run: { headers } })).toMatchObject({ status: 'ok' })
    expect(seen[0]?.request.headers).toMatchObject({
      'content-length': '2',
      'idempotency-key': '["c",7,1,0]',
      'content-type': 'application/json',
    })
    expect(seen[0]?.request.headers['transfer-encoding']).toBeUndefined()
  })

  it('gets call after call on one connection', async () => {
    await post(answer(200, 'first'))
    const before = connections
    for (let calls = 0; calls < 50; calls += 1) await post(answer(200, 'again'))
    expect(connections - before).toBe(0)
  })

  it('gets a megabyte of arguments whole', async () => {
    const text = JSON.stringify({ text: 'é'.repeat(500_000) })
    const ending = await post((response, { body }) => response.end(String(body.length)), {
      call: { arguments: text },
    })
    expect(ending).toMatchObject({ status: 'ok', text: String(text.length) })
  })

  it('may answer with nothing', async () => {
    expect(await post(answer(204, ''))).toEqual({ status: 'ok', text: '', reason: '' })
  })

  it('may end its answer by closing the connection', async () => {
    const ending = await post((response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\n\r\nthat was all')
    })
    expect(ending).toEqual({ status: 'ok', text: 'that was all', reason: '' })
  })
})

describe('an answer', () => {
  it('is truncated at a whole character, with a note', async () => {
    const ending = await post(answer(200, 'é'.repeat(1_000_000)), {
      run: { outputBytesMax: 10_001 },
    })
    expect(ending).toEqual({
      status: 'ok',
      text: `${'é'.repeat(5_000)}\n[cut: this is the beginning of 2000000 bytes]`,
      reason: '',
    })
  })

  it('stays below the bound of a result with any setting of the agent file', async () => {
    const { text } = await post(answer(200, 'x'.repeat(1_000_000)), {
      run: { outputBytesMax: 900_000 },
    })
    expect(Buffer.byteLength(text)).toBeLessThan(limits.resultBytesMax)
  })

  it('that does not end is read up to a bound, and its result has a note', async () => {
    const flood = (response: ServerResponse) => {
      const chunk = Buffer.alloc(1 << 20, 'x')
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    }
    const { status, text } = await post(flood, { run: { outputBytesMax: 100 } })
    expect([status, text.slice(0, 101)]).toEqual(['ok', `${'x'.repeat(100)}\n`])
    expect(text).toContain(`[the rest of it was not read: more than ${toolResponseBytesMax} bytes]`)
  })

  it('that is not UTF-8 is shown with replacements and a note', async () => {
    expect(await post(answer(200, Buffer.from('6869ff21', 'hex')))).toMatchObject({
      status: 'ok',
      text: 'hi\uFFFD!\n[some bytes were not UTF-8 and are shown as \uFFFD]',
    })
  })
})

describe('an answer that is no success', () => {
  it('is an error with the status and the body', async () => {
    expect(await post(answer(404, 'no such town\nask for another'))).toEqual({
      status: 'error',
      text: 'The tool answered HTTP 404 (Not Found).\nIts answer:\nno such town\nask for another',
      reason: 'HTTP 404: no such town',
    })
  })

  it('without a body has the meaning of its status as the reason', async () => {
    expect(await post(answer(503, ' \n'))).toEqual({
      status: 'error',
      text: 'The tool answered HTTP 503 (Service Unavailable). Its answer was empty.',
      reason: 'HTTP 503: Service Unavailable',
    })
  })

  it('is a redirect, which is not followed', async () => {
    const ending = await post(answer(307, '', { location: 'http://elsewhere.example/?key=secret' }))
    expect(seen).toHaveLength(1)
    expect(ending).toMatchObject({
      status: 'error',
      reason: 'HTTP 307: redirects are not followed',
    })
    expect(ending.text).toContain(mayHaveEffect)
    expect(ending.text + ending.reason).not.toContain('elsewhere')
    expect(ending.fault).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ redirects to http:\/\/elsewhere\.example \(HTTP 307\); /,
    )
  })
})

describe('a server that cannot be reached', () => {
  it('refuses the connection', async () => {
    const closed = createTcpServer()
    await once(closed.listen(0, '127.0.0.1'), 'listening')
    const url = urlOf(closed, { path: '/secret-path' })
    await new Promise((resolve) => closed.close(resolve))
    const started = start({ run: { url } })
    expect(await started.started).toBe(false)
    expect(await started.ended).toEqual({
      status: 'error',
      text: `The tool could not be started: its server refused the connection (ECONNREFUSED). ${setupAdvice}`,
      reason: 'could not be started: ECONNREFUSED',
      fault: `cannot reach ${new URL(url).origin}: its server refused the connection (ECONNREFUSED); start the server, or correct url in the agent file`,
    })
  })

  it('has an unknown name', async () => {
    const started = start({ run: { url: 'http://no-such-server.invalid/' } })
    expect(await started.started).toBe(false)
    expect((await started.ended).reason).toMatch(/^could not be started: (ENOTFOUND|EAI_AGAIN)$/)
  })

  it('does not speak TLS', async () => {
    const started = start({ run: { url: urlOf(server, { protocol: 'https' }) } })
    expect(await started.started).toBe(false)
    expect((await started.ended).text).toContain('no secure connection to its server could be made')
    expect(seen).toEqual([])
  })

  it('lets the time pass before a request can be sent', async () => {
    const started = start({
      run: { url: urlOf(mute, { protocol: 'https' }) },
      call: { timeoutMs: 200 },
    })
    expect(await started.started).toBe(false)
    expect(await started.ended).toMatchObject({
      status: 'error',
      text: 'The tool could not be reached within 200 ms. The call was not run.',
      reason: 'not ready within 200 ms',
    })
  })

  it('is skipped when it is stopped before a request could be sent', async () => {
    const started = start({ run: { url: urlOf(mute, { protocol: 'https' }) } })
    await until(() => sockets.size > 0)
    started.stop(1_000, 'the turn was cancelled')
    expect(await started.ended).toMatchObject({
      status: 'skipped',
      reason: 'stopped before it began: the turn was cancelled',
    })
    expect(await started.started).toBe(false)
  })

  it.each([
    ['no URL', { url: 'nowhere' }],
    ['another protocol', { url: 'ftp://127.0.0.1/' }],
    ['a header that cannot be sent', { headers: { authorization: 'hush\nhush' } }],
  ])('has in its agent file %s', async (_, run) => {
    const started = start({ run })
    expect(await started.started).toBe(false)
    const ending = await started.ended
    expect(ending.text).toContain('could not be started: its request cannot be sent')
    expect(JSON.stringify(ending)).not.toMatch(/nowhere|hush/)
  })
})

describe('a request that was sent', () => {
  it('times out without an answer, and may have taken effect', async () => {
    let isSent = false
    const clock = clockFiring(200, () => isSent)
    const started = start({ run: { url: urlOf(mute) }, call: { timeoutMs: 200, clock } })
    isSent = await started.started
    expect(isSent).toBe(true)
    expect(await started.ended).toEqual({
      status: 'timed_out',
      text: `The tool did not finish its answer within 200 ms. ${mayHaveEffect}`,
      reason: 'timed out after 200 ms',
    })
  })

  it('times out during the answer, and shows its beginning', async () => {
    let isWritten = false
    let looks = 0 // between two of them, this process reads the bytes that it wrote
    const isRead = () => {
      if (isWritten) looks += 1
      return looks > 3
    }
    const ending = await post(
      (response) =>
        void response.write('so far', () => {
          isWritten = true
        }),
      { call: { timeoutMs: 300, clock: clockFiring(300, isRead) } },
    )
    expect(ending).toMatchObject({
      status: 'timed_out',
      text: expect.stringMatching(/again\.\nIts answer:\nso far$/),
    })
  })

  it('has an unknown outcome when it is stopped', async () => {
    behave = () => {}
    const started = start()
    await until(() => seen.length > 0)
    started.stop(1_000_000, 'the turn was cancelled')
    expect(await started.ended).toMatchObject({
      status: 'unknown',
      reason: 'stopped: the turn was cancelled',
    })
    await until(() => seen[0]?.request.destroyed === true)
  })

  it('is an error where the connection broke before the answer', async () => {
    const ending = await post((response) => response.socket?.resetAndDestroy())
    expect(ending).toEqual({
      status: 'error',
      text: `The connection to the tool broke before it answered (ECONNRESET). ${mayHaveEffect}`,
      reason: 'connection broke before it answered: ECONNRESET',
    })
    expect(seen).toHaveLength(1)
  })

  it('is an error where the connection broke in the middle of the answer', async () => {
    const ending = await post((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('the beginn')
      setImmediate(() => response.socket?.destroy())
    })
    expect(ending).toMatchObject({
      status: 'error',
      reason: 'connection broke in the middle of its answer (HTTP 200): ECONNRESET',
    })
    expect(ending.text).toMatch(/again\.\nIts answer:\nthe beginn$/)
  })

  it.each([
    ['is not HTTP', 'hello\r\n\r\n', /^not HTTP: HPE_/],
    [
      'has headers without an end',
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`,
      /^not HTTP: HPE_HEADER_OVERFLOW$/,
    ],
    [
      'changes the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      /ECONNRESET$/,
    ],
  ])('is an error where the answer %s', async (_, bytes, reason) => {
    const started = start({ run: { url: urlOf(mute) } })
    await until(() => sockets.size > 0)
    for (const socket of sockets) socket.write(bytes)
    expect(await started.ended).toMatchObject({
      status: 'error',
      reason: expect.stringMatching(reason),
    })
  })

  it('may be answered before it is whole', async () => {
    const early = createServer((_, response) => response.writeHead(413).end('too much'))
    await once(early.listen(0, '127.0.0.1'), 'listening')
    const ending = await start({
      run: { url: urlOf(early) },
      call: { arguments: JSON.stringify('x'.repeat(limits.argumentBytesMax)) },
    }).ended
    early.closeAllConnections()
    early.close()
    expect(ending).toMatchObject({
      status: 'error',
      reason: expect.stringMatching(/^HTTP 413: too much$|^connection broke/),
    })
  })

  it('after its end is not stopped any more', async () => {
    behave = answer(200, 'done')
    const started = start()
    await started.ended
    started.stop(0, 'the turn was cancelled')
    expect(await started.ended).toMatchObject({ status: 'ok' })
  })
})
