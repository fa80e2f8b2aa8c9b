// A local HTTP server for Anthropic's Messages API with server-sent events. The real SDK can use it
// without a key. A script decides the reply to each request. End-to-end tests use it as the fake
// provider.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The received request. Only the fields that scripts read have types. */
export type ModelCall = {
  model?: string
  system?: string | { text: string }[]
  messages: { role: string; content: unknown }[]
  tools?: { name: string }[]
  tool_choice?: { type: string }
}

/** `pieceChars`: the length of the text in one event; default: 12 characters. */
export type Block =
  | { type: 'text'; text: string; pieceChars?: number }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; id: string; name: string; input: string; pieceChars?: number }

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
  respond: (call: ModelCall, number: number) => Reply,
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
    const reply = respond(call, count)
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
    for (const event of eventsOf(call, reply.blocks, stopReason))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * The token count of this server: four characters each. Real providers count differently, but it
 * suffices to compare two runs.
 */
export function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? '').length / 4)
}

type ServerEvent = { type: string; [key: string]: unknown }

function* eventsOf(
  call: ModelCall,
  blocks: Block[],
  stopReason: string | undefined,
): Generator<ServerEvent> {
  const usage = {
    input_tokens: tokensOf([call.system, call.messages, call.tools]),
    output_tokens: tokensOf(blocks),
  }
  yield {
    type: 'message_start',
    message: {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'demo',
      content: [],
      stop_reason: null,
      usage: { ...usage, output_tokens: 0 },
    },
  }
  for (const [index, block] of blocks.entries()) {
    yield* blockEvents(index, block)
    if (stopReason === undefined && index === blocks.length - 1) return
    yield { type: 'content_block_stop', index }
  }
  if (stopReason === undefined) return
  yield {
    type: 'message_delta',
    delta: { stop_reason: stopReason },
    usage: { output_tokens: usage.output_tokens },
  }
  yield { type: 'message_stop' }
}

function* blockEvents(index: number, block: Block): Generator<ServerEvent> {
  switch (block.type) {
    case 'text':
      yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }
      for (const text of piecesOf(block.text, block.pieceChars))
        yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
      break
    case 'thinking':
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }
      for (const thinking of piecesOf(block.thinking))
        yield { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } }
      yield {
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: 'signed' },
      }
      break
    case 'tool_use':
      yield {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: block.id, name: block.name, input: {} },
      }
      for (const partial_json of piecesOf(block.input, block.pieceChars))
        yield {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
        }
  }
}

function piecesOf(text: string, pieceChars = 12): string[] {
  return Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, i) =>
    text.slice(i * pieceChars, (i + 1) * pieceChars),
  )
}

function stopReasonOf(blocks: Block[]): string {
  return blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
