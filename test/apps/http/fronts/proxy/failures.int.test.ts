// Failures of the model server and of the client, through the proxy.

import { once } from 'node:events'
import { request as nodeRequest, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { messagesCase } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const { path, request, answer } = messagesCase
const ask = () => fetch(`${proxy?.url}${path}`, { method: 'POST', body: request })
const kinds = ({ asked }: ReturnType<typeof scriptedGuard>) => asked.map(({ kind }) => kind)

describe('a model server behind the proxy', () => {
  it('may redirect within its origin', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, ({ url }, response) => {
      if (url === '/v2/messages') sendJson(response, answer)
      else response.writeHead(307, { location: '/v2/messages' }).end()
    })
    expect(await (await ask()).json()).toEqual(answer)
    expect(proxy.received[1]?.body.toString()).toBe(request)
  })

  it('cannot send a conversation and its key elsewhere', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) =>
      response.writeHead(308, { location: 'http://127.0.0.1:9/v1/messages' }).end(),
    )
    const refused = await ask()
    expect(refused.status).toBe(502)
    expect(await refused.text()).toContain('redirects elsewhere')
  })

  it('ends the loop of its own redirects', async () => {
    proxy = await proxied(scriptedGuard(), (_, response) =>
      response.writeHead(307, { location: '/again' }).end(),
    )
    expect((await ask()).status).toBe(502)
    expect(proxy.received.length).toBeLessThan(10)
  })

  it('gives a clear error if it refuses the connection', async () => {
    proxy = await proxied(scriptedGuard(), () => {})
    await proxy.closeUpstream()
    const refused = await ask()
    expect([refused.status, await refused.json()]).toEqual([
      502,
      { type: 'error', error: expect.objectContaining({ type: 'proxy.upstream' }) },
    ])
  })

  it('may answer with a web page, which is no round', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html>not the API</html>')
    })
    expect(await (await ask()).text()).toBe('<html>not the API</html>')
    await proxy.settled()
    expect(kinds(guard)).toEqual(['before'])
  })

  it('may break off in the middle, which breaks off the answer and is no round', async () => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: message_start\ndata: {"type":"message_start","message":{}}\n\n', () =>
        response.destroy(),
      )
    })
    const broken = await ask()
    await expect(broken.text()).rejects.toThrow()
    await proxy.settled()
    expect(kinds(guard)).toEqual(['before'])
  })

  it('is left as soon as the client leaves', async () => {
    const left = Promise.withResolvers<void>()
    const guard = scriptedGuard()
    proxy = await proxied(guard, (_, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': waiting\n\n')
      response.once('close', () => left.resolve())
    })
    const sent = nodeRequest(`${proxy.url}${path}`, { method: 'POST' }).end(request)
    const [received] = await once(sent, 'response')
    await once(received, 'data')
    received.on('error', () => {})
    sent.on('error', () => {})
    sent.destroy()
    await left.promise
    await proxy.settled()
    expect(kinds(guard)).toEqual(['before'])
  })

  it('is not called if the client leaves while Weir judges', async () => {
    const judging = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const guard = scriptedGuard({
      async before(_, signal) {
        signal?.addEventListener('abort', () => left.resolve())
        judging.resolve()
        await left.promise
        return {}
      },
    })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    const sent = nodeRequest(`${proxy.url}${path}`, { method: 'POST' }).end(request)
    sent.on('error', () => {})
    await judging.promise
    sent.destroy()
    await left.promise
    await fetch(`${proxy.url}/v1/models`)
    expect(proxy.received.filter(({ url }) => url === path)).toEqual([])
  })
})
