// A model server for tests of the proxy: it keeps the bytes of each request and answers by a script.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: Buffer
}

export type ScriptedUpstream = {
  url: string
  received: Received[]
  close(): Promise<void>
}

/** `respond` answers request `n`, from 1. */
export async function scriptedUpstream(
  respond: (request: Received, response: ServerResponse, n: number) => unknown,
): Promise<ScriptedUpstream> {
  const received: Received[] = []
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming).catch(() => undefined)
    if (body === undefined) return
    const { method = '', url = '', headers, rawHeaders } = incoming
    const request = { method, url, headers, rawHeaders, body }
    received.push(request)
    await respond(request, response, received.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
