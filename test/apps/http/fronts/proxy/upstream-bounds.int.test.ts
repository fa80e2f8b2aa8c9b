// The bounds between a client, the proxy and the model server: headers of Weir, and the path of the
// operator's URL.

import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { messagesCase } from './requests.ts'
import { type Received, sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined
afterEach(() => proxy?.close())

const { path, first, answer } = messagesCase
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
    expect(headers.get('x-own')).toBe('kept')
  })

  it.each([
    ...['/v1/../../x', '/v1/%2e%2e/%2E./x', '/..', '/a/..%2fx', '/a/..%5Cx', '/v1\\..\\..\\x'],
    ...['/proxy/main/v1/../../x', 'http://127.0.0.1/../x'],
  ])('gets no request that leaves the path of its URL: %s', async (target) => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}), '/base/v1')
    expect((await get(target)).status).toBe(400)
    expect(proxy.received).toEqual([])
  })

  it('gets a path with dots in a name, and with an encoded slash', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, {}), '/base/v1')
    await get('/v1/models/a..b%2Fc.d?x=/../y')
    expect(proxy.received.map(({ url }) => url)).toEqual(['/base/v1/models/a..b%2Fc.d?x=/../y'])
  })
})
