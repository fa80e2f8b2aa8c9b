// The HTTP server of the fronts, its bounds, and the interface of a front over it.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { guardsByAgent } from '../../../apps/http/guards-by-agent.ts'
import { guestRoutes } from '../../../apps/http/guest-routes.ts'
import { httpIdleMs } from '../../../apps/http/http2/http2-connections.ts'
import { bytesOf, httpBodiesBytesMax } from '../../../apps/http/request-body.ts'
import {
  type HttpApp,
  type HttpServer,
  httpConnectionsMax,
  startHttpServer,
} from '../../../apps/http/server.ts'
import type { GuardSession } from '../../../client/guard/guest-conversation.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { until } from '../../support/inbox.ts'
import { scriptedGuard } from './scripted-guard.ts'

let server: HttpServer | undefined
const lines: string[] = []

afterEach(async () => {
  lines.length = 0
  await server?.close()
})

async function serve(...routes: ((app: HttpApp) => void)[]): Promise<string> {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  server = await startHttpServer({ host: '127.0.0.1', port: 0, log, routes })
  return server.url
}

const serveGuard = (guard: GuardSession) => serve(guestRoutes(guardsByAgent(async () => guard)))

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) })

/** The files that this process may open. */
function filesMax(): number {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } }
  }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isNaN(soft) ? 20_000 : soft
}

/** fetch sets these headers itself, so they need Node's own client. */
function withHeaders(url: string, headers: Record<string, string>): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (answer) => {
      textOf(answer).then((text) => resolve([answer.statusCode ?? 0, text]), reject)
    })
      .on('error', reject)
      .end()
  })
}

describe('the HTTP server', () => {
  const hello = (app: HttpApp) => app.get('/hello', (context) => context.text('hello'))

  it('answers a request under a name of this machine', async () => {
    const url = await serve(hello)
    const { port } = new URL(url)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect(await withHeaders(`${url}/hello`, { host })).toEqual([200, 'hello'])
  })

  it('refuses a request under another name, as from a page that rebinds its own', async () => {
    const url = await serve(hello)
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'x@evil.example'])
      expect([400, 403]).toContain((await withHeaders(`${url}/hello`, { host }))[0])
  })

  it('refuses a page of another site', async () => {
    const url = await serve(hello)
    const { host } = new URL(url)
    expect((await withHeaders(`${url}/hello`, { origin: 'http://evil.example' }))[0]).toBe(403)
    expect((await withHeaders(`${url}/hello`, { origin: 'null' }))[0]).toBe(403)
    expect((await withHeaders(`${url}/hello`, { origin: `http://${host}` }))[0]).toBe(200)
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
    expect((await withHeaders(`${url}/hello`, image))[0]).toBe(403)
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await withHeaders(`${url}/hello`, link))[0]).toBe(200)
  })

  it('answers a browser that asks for a page with the error as a page, and others with JSON', async () => {
    const url = await serve(hello)
    const page = await fetch(`${url}/<b>`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      404,
      "default-src 'none'",
    ])
    expect(await page.text()).toContain('<p>unknown path: there is no GET /&#60;b&#62;</p>')
    const other = await fetch(`${url}/<b>`, { headers: { accept: '*/*' } })
    expect(await other.json()).toMatchObject({ error: { code: 'http.path' } })
  })

  it('answers again once 10,000 connections that send no whole request are closed', async () => {
    const url = await serve(hello)
    const port = Number(new URL(url).port)
    const files = filesMax()
    const sockets = Array.from({ length: Math.min(10_000, files - 6_000) }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write('GET /hello HTTP/1.1\r\nhost: 127.0.0.1\r\n')
      return socket
    })
    const closed = sockets.map(
      (socket) => new Promise((resolve) => socket.resume().once('close', resolve)),
    )
    await Promise.all(closed)
    expect(await withHeaders(`${url}/hello`, {})).toEqual([200, 'hello'])
  })

  it('announces that it keeps a connection that is idle while a model thinks', async () => {
    const { headers } = await fetch(`${await serve(hello)}/hello`)
    expect(headers.get('keep-alive')).toBe(`timeout=${httpIdleMs / 1000}`)
  })

  it('announces the end of each connection while many are open', async () => {
    const url = await serve(hello)
    const open = async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
      socket.write('GET /hello HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
      const [answer] = (await once(socket, 'data')) as [Buffer]
      return { socket, text: answer.toString().toLowerCase() }
    }
    const connections: Awaited<ReturnType<typeof open>>[] = []
    const many = httpConnectionsMax / 2
    while (connections.length < many) {
      const some = Math.min(100, many - connections.length)
      connections.push(...(await Promise.all(Array.from({ length: some }, open))))
    }
    const isKept = ({ text }: { text: string }) => text.includes('connection: keep-alive')
    expect(connections.every(isKept)).toBe(true)
    const late = await open()
    expect(late.text).toContain('connection: close')
    for (const { socket } of [...connections, late]) socket.destroy()
  }, 60_000)

  it('announces the end of a connection in the answers that it still gives when it closes', async () => {
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    const url = await serve((app) =>
      app.get('/slow', async (context) => {
        enter()
        await left
        return context.text('slow')
      }),
    )
    const answering = fetch(`${url}/slow`)
    await entered
    const closing = server?.close()
    leave()
    const answer = await answering
    expect([answer.headers.get('connection'), await answer.text()]).toEqual(['close', 'slow'])
    await closing
  })

  it('goes on when clients leave in the middle of a body', async () => {
    const bodies: string[] = []
    const url = await serve(hello, (app) =>
      app.post('/body', async (context) => {
        bodies.push((await bytesOf(context.env.incoming, 1_000)).toString())
        return context.text('read')
      }),
    )
    const port = Number(new URL(url).port)
    const left = Array.from({ length: 100 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.write('POST /body HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{"a":')
      await once(socket, 'connect')
      socket.destroy()
    })
    await Promise.all(left)
    expect(await (await fetch(`${url}/body`, { method: 'POST', body: 'whole' })).text()).toBe(
      'read',
    )
    expect(bodies).toEqual(['whole'])
    expect(lines.filter((line) => line.includes('"level":50'))).toEqual([])
  })

  it('holds a bounded number of bytes of unfinished bodies, and drops the one that stalls', async () => {
    const url = await serve(hello, (app) =>
      app.post('/body', async (context) => {
        await bytesOf(context.env.incoming, httpBodiesBytesMax)
        return context.text('read')
      }),
    )
    const port = Number(new URL(url).port)
    const half = Buffer.alloc(httpBodiesBytesMax / 2)
    const head = `POST /body HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${half.length + 1}\r\n\r\n`
    const sockets: Socket[] = []
    const sent = (bytes: Buffer) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write(head)
      return new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
    }
    const more = () => fetch(`${url}/body`, { method: 'POST', body: Buffer.alloc(1_000) })
    try {
      await sent(half)
      await sent(half)
      let answer = await more()
      while (answer.status === 200) answer = await more() // the halves may still be on their way
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
      await until(async () => (await more()).status === 200)
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  it('keeps the text of an unforeseen error out of the answer', async () => {
    const url = await serve((app) =>
      app.get('/broken', () => {
        throw new Error('the key is sk-secret')
      }),
    )
    const answer = await fetch(`${url}/broken`)
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('sk-secret')
    expect(lines.join('')).toContain('a route of the HTTP server failed')
  })

  it('reports a port that is in use, with the options to change it', async () => {
    const url = await serve()
    await expect(
      startHttpServer({
        host: '127.0.0.1',
        port: Number(new URL(url).port),
        log: pino({ level: 'silent' }),
        routes: [],
      }),
    ).rejects.toThrow(/the port is in use; give another address with --host and --port/)
  })
})

describe('the interface of a front over HTTP', () => {
  const body = { messages: [{ role: 'user', content: 'hi' }] }

  it('passes a request on and returns the advice', async () => {
    const guard = scriptedGuard({ before: () => ({ action: 'nudge', text: 'change it' }) })
    const url = await serveGuard(guard)
    const answer = await post(`${url}/v1/guest/a/before-model`, {
      conversation: 'c',
      turn: 't',
      format: 'anthropic',
      body,
    })
    expect(await answer.json()).toMatchObject({ action: 'nudge', text: 'change it', applied: body })
    expect(guard.asked).toEqual([
      { kind: 'before', id: 'c', turn: 't', request: { format: 'anthropic', body } },
    ])
  })

  it('answers 202 while a call waits, and 200 after that', async () => {
    const guard = scriptedGuard({
      after: (_, n) => [
        { callId: '1', name: 'x', verdict: n === 1 ? 'pending' : 'allow', text: '', code: '' },
      ],
    })
    const url = await serveGuard(guard)
    const ask = { conversation: 'c', format: 'anthropic', body, answer: {} }
    const judge = () => post(`${url}/v1/guest/a/after-model?waitMs=1000`, ask)
    expect((await judge()).status).toBe(202)
    expect((await judge()).status).toBe(200)
  })

  it('refuses a wait that is no number of milliseconds up to 10 minutes', async () => {
    const url = await serveGuard(scriptedGuard())
    const ask = { conversation: 'c', format: 'anthropic', body, answer: {} }
    for (const wait of ['25s', '600001', '-1']) {
      const answer = await post(`${url}/v1/guest/a/after-model?waitMs=${wait}`, ask)
      expect(answer.status).toBe(400)
      expect(await answer.text()).toContain('waitMs must be 0 to 600000 milliseconds')
    }
  })

  it('passes results and the end of a turn on', async () => {
    const guard = scriptedGuard()
    const url = await serveGuard(guard)
    const results = [{ callId: '1', status: 'ok', text: 'done' }]
    const reported = await post(`${url}/v1/guest/a/report-results`, { conversation: 'c', results })
    expect(reported.status).toBe(204)
    expect((await post(`${url}/v1/guest/a/end-turn`, { conversation: 'c' })).status).toBe(204)
    expect(guard.asked).toEqual([
      { kind: 'results', id: 'c', results },
      { kind: 'end', id: 'c' },
    ])
  })

  it.each([
    [{ format: 'anthropic' }, 'conversation must be a text'],
    [{ conversation: 'c', format: 'x' }, 'format must be one of: anthropic'],
    [{ conversation: 'c', turn: 1, format: 'anthropic' }, 'turn must be a text'],
    [{ conversation: '', format: 'anthropic' }, 'conversation must not be empty'],
    [{ conversation: 'c', turn: '', format: 'anthropic' }, 'turn must not be empty'],
  ])('refuses the body %j and names the field', async (sent, text) => {
    const url = await serveGuard(scriptedGuard())
    const answer = await post(`${url}/v1/guest/a/before-model`, sent)
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(text)])
  })

  it('refuses to judge an answer that is missing', async () => {
    const guard = scriptedGuard()
    const url = await serveGuard(guard)
    const ask = { conversation: 'c', format: 'anthropic', body }
    const answer = await post(`${url}/v1/guest/a/after-model`, ask)
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('answer is missing'),
    ])
    expect(guard.asked).toEqual([])
  })

  it('refuses a body that is larger than its bound before it reads it', async () => {
    const url = await serveGuard(scriptedGuard())
    const [status] = await new Promise<[number]>((resolve, reject) => {
      const headers = { 'content-length': String(65 * 1024 * 1024) }
      const sent = request(`${url}/v1/guest/a/end-turn`, { method: 'POST', headers }, (answer) => {
        resolve([answer.statusCode ?? 0])
        sent.destroy()
      })
      sent.on('error', reject).flushHeaders()
    })
    expect(status).toBe(413)
  })

  it('reports an unreadable history with its place', async () => {
    const guard = scriptedGuard({
      before: () => {
        throw new WeirError('guest.format', 'messages[3] must be an object')
      },
    })
    const url = await serveGuard(guard)
    const ask = { conversation: 'c', format: 'anthropic', body: {} }
    const answer = await post(`${url}/v1/guest/a/before-model`, ask)
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('messages[3] must be an object'),
    ])
  })

  it('serves a guest also after a client has used more names than there is room', async () => {
    const opened: string[] = []
    const { guardOf } = guardsByAgent(
      async (agent) => opened.push(agent),
      (agent) => agent === 'root',
    )
    await guardOf('root')
    for (let n = 0; n <= limits.frontAgentsMax; n += 1) await guardOf(`evil-${n}`)
    await guardOf('root')
    await guardOf('new')
    await guardOf('new')
    expect(opened.filter((agent) => !agent.startsWith('evil-'))).toEqual(['root', 'new'])
    await guardOf('evil-0')
    expect(opened.filter((agent) => agent === 'evil-0')).toHaveLength(2)
  })

  it('opens a guest once, and not under a name that cannot be one', async () => {
    let opened = 0
    const guard = scriptedGuard()
    const registry = guardsByAgent(async () => {
      opened += 1
      return guard
    })
    const url = await serve(guestRoutes(registry))
    const end = (agent: string) => post(`${url}/v1/guest/${agent}/end-turn`, { conversation: 'c' })
    await Promise.all([end('a'), end('a')])
    expect(opened).toBe(1)
    expect((await end('..%2Fx')).status).toBe(404)
    expect(opened).toBe(1)
  })
})

it('answers once in a program that started a server of @hono/node-server before', () => {
  const program = `
    import { getRequestListener } from '@hono/node-server'
    getRequestListener(() => new Response(''))
    const { startHttpServer } = await import('./apps/http/server.ts')
    const { answerJson } = await import('./apps/http/direct-answer.ts')
    const routes = [(app) => app.get('/hello', (context) => answerJson(context, { said: 'hello' }))]
    const log = { debug() {}, error: console.error, warn: console.error, info() {} }
    const server = await startHttpServer({ host: '127.0.0.1', port: 0, log, routes })
    console.log(await (await fetch(server.url + '/hello')).text())
    await server.close()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  expect([stdout, stderr]).toEqual(['{"said":"hello"}\n', ''])
})
