// A model of incident I1 with three APIs: it calls `exec` with `{}` in every answer, with random
// call ids, as a whole or as a stream. It obeys a request that forbids calls, unless it is stubborn.

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { forbidsCalls, geminiPieces, isGemini, isGeminiStream } from './gemini/model.ts'
import { isOllama, isOllamaStream, offersTools, ollamaCall, ollamaPieces } from './ollama/model.ts'
import type { Received } from './scripted-upstream.ts'

type Body = { stream?: boolean; tool_choice?: unknown } & Json
type Json = Record<string, unknown>

export function loopingModel({
  isStubborn = false,
} = {}): (request: Received, response: ServerResponse) => void {
  return ({ url, body: bytes }, response) => {
    const body = JSON.parse(bytes.toString()) as Body
    const choice = body.tool_choice
    const isForbidden =
      choice === 'none' ||
      (choice as Json | undefined)?.type === 'none' ||
      forbidsCalls(body) ||
      (isOllama(url) && !offersTools(body))
    const call = isForbidden && !isStubborn ? undefined : `call_${randomUUID().slice(0, 8)}`
    const own = isGemini(url) ? gemini : answers[url.replace('/v1', '')]
    const answer = isOllama(url) ? ollama : own
    if (answer === undefined) throw new Error(`no such API: ${url}`)
    const isLines = isOllamaStream(url, body)
    const isStreamed = body.stream === true || isGeminiStream(url) || isLines
    const events = answer(call, isStreamed)
    const streamType = isLines ? 'application/x-ndjson' : 'text/event-stream'
    response.writeHead(200, { 'content-type': isStreamed ? streamType : 'application/json' })
    for (const event of events) response.write(event)
    response.end()
  }
}

const finalText = 'I stop here.'

const answers: Record<string, (call: string | undefined, isStreamed: boolean) => string[]> = {
  '/messages': messages,
  '/chat/completions': chat,
  '/responses': responses,
}

function gemini(call: string | undefined, isStreamed: boolean): string[] {
  const part =
    call === undefined
      ? { text: finalText }
      : { functionCall: { id: call, name: 'exec', args: {} }, thoughtSignature: `sig/${call}` }
  return geminiPieces([part], isStreamed)
}

function ollama(call: string | undefined, isStreamed: boolean): string[] {
  const message =
    call === undefined ? { content: finalText } : { tool_calls: [ollamaCall(call, {})] }
  return ollamaPieces([message], isStreamed)
}

function messages(call: string | undefined, isStreamed: boolean): string[] {
  const block =
    call === undefined
      ? { type: 'text', text: finalText }
      : { type: 'tool_use', id: call, name: 'exec', input: {} }
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use'
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 2 },
  }
  if (!isStreamed) return [JSON.stringify({ ...message, content: [block], stop_reason })]
  const begun = call === undefined ? { ...block, text: '' } : block
  const delta =
    call === undefined
      ? { type: 'text_delta', text: finalText }
      : { type: 'input_json_delta', partial_json: '{}' }
  return named([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: begun },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ])
}

function chat(call: string | undefined, isStreamed: boolean): string[] {
  const about = { id: 'c', created: 1, model: 'm' }
  const calls = [{ id: call, type: 'function', function: { name: 'exec', arguments: '{}' } }]
  const message =
    call === undefined
      ? { role: 'assistant', content: finalText }
      : { role: 'assistant', content: null, tool_calls: calls }
  const finish_reason = call === undefined ? 'stop' : 'tool_calls'
  if (!isStreamed)
    return [
      JSON.stringify({
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
    ]
  const delta =
    call === undefined ? message : { ...message, tool_calls: [{ index: 0, ...calls[0] }] }
  const chunk = (delta: Json, finish_reason: string | null) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  return [
    ...[chunk(delta, null), chunk({}, finish_reason)].map(
      (one) => `data: ${JSON.stringify(one)}\n\n`,
    ),
    'data: [DONE]\n\n',
  ]
}

function responses(call: string | undefined, isStreamed: boolean): string[] {
  const item =
    call === undefined
      ? {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: finalText, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: `fc_${call}`,
          call_id: call,
          name: 'exec',
          arguments: '{}',
          status: 'completed',
        }
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [item],
    parallel_tool_calls: true,
    tools: [],
    tool_choice: 'auto',
    usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
  }
  if (!isStreamed) return [JSON.stringify(response)]
  const begun = { ...response, status: 'in_progress', output: [] }
  const added = call === undefined ? { ...item, content: [] } : { ...item, arguments: '' }
  const place = { item_id: item.id, output_index: 0 }
  const pieces: Json[] =
    call === undefined
      ? [
          {
            type: 'response.content_part.added',
            ...place,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            ...place,
            content_index: 0,
            delta: finalText,
          },
          {
            type: 'response.output_text.done',
            ...place,
            content_index: 0,
            text: finalText,
          },
        ]
      : [
          { type: 'response.function_call_arguments.delta', ...place, delta: '{}' },
          { type: 'response.function_call_arguments.done', ...place, arguments: '{}' },
        ]
  return named(
    [
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: added },
      ...pieces,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ].map((event, n) => ({ ...event, sequence_number: n })),
  )
}

function named(events: Json[]): string[] {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}
