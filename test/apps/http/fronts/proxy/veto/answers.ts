// Answers of a model with the three APIs, as a whole or as a stream: a text, then calls of `exec`.

import type { ServerResponse } from 'node:http'
import { geminiPieces, isGemini, isGeminiStream } from '../gemini/model.ts'
import { isOllama, isOllamaStream, ollamaCall, ollamaPieces } from '../ollama/model.ts'
import type { Received } from '../scripted-upstream.ts'

/** `thinking`: with this signature; Messages and Responses only. Usage: 10 in, 5 out, 4 cached. */
export type Spoken = {
  text?: string
  thinking?: string
  calls?: readonly { id: string; args: string }[]
}
type Json = Record<string, unknown>

/** The pieces of the answer that this request wants: the events of a stream, or one body. */
export function piecesOf(
  { url, body: bytes }: Pick<Received, 'url' | 'body'>,
  spoken: Spoken,
): string[] {
  const body = JSON.parse(bytes.toString()) as { stream?: boolean }
  if (isGemini(url)) return gemini(spoken, isGeminiStream(url))
  if (isOllama(url)) return ollama(spoken, isOllamaStream(url, body))
  const make = makers[url.replace('/v1', '')]
  if (make === undefined) throw new Error(`no such API: ${url}`)
  return make(spoken, body.stream === true)
}

export function begin(request: Received, response: ServerResponse): void {
  const body = JSON.parse(request.body.toString()) as { stream?: boolean }
  const isStreamed = body.stream === true || isGeminiStream(request.url)
  const isLines = isOllamaStream(request.url, body)
  const streamType = isStreamed ? 'text/event-stream' : 'application/json'
  const type = isLines ? 'application/x-ndjson' : streamType
  response.writeHead(200, { 'content-type': type })
}

/** Answers request `n` with the n-th of these. After the last one it repeats the last. */
export function speaking(...answers: readonly Spoken[]) {
  return (request: Received, response: ServerResponse, n: number): void => {
    begin(request, response)
    response.end(piecesOf(request, answers[Math.min(n, answers.length) - 1] ?? {}).join(''))
  }
}

const makers: Record<string, (spoken: Spoken, isStreamed: boolean) => string[]> = {
  '/messages': messages,
  '/chat/completions': chat,
  '/responses': responses,
}

function gemini({ text, thinking, calls = [] }: Spoken, isStreamed: boolean): string[] {
  const parts = [
    ...(thinking === undefined ? [] : [{ text: thinking, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ id, args }, at) => ({
      functionCall: { id, name: 'exec', args: JSON.parse(args) as unknown },
      ...(at === 0 && { thoughtSignature: `sig/${id}+==` }),
    })),
  ]
  return geminiPieces(parts, isStreamed, `r_${nameOf(calls)}`)
}

function ollama({ text, thinking, calls = [] }: Spoken, isStreamed: boolean): string[] {
  const called = calls.map(({ id, args }) => ollamaCall(id, JSON.parse(args)))
  const messages = [
    ...(thinking === undefined ? [] : [{ thinking }]),
    ...(text === undefined ? [] : [{ content: text }]),
    ...(called.length === 0 ? [] : [{ tool_calls: called }]),
  ]
  return ollamaPieces(messages, isStreamed)
}

/** A name for the answer that does not contain the ids of its calls. */
function nameOf(calls: readonly { id: string }[]): string {
  return calls[0]?.id.replace('_', '-') ?? 'text'
}

function messages({ text, thinking, calls = [] }: Spoken, isStreamed: boolean): string[] {
  const signature = `sig/${thinking}+==`
  const blocks: Json[] = [
    ...(thinking === undefined ? [] : [{ type: 'thinking', thinking, signature }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, args }) => ({
      type: 'tool_use',
      id,
      name: 'exec',
      input: JSON.parse(args) as unknown,
    })),
  ]
  const usage = { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 5 }
  const stop_reason = calls.length === 0 ? 'end_turn' : 'tool_use'
  const message = {
    id: `msg_${nameOf(calls)}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
  }
  if (!isStreamed) return [JSON.stringify({ ...message, content: blocks, stop_reason, usage })]
  const events: Json[] = [
    {
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: 'ping' },
  ]
  for (const [index, block] of blocks.entries()) {
    const args = calls.find(({ id }) => id === block.id)?.args ?? ''
    const empty: Json =
      block.type === 'tool_use'
        ? { ...block, input: {} }
        : block.type === 'text'
          ? { type: 'text', text: '' }
          : { type: 'thinking', thinking: '', signature: '' }
    const deltas: Json[] =
      block.type === 'tool_use'
        ? [{ type: 'input_json_delta', partial_json: args }]
        : block.type === 'text'
          ? [{ type: 'text_delta', text: block.text }]
          : [
              { type: 'thinking_delta', thinking },
              { type: 'signature_delta', signature },
            ]
    events.push(
      { type: 'content_block_start', index, content_block: empty },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    )
  }
  return named([
    ...events,
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: 5 },
    },
    { type: 'message_stop' },
  ])
}

function chat({ text, calls = [] }: Spoken, isStreamed: boolean): string[] {
  const about = { id: `c_${nameOf(calls)}`, created: 1, model: 'm' }
  const toolCalls = calls.map(({ id, args }) => ({
    id,
    type: 'function',
    function: { name: 'exec', arguments: args },
  }))
  const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls'
  const usage = {
    prompt_tokens: 14,
    completion_tokens: 5,
    total_tokens: 19,
    prompt_tokens_details: { cached_tokens: 4 },
  }
  if (!isStreamed) {
    const message = {
      role: 'assistant',
      content: text ?? null,
      ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
    }
    const choices = [{ index: 0, message, finish_reason }]
    return [JSON.stringify({ ...about, object: 'chat.completion', choices, usage })]
  }
  const chunk = (delta: Json, finish_reason: string | null) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks: Json[] = [
    chunk({ role: 'assistant', content: '' }, null),
    ...(text === undefined ? [] : [chunk({ content: text }, null)]),
    ...toolCalls.flatMap(({ function: { name, arguments: args }, ...call }, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }, null),
      chunk({ tool_calls: [{ index, function: { arguments: args } }] }, null),
    ]),
    chunk({}, finish_reason),
    { ...about, object: 'chat.completion.chunk', choices: [], usage },
  ]
  return [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n']
}

function responses({ text, thinking, calls = [] }: Spoken, isStreamed: boolean): string[] {
  const id = `resp_${nameOf(calls)}`
  const items: (Json & { id: string })[] = [
    ...(thinking === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${thinking}`,
            summary: [],
            encrypted_content: `enc/${thinking}+==`,
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map((call) => ({
      type: 'function_call',
      id: `fc_${call.id}`,
      call_id: call.id,
      name: 'exec',
      arguments: call.args,
      status: 'completed',
    })),
  ]
  const response = {
    id,
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: items,
    parallel_tool_calls: true,
    tools: [],
    tool_choice: 'auto',
    usage: {
      input_tokens: 14,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 19,
    },
  }
  if (!isStreamed) return [JSON.stringify(response)]
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ]
  for (const [output_index, item] of items.entries()) {
    const place = { item_id: item.id, output_index }
    const part = { ...place, content_index: 0 }
    const added =
      item.type === 'message'
        ? { ...item, content: [] }
        : item.type === 'function_call'
          ? { ...item, status: 'in_progress', arguments: '' }
          : item
    events.push({ type: 'response.output_item.added', output_index, item: added })
    if (item.type === 'message')
      events.push(
        {
          type: 'response.content_part.added',
          ...part,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        { type: 'response.output_text.delta', ...part, delta: text },
        { type: 'response.output_text.done', ...part, text },
      )
    if (item.type === 'function_call')
      events.push(
        { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
        {
          type: 'response.function_call_arguments.done',
          ...place,
          name: item.name,
          arguments: item.arguments,
        },
      )
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: 'response.completed', response })
  return named(events.map((event, n) => ({ ...event, sequence_number: n })))
}

function named(events: Json[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
