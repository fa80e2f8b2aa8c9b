// The proxy of a sandbox between a hostile tool and a hostile host.

import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { proxyOf } from '../../../../shared/tools/sandbox/sandbox-proxy.ts'

let host: Server
let answer = ''
let received = ''
let port = 0
let socket = ''

beforeAll(async () => {
  host = createServer((client) => {
    client.on('error', () => {})
    client.on('data', (bytes) => {
      received += bytes
      client.end(answer)
    })
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  port = (host.address() as AddressInfo).port
  socket = proxyOf([{ name: 'localhost', isSuffix: false, port }])
})
afterAll(() => void host.close())

/** The answer of the proxy to the bytes of a tool. */
function sent(lines: string[], body = ''): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  received = ''
  const client = connect(socket)
  client.on('data', (bytes) => {
    text += bytes
  })
  client.on('error', () => {})
  client.on('close', () => resolve(text))
  client.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  return promise
}
const get = () => [`GET http://localhost:${port}/ HTTP/1.1`, 'Host: x']

describe('the proxy of a sandbox survives', () => {
  it.each([
    ['a status below 100', 'HTTP/1.1 050 X\r\n\r\n', 502],
    ['the status 0', 'HTTP/1.1 000\r\n\r\n', 502],
    ['a status above 599', 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n', 502],
    ['a trailer without chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTrailer: a\r\n\r\n', 200],
    [
      'a change of the protocol',
      'HTTP/1.1 101 X\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n',
      502,
    ],
    ['no HTTP', 'hello\r\n\r\n', 502],
    ['no answer', '', 502],
  ])('%s from a host', async (_, given, status) => {
    answer = given
    expect(await sent(get())).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('a body that breaks, and its tool learns that the body is not whole', async () => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab'
    expect(await sent(get())).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-length: 9[\s\S]*\r\n\r\nab$/i)
  })

  it('a request of a tool with a trailer and without chunks', async () => {
    answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
    const [, ...rest] = get()
    const post = [`POST http://localhost:${port}/a?b HTTP/1.1`, ...rest, 'Trailer: x', 'X-Own: y']
    expect(await sent([...post, 'Content-Length: 3'], 'abc')).toMatch(/^HTTP\/1.1 200 [\s\S]*ok$/)
    expect(received).toMatch(new RegExp(`^POST /a\\?b HTTP/1.1\r\nhost: localhost:${port}\r\n`))
    expect(received).toContain('X-Own: y')
    expect(received).not.toMatch(/trailer/i)
    expect(await sent([...post, 'Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n')).toContain(
      'ok',
    )
  })
})
