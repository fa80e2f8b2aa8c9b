// The way out of a sandbox with a list of hosts: an HTTP proxy in this process, over a Unix socket
// that the sandbox contains. A sandbox has no other network and no DNS.
// Only listed hosts are reached, on their listed port, otherwise on 80 and 443. An
// address is reached only if the list has that address.
// A listed name is resolved here, once, and never leads to this machine, its
// neighbours on the link or a cloud's metadata: the owner of a name controls its DNS.
// A plain request carries the host of its URL, so that it cannot name another
// through the same server. The content of a tunnel (CONNECT) is not read.
// The bytes of a tool or a host end at most their own connection.

import { lookup } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HostPattern } from '../../agents/sandbox.ts'
import { removeLeftSockets } from '../../bus/embedded/beside/left-sockets.ts'
import { withoutConnection } from '../../lib/connection-headers.ts'
import { isForbiddenAddress } from './forbidden-addresses.ts'

const connectionsMax = 64
const headerBytesMax = 32 * 1024
const idleMs = 5 * 60_000
const connectMs = 30_000

type Target = { host: string; port: number }

const proxies = new Map<string, string>()

/** The Unix socket of the proxy for these hosts. Each list has one proxy while this process runs. */
export function proxyOf(hosts: readonly HostPattern[]): string {
  const key = JSON.stringify(hosts)
  const known = proxies.get(key)
  if (known !== undefined) return known
  if (proxies.size === 0)
    void removeLeftSockets({ folders: /^weir-proxy-\w{6}$/, entry: 'proxy.sock' })
  const folder = mkdtempSync(join(tmpdir(), 'weir-proxy-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const socket = join(folder, 'proxy.sock')
  startProxy(hosts, socket)
  proxies.set(key, socket)
  return socket
}

function startProxy(hosts: readonly HostPattern[], socket: string): void {
  const server = createServer({ maxHeaderSize: headerBytesMax, requestTimeout: idleMs })
  server.maxConnections = connectionsMax
  server.on('connect', (request, client, head) => void tunnel(hosts, request, client, head))
  server.on('request', (request, response) => {
    const refuse = (status: number, text: string) => {
      if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/plain' })
      response.end(`${text}\n`)
    }
    void relay(hosts, request, response, refuse)
  })
  server.on('clientError', (_error, client) => client.destroy())
  // Bound before `listen` returns. It does not keep this process alive.
  server.listen(socket).unref()
}

/** CONNECT: bytes in both directions. */
async function tunnel(
  hosts: readonly HostPattern[],
  { url = '' }: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  client.on('error', () => client.destroy())
  const refuse = (status: string, text: string) =>
    client.end(
      `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${text}\n`,
    )
  const target = targetIn(url)
  if (target === undefined || !isListed(hosts, target))
    return void refuse('403 Forbidden', notListed(url))
  const upstream = await reach(target).catch(({ message }: Error) => message)
  if (typeof upstream === 'string') return void refuse('502 Bad Gateway', upstream)
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('close', () => other.destroy())
    one.on('error', () => other.destroy())
  }
  upstream.setTimeout(idleMs, () => upstream.destroy())
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  upstream.write(head)
  client.pipe(upstream)
  upstream.pipe(client)
}

/** A plain request with an absolute URL. */
async function relay(
  hosts: readonly HostPattern[],
  request: IncomingMessage,
  response: import('node:http').ServerResponse,
  refuse: (status: number, text: string) => void,
): Promise<void> {
  const url = URL.parse(request.url ?? '')
  const target =
    url?.protocol === 'http:' && url.username === ''
      ? targetIn(`${url.hostname}:${url.port || 80}`)
      : undefined
  if (url === null || target === undefined || !isListed(hosts, target))
    return refuse(403, notListed(url === null ? 'a request without a host' : url.host))
  const upstream = await reach(target).catch(({ message }: Error) => message)
  if (typeof upstream === 'string') return refuse(502, upstream)
  response.on('close', () => upstream.destroy())
  try {
    const answer = await answerTo(request, url, upstream)
    const { statusCode = 0 } = answer
    if (statusCode < 200 || statusCode > 599) throw new Error(`${url.host} answered ${statusCode}`)
    response.writeHead(statusCode, withoutConnection(answer.rawHeaders))
    await pipeline(answer, response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    else refuse(502, (error as Error).message)
  }
}

function answerTo(
  request: IncomingMessage,
  { host, pathname, search }: URL,
  upstream: Socket,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const own = (name: string) => name === 'host' || name === 'proxy-authorization'
  const isChunked = request.headers['transfer-encoding'] !== undefined
  const forwarded = httpRequest(
    {
      createConnection: () => upstream,
      path: `${pathname}${search}`,
      method: request.method,
      headers: [
        ...['host', host, ...withoutConnection(request.rawHeaders, own)],
        ...(isChunked ? ['transfer-encoding', 'chunked'] : []),
      ],
      timeout: idleMs,
    },
    resolve,
  )
  forwarded.on('timeout', () => forwarded.destroy(new Error(`${host} does not answer`)))
  forwarded.on('error', reject)
  forwarded.on('upgrade', (_, socket) => socket.destroy())
  forwarded.on('close', () => reject(new Error(`${host} gave no answer`)))
  pipeline(request, forwarded).catch(reject)
  return promise
}

/** Of `example.com:443` or `[::1]:80`. The name is in lower case, without a final dot. */
export function targetIn(authority: string): Target | undefined {
  const [, inBrackets, plain, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]%]+)):(\d{1,5})$/.exec(authority) ?? []
  const host = (inBrackets ?? plain)?.toLowerCase().replace(/\.$/, '')
  const port = Number(digits)
  return host === undefined || host === '' || !(port >= 1 && port <= 65_535)
    ? undefined
    : { host, port }
}

export function isListed(hosts: readonly HostPattern[], { host, port }: Target): boolean {
  return hosts.some(({ name, isSuffix, port: listed }) => {
    const isName = isSuffix ? isIP(host) === 0 && host.endsWith(`.${name}`) : host === name
    return isName && (listed === undefined ? port === 80 || port === 443 : port === listed)
  })
}

function notListed(authority: string): string {
  return `${authority.slice(0, 300)} is not in the network list of this tool's sandbox`
}

/** Connects to an address that the check allowed. */
async function reach({ host, port }: Target): Promise<Socket> {
  const isLiteral = isIP(host) !== 0
  const found = isLiteral
    ? [host]
    : (await lookup(host, { all: true })).map(({ address }) => address)
  const allowed = found.filter(
    (address) => isLiteral || host === 'localhost' || !isForbiddenAddress(address),
  )
  let fault: Error = new Error(`${host} leads to an address that no sandbox may reach`)
  for (const address of allowed)
    try {
      return await connected(address, port)
    } catch (error) {
      fault = error as Error
    }
  throw fault
}

function connected(host: string, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host, port, timeout: connectMs })
  socket.once('connect', () => {
    socket.setTimeout(0)
    resolve(socket)
  })
  socket.once('timeout', () => socket.destroy(new Error(`no connection within ${connectMs} ms`)))
  socket.on('error', reject)
  return promise
}
