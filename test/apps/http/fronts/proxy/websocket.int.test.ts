// WebSocket clients before the proxy: no WebSocket passes, and a host falls back to HTTP.

import { once } from 'node:events'
import { request as nodeRequest } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { responsesCase } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const { path, request, answer } = responsesCase

/** A raw upgrade of the connection to this protocol, by default for Responses. */
async function upgraded(protocol: string, at = path) {
  const sent = nodeRequest(`${proxy?.url}${at}`, {
    headers: {
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  }).end()
  const [received] = await once(sent, 'response')
  let text = ''
  for await (const piece of received.setEncoding('utf8')) text += piece
  return { status: received.statusCode, headers: received.headers, text }
}

/** A host: a WebSocket first, and HTTP if that fails. */
async function hostAsks(): Promise<Response> {
  const socket = new WebSocket(`${proxy?.url.replace('http', 'ws')}${path}`)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.addEventListener('error', () => resolve())
  socket.addEventListener('open', () => reject(new Error('the WebSocket opened')))
  await promise
  return fetch(`${proxy?.url}${path}`, { method: 'POST', body: request })
}

describe.each([
  ['advice', undefined],
  ['veto', { coversSubscriptions: false }],
])('a WebSocket in the mode %s', (_, veto) => {
  it.each([
    ['websocket', path],
    ['h2c, WebSocket', path],
    ['websocket', '/openai/v1/responses?api-version=preview'],
    ['websocket', '/openai/realtime?deployment=x'],
  ])(
    'gets 426 with a text for the protocol %s at %s, and the provider gets nothing',
    async (protocol, at) => {
      proxy = await proxied(scriptedGuard(), (_, response) => response.end('{}'), '', veto)
      const { status, headers, text } = await upgraded(protocol, at)
      expect([status, headers.upgrade]).toEqual([426, 'HTTP/1.1'])
      expect(text).toContain('Weir cannot judge the calls of a WebSocket')
      expect(proxy.received).toEqual([])
    },
  )

  it('makes a host fall back to HTTP, whose calls are judged', async () => {
    const guard = scriptedGuard({
      after: () => [{ callId: 'call_2', name: 'exec', verdict: 'allow', text: '', code: '' }],
    })
    proxy = await proxied(guard, (_, response) => sendJson(response, answer), '', veto)
    expect(await (await hostAsks()).text()).toContain('call_2')
    await proxy.settled()
    expect(proxy.received.map(({ method }) => method)).toEqual(['POST'])
    expect(guard.asked.map(({ kind }) => kind)).toEqual(['before', 'after'])
  })
})

it('answers a client that offers another upgrade, such as h2c, with HTTP/1.1', async () => {
  proxy = await proxied(scriptedGuard(), (_, response) => sendJson(response, { data: [] }))
  expect((await upgraded('h2c')).status).toBe(200)
})
