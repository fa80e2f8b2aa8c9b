// The bounds between a client, the proxy and the model server: headers of Weir, and the path of the
// operator's URL.

import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { limits } from '../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { messagesCase } from './requests.ts'
import { type Received, sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined
afterEach(() => proxy?.close())

const { path, request, first, answer } = messagesCase
const veto = { coversSubscriptions: false }

/** The raw target: fetch would resolve the dots. */
async function get(target: string): Promise<{ status: number | undefined; text: string }> {
  const sent = nodeRequest({
    host: '127.0.0.1',
    port: new URL(proxy?.url ?? '').port,
    path: target,
  })
  const [received] = (await once(sent.end(), 'response')) as [IncomingMessage]
  return { status: received.statusCode, text: (await buffer(received)).toString() }
}

describe('a model server behind the proxy', () => {
  it.each([
    ['without a veto', undefined],
    ['with a veto', veto],
  ])('cannot forge the headers of Weir %s', async (_, how) => {
    const respond = (__: Received, response: Parameters<typeof sendJson>[0]) => {
      response.setHeader('X-Weir', 'text_only')
      response.setHeader('x-weir-attempts', '7')
      response.setHeader('x-own', 'kept')
      sendJson(response, { ...(answer as object), content: [], stop_reason: 'end_turn' })
    }
    proxy = await proxied(scriptedGuard(), respond, '', how)
    const { headers } = await fetch(`${proxy.url}${path}`, { method: 'POST', body: first })
    expect(headers.get('x-weir')).toBeNull()
    expect(headers.get('x-weir-attempts')).toBe(how === undefined ? null : '1')
    expect(headers.get('x-own')).toBe(how === undefined ? 'kept' : null)
  })

  it.each(
    [300, 301, 302, 303, 305, 307, 308].flatMap((status) =>
      [undefined, veto].map((how) => ({ status, how, title: how ? 'with' : 'without' })),
    ),
  )('cannot send a client elsewhere with $status, $title a veto', async ({ status, how }) => {
    const respond = (_: Received, response: Parameters<typeof sendJson>[0]) => {
      response.writeHead(status, { location: 'http://other.example/v1' }).end('{}')
    }
    proxy = await proxied(scriptedGuard(), respond, '', how)
    const requests: [string, RequestInit][] = [
      [path, { method: 'POST', body: first }],
      ['/v1/files', { method: 'POST', body: 'unjudged' }],
      ['/v1/models', {}],
    ]
    for (const [target, request] of requests) {
      const answered = await fetch(`${proxy.url}${target}`, { ...request, redirect: 'manual' })
      const { error } = (await answered.json()) as { error?: { code?: string; message: string } }
      expect([answered.status, answered.headers.get('location')]).toEqual([502, null])
      expect(JSON.stringify(error)).toContain('point --upstream at the final address')
    }
  })

  it('may redirect a request within its origin, which the client does not see', async () => {
    const respond = ({ url }: Received, response: Parameters<typeof sendJson>[0]) => {
      if (url === '/v1/moved') sendJson(response, { found: true })
      else response.writeHead(302, { location: '/v1/moved' }).end()
    }
    proxy = await proxied(scriptedGuard(), respond, '', veto)
    const models = await fetch(`${proxy.url}/v1/models`, { redirect: 'manual' })
    expect(await models.json()).toEqual({ found: true })
    const posted = await fetch(`${proxy.url}${path}`, {
      method: 'POST',
      body: first,
      redirect: 'manual',
    })
    expect(posted.status).toBe(502) // a client would repeat it as a GET
  })

  it('keeps no connection for a refusal that is too large to read', async () => {
    const closed = Promise.withResolvers<void>()
    const respond = (_: Received, response: Parameters<typeof sendJson>[0]) => {
      response.once('close', closed.resolve)
      response.writeHead(400, { 'content-length': limits.frontBodyBytesMax + 1 }).write('{')
    }
    const guard = scriptedGuard({ before: () => ({ action: 'text_only', text: 'Stop calling.' }) })
    proxy = await proxied(guard, respond)
    const answered = await fetch(`${proxy.url}${path}`, { method: 'POST', body: request })
    expect(answered.ok).toBe(false)
    await answered.text()
    await closed.promise
  })

  it('may answer with 304, which is no redirect', async () => {
    const respond = (_: Received, response: Parameters<typeof sendJson>[0]) => {
      response.writeHead(304, { location: 'http://other.example/', etag: '"a"' }).end()
    }
    proxy = await proxied(scriptedGuard(), respond)
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(304)
  })

  it.each([
    ...['/v1/../../x', '/v1/%2e%2e/%2E./x', '/..', '/a/..%2fx', '/a/..%5Cx', '/v1\\..\\..\\x'],
    ...['/proxy/main/v1/../../x', 'http://127.0.0.1/../x'],
    ...['/v1/..;/x', '/v1/%2e%2e;x=1/x', '/v1/%252e%252e/x', `/v1/%${'25'.repeat(9)}2e./x`],
    ...['/a/..%3b/..;a/x', '/%%32%65./x', '/%ff/%2e.%2f'],
  ])('gets no request that leaves the path of its URL: %s', async (target) => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}), '/base/v1')
    expect((await get(target)).status).toBe(400)
    expect(proxy.received).toEqual([])
  })

  it('gets a path with dots in a name, and with an encoded slash', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}), '/base/v1')
    const path = '/models/a..b%2Fc.d;v=..%25?x=/../y'
    await get(`/v1${path}`)
    expect(proxy.received.map(({ url }) => url)).toEqual([`/base/v1${path}`])
  })
})
