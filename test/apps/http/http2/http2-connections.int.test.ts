// Clients of HTTP/2 on the port of the HTTP/1.1 server, raw and on Node's own client.

import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { alreadySent } from '../../../../apps/http/direct-answer.ts'
import { httpHeaderBytesMax } from '../../../../apps/http/http2/http2-connections.ts'
import { bytesOf } from '../../../../apps/http/request-body.ts'
import { type HttpApp, type HttpServer, startHttpServer } from '../../../../apps/http/server.ts'

let server: HttpServer | undefined
let session: ClientHttp2Session | undefined

afterEach(async () => {
  session?.destroy()
  await server?.close()
})

async function serve(add: (app: HttpApp) => void): Promise<string> {
  const log = pino({ level: 'silent' })
  server = await startHttpServer({ host: '127.0.0.1', port: 0, log, routes: [add] })
  session = connectHttp2(server.url).on('error', () => {})
  return server.url
}

type Answer = { headers: Record<string, unknown>; text: string; trailers: unknown }

async function asked(headers: Record<string, string>, body?: string): Promise<Answer> {
  const stream = (session as ClientHttp2Session).request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  let [received, trailers]: unknown[] = []
  stream.on('response', (one) => {
    received = one
  })
  stream.on('trailers', (one) => {
    trailers = { ...one }
  })
  const text = await textOf(stream)
  return { headers: { ...(received as object) }, text, trailers }
}

/** Answers with the request as the routes see it. */
const echo = (app: HttpApp) =>
  app.all('*', async (context) => {
    const { incoming } = context.env
    const { method, url: path, headers, httpVersion } = incoming
    const body = (await bytesOf(incoming, 1_000)).toString()
    return context.json({ method, path, headers, httpVersion, body })
  })

const post = { ':path': '/a%2Fb?c=1', ':method': 'POST', 'x-one': 'é' }

describe('a request of HTTP/2', () => {
  it('is a request of HTTP/1.1 to the routes, with its headers and its body', async () => {
    const { host } = new URL(await serve(echo))
    const { headers, text } = await asked({ ...post, te: 'trailers' }, '{"a":1}')
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/json' })
    expect(headers).not.toHaveProperty('connection')
    expect(JSON.parse(text)).toEqual({
      method: 'POST',
      path: '/a%2Fb?c=1',
      httpVersion: '1.1',
      headers: { host, 'x-one': 'é', connection: 'close', 'transfer-encoding': 'chunked' },
      body: '{"a":1}',
    })
  })

  it('keeps the length that it names, and a shorter body ends it', async () => {
    await serve(echo)
    const whole = await asked({ ...post, 'content-length': '2' }, '{}')
    expect(JSON.parse(whole.text)).toMatchObject({ headers: { 'content-length': '2' }, body: '{}' })
    await expect(asked({ ...post, 'content-length': '9' }, '{}')).rejects.toThrow()
  })

  it('gets the trailers of an answer, and answers without a body', async () => {
    await serve((app) =>
      app.all('*', async ({ env: { incoming, outgoing } }) => {
        if (incoming.url === '/none') outgoing.writeHead(204).end()
        else {
          outgoing.writeHead(200, { trailer: 'x-last', 'set-cookie': ['a=1', 'b=2'] })
          outgoing.write('text')
          outgoing.addTrailers({ 'x-last': 'z' })
          outgoing.end()
        }
        return alreadySent
      }),
    )
    const { headers, text, trailers } = await asked({ ':path': '/' })
    expect({ text, trailers, cookies: headers['set-cookie'] }).toMatchObject({
      text: 'text',
      trailers: { 'x-last': 'z' },
      cookies: ['a=1', 'b=2'],
    })
    expect((await asked({ ':path': '/none' })).headers[':status']).toBe(204)
  })

  it('is refused under another name, as one of HTTP/1.1 is', async () => {
    await serve(echo)
    expect((await asked({ ':authority': 'evil.example' })).headers[':status']).toBe(403)
  })

  it('has a bound on its headers', async () => {
    await serve(echo)
    const headers = { 'x-long': 'x'.repeat(httpHeaderBytesMax) }
    await expect(asked(headers)).rejects.toThrow()
  })

  it.each([
    ['CONNECT', { ':method': 'CONNECT', ':authority': 'x:1' }],
    ['a path that HTTP/1.1 does not have', { ':path': '/a b' }],
    ['a method that HTTP/1.1 does not have', { ':method': 'A B' }],
  ])('gets no answer for %s, and the connection goes on', async (_, headers) => {
    await serve(echo)
    await expect(asked(headers as Record<string, string>)).rejects.toThrow()
    expect((await asked({ ':path': '/next' })).headers[':status']).toBe(200)
  })

  it('shows the route that its client has left', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    await serve((app) =>
      app.all('*', ({ env: { outgoing } }) => {
        outgoing.once('close', leave)
        outgoing.writeHead(200).flushHeaders()
        return alreadySent
      }),
    )
    const stream = (session as ClientHttp2Session).request({ ':path': '/' }).on('error', () => {})
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_CANCEL)
    await left
  })

  it('ends with an error if the route breaks its answer off', async () => {
    await serve((app) =>
      app.all('*', ({ env: { outgoing } }) => {
        outgoing.writeHead(200)
        outgoing.write('begun', () => outgoing.destroy())
        return alreadySent
      }),
    )
    await expect(asked({ ':path': '/' })).rejects.toThrow()
  })
})

describe('a server that closes', () => {
  it('finishes the answers of HTTP/2, and ends connections that have not begun', async () => {
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    const { promise: left, resolve: leave } = Promise.withResolvers<void>()
    const url = await serve((app) =>
      app.get('/slow', async (context) => {
        enter()
        await left
        return context.text('slow')
      }),
    )
    const silent = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    const ended = new Promise((resolve) => silent.once('close', resolve))
    silent.write('PRI * HT')
    const answering = asked({ ':path': '/slow' })
    await entered
    const closing = server?.close()
    await ended
    leave()
    expect((await answering).text).toBe('slow')
    await closing
  })
})

describe('a connection that begins like HTTP/2', () => {
  it.each([
    ['PRI * HTTP/2.0', ['P', 'RI * HTTP/2.0\r\n', '\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0']],
    ['PRINT / HTTP/1.1', ['PR', 'INT / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n']],
    ['POST', ['P', 'OST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n']],
  ])(
    'gets an answer in its own protocol wherever the network cuts it: %s',
    async (name, pieces) => {
      const url = await serve(echo)
      const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay()
      for (const piece of pieces)
        await new Promise((sent) => socket.write(piece, () => sent(undefined)))
      const [answer] = (await once(socket, 'data')) as [Buffer]
      const isHttp1 = answer.toString('latin1').startsWith('HTTP/1.1 ')
      expect([isHttp1, answer[3] === 4]).toEqual([!name.endsWith('2.0'), name.endsWith('2.0')])
      socket.destroy()
    },
  )
})
