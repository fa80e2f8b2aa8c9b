// A model of incident I1 with the Chat Completions API: it calls `exec` with `{}` in every answer,
// until a request forbids calls.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type ChatRequest = { messages: { role: string; content: unknown }[]; tool_choice?: unknown }
export type LoopingChat = { url: string; requests: ChatRequest[]; close(): Promise<void> }

export async function startLoopingChat(): Promise<LoopingChat> {
  const requests: ChatRequest[] = []
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as ChatRequest
    requests.push(body)
    const isForbidden = body.tool_choice === 'none'
    const id = `call_${randomUUID().slice(0, 8)}`
    const call = { id, type: 'function', function: { name: 'exec', arguments: '{}' } }
    const message = isForbidden
      ? { content: 'I stop here.' }
      : { content: null, tool_calls: [call] }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: `chat_${id}`,
        object: 'chat.completion',
        created: 1,
        model: 'scripted',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', ...message },
            finish_reason: isForbidden ? 'stop' : 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
