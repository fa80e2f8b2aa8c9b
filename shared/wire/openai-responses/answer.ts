// Writes an answer in the form of Responses, whole or as the events of a stream.

import type { Usage } from '../../contract/messages.ts'
import { type AnswerCall, type AnswerItem, freeTextOf, type ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { listIn } from '../request/content.ts'
import { nameInNamespace } from './tool-name.ts'

export function writeResponse({ id, model, items, stop, usage }: ModelAnswer): Json {
  const isCut = stop === 'length'
  return {
    id,
    object: 'response',
    created_at: 0,
    status: isCut ? 'incomplete' : 'completed',
    model,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    output: items.map((item, at) => itemOf(item, `${id}${at === 0 ? '' : `_${at}`}`)),
    parallel_tool_calls: true,
    tool_choice: 'none',
    tools: [],
    temperature: null,
    top_p: null,
    usage: writeUsage(usage),
  }
}

function writeUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Json {
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

export function messageItem(text: string, place: string): Json {
  return {
    id: `msg_${place}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
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
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...(response.output as Json[]).flatMap(itemEvents),
    { type: `response.${response.status}`, response },
  ]
  return events.map((event, n) => ({ ...event, sequence_number: n }))
}

/** The events of a whole item at this place of the output. */
export function itemEvents(item: Json, output_index: number): Json[] {
  const place = { item_id: item.id, output_index }
  const added = (begun: Json) => ({ type: 'response.output_item.added', output_index, item: begun })
  const done = { type: 'response.output_item.done', output_index, item }
  const isBegun = { status: 'in_progress' }
  switch (item.type) {
    case 'message':
      return [
        added({ ...item, ...isBegun, content: [] }),
        ...listIn(item.content).flatMap((part, at) =>
          partEvents(part, { ...place, content_index: at }),
        ),
        done,
      ]
    case 'function_call': {
      const { arguments: text } = item
      const type = 'response.function_call_arguments'
      return [
        added({ ...item, ...isBegun, arguments: '' }),
        { type: `${type}.delta`, ...place, delta: text },
        { type: `${type}.done`, ...place, arguments: text },
        done,
      ]
    }
    case 'custom_tool_call': {
      const { input } = item
      const type = 'response.custom_tool_call_input'
      return [
        added({ ...item, ...isBegun, input: '' }),
        { type: `${type}.delta`, ...place, delta: input },
        { type: `${type}.done`, ...place, input },
        done,
      ]
    }
    default:
      return [added(item), done]
  }
}

function partEvents(part: Json, place: Json): Json[] {
  const member = part.type === 'refusal' ? 'refusal' : 'text'
  const type = `response.${part.type === 'refusal' ? 'refusal' : 'output_text'}`
  const text = part[member]
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, [member]: '' } },
    { type: `${type}.delta`, ...place, delta: text, logprobs: [] },
    { type: `${type}.done`, ...place, [member]: text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ]
}
