// A local HTTP server for Anthropic's Messages API with server-sent events. The real SDK can use it
// without a key. A script decides the reply to each request. End-to-end tests use it as the fake
// provider.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Block,
  eventsOf,
  type ModelCall,
  sentEvent,
  stopReasonOf,
} from '../../client/testing/anthropic-stream.ts'
import { closed } from '../../shared/lib/listening.ts'

/**
 * `message`: content blocks; a call's `input` is raw JSON text, streamed in pieces. `error`: an
 * HTTP error. `cut`: the blocks, then the connection breaks. `garbage`: bytes that are no events.
 * `stall`: headers and possibly blocks, then silence until the client leaves. `bytes`: exactly this
 * body, by default with status 200. `hangup`: the connection breaks without a reply.
 */
export type Reply =
  | { kind: 'message'; blocks: Block[]; stopReason?: string }
  | { kind: 'cut'; blocks: Block[] }
  | { kind: 'error'; status: number; headers?: Record<string, string>; message: string }
  | { kind: 'garbage' }
  | { kind: 'stall'; blocks?: Block[] }
  | { kind: 'bytes'; bytes: string; status?: number; contentType?: string }
  | { kind: 'hangup' }

type Streamed = Extract<Reply, { kind: 'message' | 'cut' | 'stall' }>

export type AnthropicServer = {
  /** Its reply to GET is the number of requests, as JSON: `{"requests": 3}`. */
  url: string
  /** All requests so far, oldest first. Callers may remove those they no longer need. */
  requests: ModelCall[]
  /** The number of requests that are being answered now. */
  open(): number
  close(): Promise<void>
}

/**
 * `respond` decides each reply from the request and its number (from 1). `delayMs`: the pause
 * before the first byte. `at`: the host and port to listen on; default: any port, for this machine
 * only.
 */
export async function startAnthropicServer(
  respond: (call: ModelCall, number: number) => Reply | Promise<Reply>,
  delayMs = 0,
  at: { host: string; port: number } = { host: '127.0.0.1', port: 0 },
): Promise<AnthropicServer> {
  const requests: ModelCall[] = []
  let count = 0
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ requests: count }))
      return
    }
    const call = JSON.parse(await bodyOf(request)) as ModelCall
    requests.push(call)
    count += 1
    const reply = await respond(call, count)
    await sleep(delayMs)
    switch (reply.kind) {
      case 'hangup':
        response.destroy()
        return
      case 'error':
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        response.end(
          JSON.stringify({ type: 'error', error: { type: 'api_error', message: reply.message } }),
        )
        return
      case 'bytes':
        response.writeHead(reply.status ?? 200, {
          'content-type': reply.contentType ?? 'text/event-stream',
        })
        response.end(reply.bytes)
        return
      case 'garbage':
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end('<html>502 Bad Gateway</html>\n\ndata: {"type": "content_block_delta", \n\n')
        return
      default:
        await stream(call, reply, response)
    }
  }

  async function stream(call: ModelCall, reply: Streamed, response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    if (reply.blocks === undefined) return
    const stopReason =
      reply.kind === 'message' ? (reply.stopReason ?? stopReasonOf(reply.blocks)) : undefined
    for (const event of eventsOf(call, reply.blocks, stopReason)) response.write(sentEvent(event))
    if (reply.kind === 'stall') return
    if (reply.kind === 'cut') {
      await sleep(10) // lets the written bytes leave before the connection breaks
      response.destroy()
    } else response.end()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    open: () => open.size,
    close: () => closed(server),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
