// The provider: an HTTP server that speaks Anthropic's Messages API. It streams the script in
// pieces with pauses, which lets faults kill a process in the middle of an answer. It notes each
// whole answer, and counts the requests. From time to time it refuses one, and names a wait.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ModelAnswer, messageKey, type ProviderRequest } from '../evidence/evidence.ts'
import { type Answer, answerTo, type Block, type ModelRequest } from './model.ts'

export type ProviderServer = {
  url: string
  modelAnswers: ModelAnswer[]
  readonly requests: readonly ProviderRequest[]
  close(): Promise<void>
}

const pieceChars = 16
const pauseMs = 15
/** After a refusal the pace of an account grows for 40 s. */
const limitedEveryMs = 120_000
const waitMs = 4_000

export async function startProvider(seed: string): Promise<ProviderServer> {
  const modelAnswers: ModelAnswer[] = []
  const attempts = new Map<string, number>()
  const requests: ProviderRequest[] = []
  let limitedAt = Date.now()
  const server = createServer((request, response) => {
    const counted: ProviderRequest = { at: Date.now(), until: Number.POSITIVE_INFINITY }
    requests.push(counted)
    response.on('close', () => {
      counted.until = Date.now()
    })
    if (counted.at > limitedAt + limitedEveryMs) {
      limitedAt = counted.at
      counted.waitMs = waitMs
      return fail(response, 429, 'too many requests', { 'retry-after': `${waitMs / 1_000}` })
    }
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = answerTo(seed, JSON.parse(await bodyOf(request)) as ModelRequest)
    if (found === undefined) return fail(response, 400, 'this message is not in any script')
    const name = JSON.stringify([found.conversation, found.messageId, found.round])
    const attempt = attempts.get(name) ?? 0
    attempts.set(name, attempt + 1)
    switch (found.troubles[attempt]) {
      case 'overloaded':
        return fail(response, 529, 'overloaded')
      case 'refused':
        return fail(response, 400, 'the request is refused')
      case 'hangup':
        response.destroy()
        return
      case 'cut':
        await stream(response, found, true)
        response.destroy()
        return
      default:
        note(found)
        await stream(response, found, false)
        response.end()
    }
  }

  /**
   * Before it is streamed. A client may receive the whole answer even if this server never learns
   * of it.
   */
  function note({ conversation, messageId, blocks }: Answer): void {
    modelAnswers.push({
      of: messageKey({ conversation, messageId }),
      text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: blocks.flatMap((block) =>
        block.type === 'tool_use' ? [{ name: block.name, raw: block.input }] : [],
      ),
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    modelAnswers,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const faults: Record<number, string> = { 429: 'rate_limit_error', 529: 'overloaded_error' }

function fail(response: ServerResponse, status: number, message: string, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  const type = faults[status] ?? 'invalid_request_error'
  response.end(JSON.stringify({ type: 'error', error: { type, message } }))
}

async function stream(
  response: ServerResponse,
  { blocks, messageId, round }: Answer,
  isCut: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = [...eventsOf(blocks, `${messageId}.${round}`)]
  const sent = isCut ? events.slice(0, Math.ceil(events.length / 2)) : events
  for (const event of sent) {
    if (response.destroyed) return
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    if (event.type === 'content_block_delta') await sleep(pauseMs)
  }
}

type ServerEvent = { type: string; [key: string]: unknown }

function* eventsOf(blocks: Block[], id: string): Generator<ServerEvent> {
  const usage = { input_tokens: 10, output_tokens: 5 }
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'chaos',
    content: [],
    stop_reason: null,
    usage,
  }
  yield { type: 'message_start', message }
  for (const [index, block] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: beginningOf(block) }
    for (const delta of deltasOf(block)) yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  yield { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 20 } }
  yield { type: 'message_stop' }
}

function beginningOf(block: Block): object {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: {} }
  }
}

function deltasOf(block: Block): object[] {
  switch (block.type) {
    case 'text':
      return piecesOf(block.text).map((text) => ({ type: 'text_delta', text }))
    case 'thinking':
      return [
        ...piecesOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'signed' },
      ]
    case 'tool_use':
      return piecesOf(block.input).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }))
  }
}

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, i) =>
    text.slice(i * pieceChars, (i + 1) * pieceChars),
  )
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
