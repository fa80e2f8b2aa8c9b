// A scripted provider for real hosts: Messages, Responses, Chat Completions and Gemini with server-sent
// events on one port. It needs no key and keeps each request for the tests.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call's `input` is raw JSON text. `namespace`: of a tool of Responses. The server makes ids of calls unique in its life. */
export type ScriptedCall = { name: string; input: string; id?: string; namespace?: string }

/** The answer of the model: thinking, text, calls. */
export type ScriptedAnswer = {
  thinking?: string
  text?: string
  calls?: ScriptedCall[]
  /** It reached the limit of its tokens. */
  isLengthLimited?: boolean
  /** Each call has its arguments twice: where it starts, and in its deltas. */
  isDoubled?: boolean
  /** Runs between the two halves of a stream. `cut`: the connection then breaks. */
  halfway?: () => Promise<'cut' | undefined>
}

export type SeenRequest = {
  api: 'messages' | 'responses' | 'chat' | 'gemini'
  path: string
  headers: Record<string, string>
  body: Record<string, unknown>
}

/** Decides the answer to a request with tools, from the request and its number (from 1). */
export type Script = (request: SeenRequest, number: number) => ScriptedAnswer

export type ModelServer = {
  url: string
  /** The requests with tools, oldest first. */
  requests: SeenRequest[]
  /** The answers to them, with the ids of their calls. */
  answers: ScriptedAnswer[]
  /** All others: token counts, titles, checks of the connection. */
  others: SeenRequest[]
  close(): Promise<void>
}

/** A request without tools gets the text "ok" and is not counted. */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const requests: SeenRequest[] = []
  const answers: ScriptedAnswer[] = []
  const others: SeenRequest[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const text = await textOf(request)
    const api = apiOf(path)
    const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
    const seen = { api: api ?? 'messages', path, headers: headersOf(request), body } as const
    if (api === undefined || path.includes('count_tokens')) {
      others.push(seen)
      json(response, path.includes('count_tokens') ? { input_tokens: 100 } : { data: [] })
      return
    }
    const hasTools = Array.isArray(body.tools) && body.tools.length > 0
    const list = hasTools ? requests : others
    list.push(seen)
    const scripted = hasTools ? script(seen, requests.length) : { text: 'ok' }
    const calls = (scripted.calls ?? []).map((call, at) => ({
      ...call,
      id: call.id ?? `${idPrefix[api]}${String(requests.length).padStart(20, '0')}${at}`,
    }))
    if (hasTools) answers.push({ ...scripted, calls })
    const number = requests.length + others.length
    await write[api](response, { ...scripted, calls, number }, body, path)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answers,
    others,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const idPrefix = { messages: 'toolu_', responses: 'call_', chat: 'call_', gemini: 'call_' }

/** Claude Code joins answers with one id: `number` makes ids unique. */
type Numbered = Omit<ScriptedAnswer, 'calls'> & {
  calls: (ScriptedCall & { id: string })[]
  number: number
}
type Body = Record<string, unknown>

const write = {
  messages: writeMessages,
  responses: writeResponses,
  chat: writeChat,
  gemini: writeGemini,
}

async function writeMessages(response: ServerResponse, answer: Numbered, body: Body) {
  const model = `${body.model}`
  const content: Body[] = [
    ...(answer.thinking === undefined
      ? []
      : [{ type: 'thinking', thinking: answer.thinking, signature: 'signed' }]),
    ...(answer.text === undefined ? [] : [{ type: 'text', text: answer.text }]),
    ...answer.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
  const stop_reason = answer.isLengthLimited ? 'max_tokens' : usualStop(answer)
  const usage = { input_tokens: 100, output_tokens: 20 }
  const head = { id: `msg_${answer.number}`, type: 'message', role: 'assistant', model }
  if (body.stream !== true) {
    const blocks = content.map((block) =>
      'input' in block ? { ...block, input: objectOf(`${block.input}`) } : block,
    )
    json(response, { ...head, content: blocks, stop_reason, stop_sequence: null, usage })
    return
  }
  const events: Body[] = [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: startOf(block, answer) },
      ...blockDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  await stream(response, events, { isNamed: true, halfway: answer.halfway })
}

function usualStop({ calls }: Numbered): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn'
}

/** An answer that is not streamed has an object, so unreadable arguments are none. */
function objectOf(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}

function startOf(block: Body, { isDoubled }: ScriptedAnswer): Body {
  switch (block.type) {
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'text':
      return { ...block, text: '' }
    default:
      return { ...block, input: isDoubled ? objectOf(`${block.input}`) : {} }
  }
}

function blockDeltas({ type, thinking, signature, text, input }: Body): Body[] {
  switch (type) {
    case 'thinking':
      return [
        { type: 'thinking_delta', thinking },
        { type: 'signature_delta', signature },
      ]
    case 'text':
      return [{ type: 'text_delta', text }]
    default:
      return [{ type: 'input_json_delta', partial_json: input }]
  }
}

async function writeResponses(response: ServerResponse, answer: Numbered, body: Body) {
  const output: Item[] = [
    ...(answer.thinking === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${answer.number}`,
            summary: [{ type: 'summary_text', text: answer.thinking }],
          },
        ]),
    ...(answer.text === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_${answer.number}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          },
        ]),
    ...answer.calls.map(({ id, name, input, namespace }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: input,
      status: 'completed',
    })),
  ]
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 120,
  }
  const whole = {
    id: `resp_${answer.number}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: answer.isLengthLimited ? 'incomplete' : 'completed',
    ...(answer.isLengthLimited && { incomplete_details: { reason: 'max_output_tokens' } }),
    model: body.model,
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage,
  }
  if (body.stream !== true) {
    json(response, whole)
    return
  }
  let sequence_number = 0
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: started(item, answer) },
      ...deltas(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${whole.status}`, response: whole },
  ].map((event): Body => ({ ...event, sequence_number: sequence_number++ }))
  await stream(response, events, { isNamed: true, halfway: answer.halfway })
}

type Item = { type: string; id: string; [key: string]: unknown }

function started(item: Item, { isDoubled }: ScriptedAnswer): Item {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...item, summary: [] }
    default:
      return { ...item, status: 'in_progress', arguments: isDoubled ? item.arguments : '' }
  }
}

function deltas(item: Item, output_index: number): Body[] {
  const at = { item_id: item.id, output_index }
  if (item.type === 'reasoning') return []
  if (item.type !== 'message')
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
    ]
  const [part] = item.content as { text: string }[]
  const where = { ...at, content_index: 0 }
  return [
    { type: 'response.content_part.added', ...where, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...where, delta: part?.text },
    { type: 'response.output_text.done', ...where, text: part?.text },
    { type: 'response.content_part.done', ...where, part },
  ]
}

async function writeChat(response: ServerResponse, answer: Numbered, body: Body) {
  const tool_calls = answer.calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: input },
  }))
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    ...(answer.thinking !== undefined && { reasoning_content: answer.thinking }),
    ...(tool_calls.length > 0 && { tool_calls }),
  }
  const usual = tool_calls.length > 0 ? 'tool_calls' : 'stop'
  const finish_reason = answer.isLengthLimited ? 'length' : usual
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
  const head = { id: `chatcmpl_${answer.number}`, created: 1_700_000_000, model: body.model }
  if (body.stream !== true) {
    json(response, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    })
    return
  }
  const chunk = (delta: unknown, finish_reason: string | null): Body => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const again = tool_calls.map(({ index, function: { arguments: text } }) => ({
    index,
    function: { arguments: text },
  }))
  const events = [
    chunk(message, null),
    ...(answer.isDoubled ? [chunk({ tool_calls: again }, null)] : []),
    chunk({}, finish_reason),
    { ...chunk({}, null), choices: [], usage },
  ]
  await stream(response, events, { isNamed: false, halfway: answer.halfway })
}

async function writeGemini(response: ServerResponse, answer: Numbered, _: Body, path: string) {
  const parts: Body[] = [
    ...(answer.thinking === undefined ? [] : [{ text: answer.thinking, thought: true }]),
    ...(answer.text === undefined ? [] : [{ text: answer.text }]),
    ...answer.calls.map(({ id, name, input }) => ({
      functionCall: { id, name, args: objectOf(input) },
    })),
  ]
  const finishReason = answer.isLengthLimited ? 'MAX_TOKENS' : 'STOP'
  const event = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    responseId: `response_${answer.number}`,
  }
  if (!path.includes(':stream')) {
    json(response, event)
    return
  }
  await stream(response, [event], { isNamed: true, halfway: answer.halfway })
}

type StreamOptions = { isNamed: boolean; halfway: ScriptedAnswer['halfway'] }

async function stream(
  response: ServerResponse,
  events: Body[],
  { isNamed, halfway }: StreamOptions,
): Promise<void> {
  const line = (event: Body) =>
    `${isNamed && event.type !== undefined ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
  const half = halfway === undefined ? events.length : Math.ceil(events.length / 2)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events.slice(0, half)) response.write(line(event))
  if ((await halfway?.()) === 'cut') {
    response.destroy()
    return
  }
  for (const event of events.slice(half)) response.write(line(event))
  response.end(isNamed ? '' : 'data: [DONE]\n\n')
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function apiOf(path: string): SeenRequest['api'] | undefined {
  if (/\/messages(\?|\/count_tokens|$)/.test(path)) return 'messages'
  if (/\/responses(\?|$)/.test(path)) return 'responses'
  if (/:(stream)?generateContent(\?|$)/i.test(path)) return 'gemini'
  return /\/chat\/completions(\?|$)/.test(path) ? 'chat' : undefined
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, `${value ?? ''}`]),
  )
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
