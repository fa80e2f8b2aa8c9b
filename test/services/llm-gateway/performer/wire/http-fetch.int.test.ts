// The `fetch` that SDKs are given, against an HTTP server on this machine.

import { createServer, globalAgent, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  httpFetch,
  modelLeaveBytesMax,
  providerErrorBytesMax,
} from '../../../../../services/llm-gateway/performer/wire/http-fetch.ts'
import { sentEvents } from '../../../../../shared/wire/event-stream.ts'
import { until } from '../../../../support/inbox.ts'

let close = async (): Promise<void> => {}
let sockets: Socket[] = []

afterEach(() => close())

/** The URL of a server that answers so; `sockets` are the connections that it got. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  sockets = []
  const server = createServer(async (request, response) =>
    answer(request, response, (await request.toArray()).join('')),
  )
  server.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function firstEvent(url: string, signal?: AbortSignal): Promise<string | undefined> {
  for await (const [event] of sentEvents(
    await httpFetch(url, { method: 'POST', body: '{}', ...(signal ? { signal } : {}) }),
    () => {},
  ))
    return event?.data
  return undefined
}

describe('a request', () => {
  it('goes out with its method, headers and body, and asks for no compression', async () => {
    const url = await serve((request, response, body) => {
      const { method, url, headers } = request
      response.setHeader('x-answer', 'yes').writeHead(404)
      response.end(JSON.stringify({ method, url, headers, body }))
    })
    const response = await httpFetch(`${url}/a?b=1`, {
      method: 'POST',
      headers: new Headers({ 'X-Own': 'ü'.normalize() }),
      body: 'grün',
    })
    expect([response.ok, response.status, response.headers.get('X-Answer'), response.url]).toEqual([
      false,
      404,
      'yes',
      `${url}/a?b=1`,
    ])
    expect(JSON.parse(await response.text())).toMatchObject({
      method: 'POST',
      url: '/a?b=1',
      body: 'grün',
      headers: {
        host: new URL(url).host,
        'accept-encoding': 'identity',
        'content-length': '5',
        connection: 'keep-alive',
      },
    })
  })

  it('fails as with fetch, with the cause in it', async () => {
    const url = await serve((request) => request.socket.destroy())
    await expect(httpFetch(url)).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNRESET' },
    })
    await close()
    await expect(httpFetch(url)).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNREFUSED' },
    })
    await expect(httpFetch('http://me:secret@127.0.0.1')).rejects.toThrow(TypeError)
  })

  it('leaves the network on abort, before its answer and in the middle of it', async () => {
    const reason = new Error('enough')
    const stop = new AbortController()
    let url = await serve(() => stop.abort(reason))
    await expect(httpFetch(url, { signal: stop.signal })).rejects.toBe(reason)
    await expect(httpFetch(url, { signal: stop.signal })).rejects.toBe(reason)
    await until(() => sockets.every(({ destroyed }) => destroyed))
    await close()

    const other = new AbortController()
    url = await serve((_, response) => response.write('data: 1\n\n'))
    const body = (await httpFetch(url, { signal: other.signal }))
      .body as unknown as AsyncIterable<Buffer>
    const read = async () => {
      for await (const _ of body) other.abort(reason)
    }
    await expect(read()).rejects.toThrow()
    await until(() => sockets.every(({ destroyed }) => destroyed))
  })

  it('follows a redirect', async () => {
    const url = await serve((request, response, body) => {
      if (request.url === '/new') response.end(`${request.method} ${body}`)
      else response.writeHead(308, { location: '/new' }).end()
    })
    expect(await (await httpFetch(`${url}/old`, { method: 'POST', body: 'x' })).text()).toBe(
      'POST x',
    )
  })
})

describe('an answer', () => {
  it('that is compressed all the same is read', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('data: 1\n\n')),
    )
    expect(await (await httpFetch(url)).text()).toBe('data: 1\n\n')
    expect(await firstEvent(url)).toBe('1')
  })

  it('that was left frees its connection for the next request at its end', async () => {
    let end = (): void => {}
    const url = await serve((_, response) => {
      response.write('data: 1\n\n')
      end = () => response.end(': the end of the body comes later than its last event\n\n')
    })
    const isKept = () =>
      Object.keys(globalAgent.freeSockets).some((name) => name.includes(new URL(url).port))
    // On a machine that stands still for modelLeaveMs in between, the connection is closed
    // instead.
    for (let tries = 0; tries < 5 && !isKept(); tries += 1) {
      expect(await firstEvent(url)).toBe('1')
      end()
      await until(() => isKept() || sockets.every(({ destroyed }) => destroyed))
    }
    const before = sockets.length
    expect(await firstEvent(url)).toBe('1')
    end()
    expect(sockets).toHaveLength(before)
  })

  it('that was left and goes on is closed', async () => {
    const url = await serve((_, response) => {
      response.write('data: 1\n\n')
      response.write('x'.repeat(2 * modelLeaveBytesMax))
    })
    expect(await firstEvent(url)).toBe('1')
    await until(() => sockets.length === 1 && sockets.every(({ destroyed }) => destroyed))
  })

  it('with an endless text is read to a bound and closed', async () => {
    const url = await serve((_, response) => {
      response.writeHead(500)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      }
      response.on('drain', more)
      more()
    })
    expect(await (await httpFetch(url)).text()).toHaveLength(providerErrorBytesMax)
    await until(() => sockets.every(({ destroyed }) => destroyed))
  })

  it('that breaks off is an error of its reader', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('data: 1\n\n', () => response.destroy())
    })
    await expect((await httpFetch(url)).text()).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})
