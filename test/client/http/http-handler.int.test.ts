// weir.http: one handler for requests of the web and of Node, the authors of requests, and its end.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { DefaultChatTransport } from 'ai'
import { pino } from 'pino'
import { z } from 'zod'
import { always, call, says, scriptedModel } from '../../../client/testing/testing.ts'
import {
  defineAgent,
  defineTool,
  type HttpHandler,
  type HttpOptions,
  type HttpPrincipal,
  Weir,
} from '../../../client/weir.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { serverSentEvents } from '../../apps/http/edge/edge-server.ts'
import { PageChat } from '../../apps/http/edge/ui-stream/page-chat.ts'

const base = 'http://shop.example/api/weir'
const users: Record<string, HttpPrincipal> = Object.fromEntries(
  ['ada', 'bob'].map((user) => [user, { name: user, tenant: user, context: { user } }]),
)
users.colleague = { name: 'colleague', tenant: 'ada', context: { user: 'colleague' } }
const principal: HttpOptions['principal'] = ({ headers }) => users[headers.get('cookie') ?? '']

const whoami = defineTool({
  name: 'whoami',
  description: 'The user',
  parameters: z.object({}),
  needsContext: z.object({ user: z.string() }),
  run: async (_, { context }) => `you are ${context.user}`,
})
const opened = Promise.withResolvers<string>()
const wait = defineTool({
  name: 'wait',
  description: 'Waits',
  parameters: z.object({}),
  run: async () => opened.promise,
})
const agent = defineAgent({
  name: 'helper',
  model: scriptedModel(
    always(({ newResults: [last], texts }) => {
      if (last === undefined && texts.at(-1) === 'Wait.') return says('I wait.', call('wait'))
      return last === undefined || last === 'opened'
        ? says('I look.', call('whoami'))
        : says('Done.')
    }),
  ),
  system: 'Help.',
  tools: [whoami, wait],
})

const folder = mkdtempSync(join(tmpdir(), 'weir-handler-'))
const lines: string[] = []
const log = pino(
  new Writable({
    write(line, _, done) {
      lines.push(String(line))
      done()
    },
  }),
)
let weir: Weir
let handler: HttpHandler
let key: string

const send = (path: string, headers: Record<string, string> = {}, more: RequestInit = {}) =>
  handler(new Request(base + path, { ...more, headers }))
const ask = (path: string, headers: Record<string, string>, body: unknown) =>
  send(
    path,
    { 'content-type': 'application/json', ...headers },
    { method: 'POST', body: JSON.stringify(body) },
  )
const message = (id: string, text = 'Hello') => ({
  id,
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }],
})
const codeOf = async (answer: Response) =>
  ((await answer.json()) as { error: { code: string } }).error.code

beforeAll(async () => {
  weir = await Weir.open({ agents: [agent], dataFolder: folder, partitions: 2, log })
  handler = weir.http({ basePath: '/api/weir', principal, origins: ['https://chat.example'] })
  await send('/console')
  key = readFileSync(join(folder, 'weir.key'), 'utf8').trim()
})

afterAll(async () => {
  await weir.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the handler of a program', () => {
  it('serves useChat, and runs the function tools with the context of the signed-in user', async () => {
    const transport = new DefaultChatTransport({
      api: `${base}/v1/ui-stream`,
      headers: { cookie: 'ada' },
      fetch: (url, init) => handler(new Request(url, init)),
    })
    const chat = new PageChat('', { id: 'chat', transport })
    await chat.sendMessage({ text: 'Who am I?' })
    expect(chat.shown).toMatchObject([
      { type: 'text', text: 'I look.' },
      { toolName: 'whoami', state: 'output-available', output: 'you are ada' },
      { type: 'text', text: 'Done.' },
    ])
    const [turn] = await weir.conversation('ada:chat').turns({ limit: 1 })
    expect(turn).toMatchObject({ agent: 'helper', end: { outcome: 'answered' } })
  })

  it('answers the same paths on a server of Node', async () => {
    const server = createServer(handler.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/weir`
      const transport = new DefaultChatTransport({
        api: `${url}/v1/ui-stream`,
        headers: { cookie: 'bob' },
      })
      const chat = new PageChat('', { id: 'on-node', transport })
      await chat.sendMessage({ text: 'Who am I?' })
      expect(chat.shown).toContainEqual(expect.objectContaining({ output: 'you are bob' }))
      expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('refuses everything but the files of the page without an author', async () => {
    for (const path of [
      '/v1/models',
      '/v1/approvals',
      '/console/api/state',
      '/v1/conversations/c/events',
    ])
      expect([path, (await send(path)).status]).toEqual([path, 401])
    expect((await ask('/v1/ui-stream', {}, message('c'))).status).toBe(401)
    expect((await send('/v1/models', { authorization: 'Bearer weir_other' })).status).toBe(401)
    const page = await send('/console')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toContain('src="console/assets/console.js"')
  })

  it('gives all controls to the key of the data folder, and none of them to a user', async () => {
    const own = { authorization: `Bearer ${key}` }
    expect((await send('/v1/models', own)).status).toBe(200)
    expect((await send('/console/api/state', own)).status).toBe(200)
    expect(await codeOf(await send('/console/api/state', { cookie: 'ada' }))).toBe('console.tenant')
    expect(await codeOf(await ask('/v1/approvals/x/allow', { cookie: 'ada' }, {}))).toBe(
      'edge.role',
    )
  })

  it('keeps a user off the conversation of another one', async () => {
    await (await ask('/v1/ui-stream', { cookie: 'ada' }, message('private'))).text()
    const path = '/v1/conversations/private/events'
    expect((await send(path, { cookie: 'bob' })).status).toBe(404)
    const events = await send(path, { cookie: 'ada' })
    expect(events.status).toBe(200)
    await events.body?.cancel()
  })

  it('runs the tools of a message with the context of its first author, also if another user repeats it', async () => {
    const body = { text: 'Wait.', messageId: 'm1' }
    for (const cookie of ['ada', 'colleague', 'colleague'])
      expect((await ask('/v1/conversations/shared/messages', { cookie }, body)).status).toBe(202)
    opened.resolve('opened')
    const events = weir.conversation('ada:shared').events()
    for await (const event of events) {
      if (event.type !== 'call-finished' || event.name !== 'whoami') continue
      expect(event.result).toBe('you are ada')
      break
    }
  })

  it('refuses pages of other sites, though their requests carry the cookie', async () => {
    const foreign = { cookie: 'ada', origin: 'https://evil.example' }
    expect(await codeOf(await ask('/v1/ui-stream', foreign, message('x')))).toBe('http.origin')
    const allowed = { cookie: 'ada', origin: 'https://chat.example' }
    const answer = await send('/v1/models', allowed)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://chat.example')
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('6000')
    const own = { cookie: 'ada', origin: 'http://shop.example' }
    expect((await send('/v1/models', own)).status).toBe(200)
  })

  it('reads no more of a body than its bound', async () => {
    const piece = new Uint8Array(1024 * 1024)
    let pieces = 0
    const body = new ReadableStream({
      pull(controller) {
        pieces += 1
        if (pieces > 100) controller.close()
        else controller.enqueue(piece)
      },
    })
    const answer = await send('/v1/ui-stream', { cookie: 'ada' }, {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(413)
    expect(pieces).toBeLessThan(limits.edgeBodyBytesMax / piece.length + 5)
  })

  it('answers 404 to a path outside the path of the program', async () => {
    const answer = await handler(new Request('http://shop.example/v1/models'))
    expect([answer.status, await codeOf(answer)]).toEqual([404, 'http.path'])
  })

  it.each(['Ada Smith', 'default'])(
    'shows a client nothing of a wrong user of the tenant %s, and writes it into the log',
    async (tenant) => {
      const wrong = weir.http({ principal: () => ({ name: 'ada', tenant }) })
      const answer = await wrong(new Request('http://shop.example/v1/models'))
      expect([answer.status, await codeOf(answer)]).toEqual([500, 'http.internal'])
      expect(lines.at(-1)).toContain('principal of weir.http returned a wrong user: tenant must be')
    },
  )

  it('ends its open streams when Weir is closed', async () => {
    const own = mkdtempSync(join(tmpdir(), 'weir-handler-'))
    const other = await Weir.open({ agents: [agent], dataFolder: own, partitions: 1, log })
    const serve = other.http({ principal: () => ({ name: 'op', tenant: null, roles: ['read'] }) })
    const stream = await serve(new Request('http://shop.example/console/api/live'))
    const events = serverSentEvents(stream)
    await events.next()
    const rest = (async () => {
      for await (const _ of events);
    })()
    await other.close()
    await rest
    rmSync(own, { recursive: true, force: true })
  })

  it('rejects each request if its file of keys cannot be read', async () => {
    const broken = weir.http({ apiKeys: join(folder, 'missing.json') })
    await expect(broken(new Request(base))).rejects.toThrow('missing.json')
    expect(lines.at(-1)).toContain('the HTTP handler of this program cannot be opened')
  })
})

const oidc = { issuer: 'https://id.example', audience: 'y', jwks: 'https://id.example/jwks' }

describe('the options of weir.http', () => {
  it.each([
    [{ consoleUrl: 'https://shop.example' }, 'oidc.login.clientId and oidc.login.consoleUrl go'],
    [{ consoleUrl: 'http://shop.example/console' }, 'http only on this machine'],
    [{ scope: 'email' }, "oidc.login.scope is 'email': give scopes with openid"],
    [{}, 'oidc.login.clientId needs oidc.allTenants'],
  ])('refuse the login %j at the first request', async (given, text) => {
    const login = { clientId: 'c', consoleUrl: 'https://shop.example/console', ...given }
    const broken = weir.http({ oidc: { ...oidc, login } })
    await expect(broken(new Request(base))).rejects.toThrow(text)
  })

  it.each([
    [{ prinzipal: principal }, 'unknown option prinzipal of weir.http; did you mean principal?'],
    [{ principal: 'ada' }, 'principal is "ada"; must be a function of the request'],
    [{ basePath: 'api/' }, 'basePath is "api/"; must be a path such as /api/weir'],
    [{ origins: ['chat.example'] }, '"chat.example" of origins is no origin'],
    [{ requestsPerMinute: 0 }, 'requestsPerMinute is 0; must be a whole number from 1'],
    [{ oidc: { issuer: 'x', audience: 'y', jwks: 'z' } }, 'oidc.jwks is no URL'],
    [{ oidc: { ...oidc, login: {} } }, 'oidc.login.clientId is undefined; must be a text'],
    [{ oidc: { ...oidc, login: { clientId: 'c', scopes: 'x' } } }, 'did you mean scope?'],
    [{ oidc: { ...oidc, login: { clientId: 'c', consoleUrl: 'x' } } }, 'consoleUrl is no URL'],
    [{ webhook: { url: 'https://x.example' } }, 'webhook.secret must be a text'],
  ])('refuse %j', (options, text) => {
    expect(() => weir.http(options as never)).toThrow(text)
  })
})
