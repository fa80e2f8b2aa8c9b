// The model of the compared programs: a server that speaks Chat Completions, streamed or whole.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Message = { role: string; content?: unknown }
type Tool = { function: { name: string; parameters?: { required?: string[] } } }
type Request = { messages: Message[]; stream?: boolean; tools?: Tool[] }
type Answer = { content: string } | { tool: string; args: object }

/** Calls the first tool with a value for its first argument, and then answers. */
function answerOf({ messages, tools = [] }: Request): Answer {
  const last = JSON.stringify(messages.at(-1)?.content ?? '')
  if (last.includes('How often'))
    return { content: `${messages.filter(({ role }) => role === 'user').length} times` }
  const { name: tool, parameters } = tools[0]?.function ?? {}
  const [argument = ''] = parameters?.required ?? []
  if (messages.at(-1)?.role === 'tool') return { content: `It is so: ${textIn(last)}.` }
  if (tool !== undefined) return { tool, args: { [argument]: 'Paris' } }
  if (last.includes('chairs')) return { content: '{"city":"Ulm","chairs":2}' }
  return { content: 'a low wall' }
}

function textIn(json: string): string {
  return json.replaceAll(/[\\"]/g, '')
}

export async function startModel(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (incoming, response) => {
    const request = JSON.parse((await incoming.toArray()).join('')) as Request
    send(response, answerOf(request), request.stream === true)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const common = { id: 'r', created: 1, model: 'mock' }
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

function send(response: ServerResponse, answer: Answer, isStream: boolean): void {
  const finish_reason = 'tool' in answer ? 'tool_calls' : 'stop'
  if (!isStream) {
    const message = { role: 'assistant', ...messageOf(answer) }
    const body = {
      ...common,
      object: 'chat.completion',
      usage,
      choices: [{ index: 0, message, finish_reason }],
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (choices: object[], more = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
    )
  for (const delta of deltasOf(answer)) chunk([{ index: 0, delta, finish_reason: null }])
  chunk([{ index: 0, delta: {}, finish_reason }])
  chunk([], { usage })
  response.end('data: [DONE]\n\n')
}

function messageOf(answer: Answer): object {
  if ('content' in answer) return { content: answer.content }
  const { tool: name, args } = answer
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }
  return { content: null, tool_calls: [call] }
}

function deltasOf(answer: Answer): object[] {
  if ('content' in answer)
    return [
      { role: 'assistant', content: '' },
      ...(answer.content.match(/\S+\s*/g) ?? []).map((content) => ({ content })),
    ]
  const { tool: name, args } = answer
  const call = { index: 0, id: 'call_1', type: 'function' }
  return [
    { role: 'assistant', content: null },
    { tool_calls: [{ ...call, function: { name, arguments: JSON.stringify(args) } }] },
  ]
}
