// The pages for probes over HTTP, and bad clients that must block nobody.

import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type HealthServer, startHealthServer } from '../../../apps/service/health-server.ts'

let live: boolean
let ready: boolean
let metricsText: () => Promise<string>
let server: HealthServer

beforeEach(async () => {
  live = true
  ready = true
  metricsText = async () => 'weir_open_units 3\n'
  server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    health: {
      get live() {
        return { live, why: live ? [] : ['validator cannot go on'] }
      },
      get ready() {
        return {
          ready,
          phase: 'running' as const,
          why: ready ? [] : ['validator has not joined'],
          stages: {},
        }
      },
    },
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: () => metricsText() },
  })
})

afterEach(() => server.close())

const ask = (path: string, options?: RequestInit) => fetch(server.url + path, options)

/** The answer to these bytes, up to the end of the connection. */
function raw(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(bytes)
  return textOf(socket)
}

describe('the health server', () => {
  it('answers 200 while all is well, and 503 with the reasons otherwise', async () => {
    const well = await ask('/readyz')
    expect([well.status, await well.json()]).toEqual([
      200,
      { ready: true, phase: 'running', why: [], stages: {} },
    ])
    expect((await ask('/livez')).status).toBe(200)
    live = false
    ready = false
    const unready = await ask('/readyz')
    expect([unready.status, await unready.json()]).toEqual([
      503,
      expect.objectContaining({ why: ['validator has not joined'] }),
    ])
    const dead = await ask('/livez')
    expect([dead.status, await dead.json()]).toEqual([
      503,
      { live: false, why: ['validator cannot go on'] },
    ])
  })

  it('answers metrics in the text format of Prometheus', async () => {
    const answer = await ask('/metrics?name=x')
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      'weir_open_units 3\n',
    ])
  })

  it('answers HEAD as GET, without the body', async () => {
    const answer = await ask('/readyz', { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(10)
  })

  it.each(['/', '/live', '/livez/', '/__proto__', '/constructor', '//livez'])(
    'answers 404 to %s and lists the pages',
    async (path) => {
      const answer = await ask(path)
      expect([answer.status, await answer.text()]).toEqual([
        404,
        'Unknown page. Pages: /livez, /readyz, /metrics.\n',
      ])
    },
  )

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('answers 405 to %s', async (method) => {
    const answer = await ask('/livez', { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it.each([
    ['bytes that are no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'a header without an end',
      `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}`,
      /^HTTP\/1\.1 431 /,
    ],
  ])('refuses %s and continues', async (_, bytes, answer) => {
    expect(await raw(bytes)).toMatch(answer)
    expect((await ask('/livez')).status).toBe(200)
  })

  it.each([
    ['send nothing', ''],
    ['send half a request', 'GET /livez HTTP/1.1\r\nhost: x'],
    ['hold a connection after an answer', 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('answers a probe at once while 300 clients %s', async (_, bytes) => {
    const port = Number(new URL(server.url).port)
    const clients = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'))
    await Promise.all(
      clients.map(
        (client) =>
          new Promise<void>((done) => {
            client.on('error', () => {}).once('close', done)
            client.once('connect', () => client.write(bytes, () => done()))
          }),
      ),
    )
    expect((await ask('/readyz', { signal: AbortSignal.timeout(3_000) })).status).toBe(200)
    expect((await ask('/livez', { signal: AbortSignal.timeout(3_000) })).status).toBe(200)
    for (const client of clients) client.destroy()
  })

  it('lets a request in work end, however many connections come', async () => {
    const waiting = Promise.withResolvers<string>()
    metricsText = () => waiting.promise
    const asked = ask('/metrics')
    const port = Number(new URL(server.url).port)
    const clients = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'))
    for (const client of clients) client.on('error', () => {})
    expect((await ask('/livez')).status).toBe(200)
    waiting.resolve('ok')
    expect((await asked).status).toBe(200)
    for (const client of clients) client.destroy()
  })

  it('drops a client that does not finish its request', async () => {
    expect(await raw('GET /livez HTTP/1.1\r\n')).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('answers other requests while metrics wait, and 500 if they fail', async () => {
    const waiting = Promise.withResolvers<string>()
    metricsText = () => waiting.promise
    const asked = ask('/metrics')
    expect((await ask('/livez')).status).toBe(200)
    waiting.reject(new Error('broken'))
    expect((await asked).status).toBe(500)
    expect((await ask('/livez')).status).toBe(200)
  })

  it('names the port in use and the flags for another one', async () => {
    const { port } = new URL(server.url)
    const options = {
      host: '127.0.0.1',
      port: Number(port),
      health: {
        live: { live, why: [] },
        ready: { ready, phase: 'running' as const, why: [], stages: {} },
      },
    }
    await expect(
      startHealthServer({ ...options, metrics: { contentType: '', text: metricsText } }),
    ).rejects.toMatchObject({
      code: 'settings.invalid',
      message: `the health server cannot listen on 127.0.0.1, port ${port}: the port is in use; give another address: --health-port PORT (WEIR_HEALTH_PORT; 0: any free port), --health-host HOST (WEIR_HEALTH_HOST)`,
    })
  })

  it('closes even if a client keeps its connection open', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const closed = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    await ask('/livez')
    await server.close()
    await closed
    await expect(ask('/livez')).rejects.toThrow('fetch failed')
  })
})
