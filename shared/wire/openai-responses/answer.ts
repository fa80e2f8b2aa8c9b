// Writes an answer in the form of Responses, whole or as the events of a stream.

import type { Usage } from '../../contract/messages.ts'
import { type AnswerCall, type AnswerItem, freeTextOf, type ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { itemEvents } from './item-events.ts'
import { nameInNamespace } from './tool-name.ts'

export function writeResponse({ id, model, items, stop, usage }: ModelAnswer): Json {
  const isCut = stop === 'length'
  return responseBody(
    { id, model, createdAt: 0 },
    {
      status: isCut ? 'incomplete' : 'completed',
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      output: items.map((item, at) => itemOf(item, `${id}${at === 0 ? '' : `_${at}`}`)),
      usage: writeUsage(usage),
    },
  )
}

/** A response. `createdAt`: seconds since 1970. `state`: the members that its progress changes. */
export function responseBody(
  { id, model, createdAt }: { id: string; model: string; createdAt: number },
  state: Json,
): Json {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    model,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    user: null,
    ...state,
  }
}

export function writeUsage(usage: Usage): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const input = inputTokens + cacheReadTokens + cacheWriteTokens
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: cacheReadTokens,
      ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + outputTokens,
  }
}

/** `place`: unique in the conversation. */
export function itemOf(item: AnswerItem, place: string): Json {
  switch (item.kind) {
    case 'text':
      return item.vendor ?? messageItem(item.text, place)
    case 'call':
      return callItem(item, place)
    case 'vendor':
      return item.vendor
  }
}

export function messageItem(text: string, place: string, status: TextStatus = 'completed'): Json {
  const part = { type: 'output_text', text, annotations: [], logprobs: [] }
  return { id: `msg_${place}`, type: 'message', role: 'assistant', status, content: [part] }
}

export type TextStatus = 'in_progress' | 'completed'

export function reasoningItem(text: string, place: string, status: TextStatus): Json {
  const part = { type: 'reasoning_text', text }
  return { id: `rs_${place}`, type: 'reasoning', summary: [], status, content: [part] }
}

/** A call that the server runs. `state`: its status, with its output or its error. */
export function mcpCallItem(
  call: Omit<AnswerCall, 'kind'> & { server: string; approval: string | undefined },
  state: { status: 'in_progress' | 'completed' | 'failed'; output?: string; error?: string },
): Json {
  const { id, server, name, arguments: text, approval = null } = call
  const about = { id, type: 'mcp_call', server_label: server, name, arguments: text }
  return { ...about, approval_request_id: approval, output: null, error: null, ...state }
}

/** A call that waits for a person. `id`: of the approval. */
export function approvalItem(call: Omit<AnswerCall, 'kind'> & { server: string }): Json {
  const { id, server, name, arguments: text } = call
  return { id, type: 'mcp_approval_request', server_label: server, name, arguments: text }
}

function callItem(call: AnswerCall, place: string): Json {
  const { id, vendor } = call
  const name = nameInNamespace(call.name, vendor ?? {})
  if (vendor?.type === 'custom_tool_call')
    return { ...vendor, call_id: id, name, input: freeTextOf(call) }
  const about = vendor ?? { id: `fc_${place}`, type: 'function_call', status: 'completed' }
  return { ...about, call_id: id, name, arguments: call.arguments }
}

export function responseEvents(answer: ModelAnswer): Json[] {
  const response = writeResponse(answer)
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Json[] = [
    ...begunEvents(begun),
    ...(response.output as Json[]).flatMap(itemEvents),
    endedEvent(response),
  ]
  return events.map((event, n) => ({ ...event, sequence_number: n }))
}

export function begunEvents(response: Json): Json[] {
  return ['created', 'in_progress'].map((word) => ({ type: `response.${word}`, response }))
}

/** A cancelled response has no event of its name. */
export function endedEvent(response: Json): Json {
  const { status } = response
  return { type: `response.${status === 'cancelled' ? 'incomplete' : status}`, response }
}

export function errorEvent(code: string, message: string): Json {
  return { type: 'error', code, message, param: null }
}
