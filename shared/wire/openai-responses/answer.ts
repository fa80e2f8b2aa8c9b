// Writes an answer in the form of Responses, whole or as the events of a stream.

import type { Usage } from '../../contract/messages.ts'
import type { AnswerItem, ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'

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
function itemOf(item: AnswerItem, place: string): Json {
  switch (item.kind) {
    case 'text':
      return {
        id: `msg_${place}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: item.text, annotations: [], logprobs: [] }],
        ...item.vendor,
      }
    case 'call':
      return {
        id: `fc_${place}`,
        type: 'function_call',
        status: 'completed',
        ...item.vendor,
        call_id: item.id,
        name: item.name,
        arguments: item.arguments,
      }
    case 'vendor':
      return item.vendor
  }
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
  if (item.type === 'message')
    return [
      added({ ...item, ...isBegun, content: [] }),
      ...(item.content as Json[]).flatMap((part, at) =>
        partEvents(part, { ...place, content_index: at }),
      ),
      done,
    ]
  if (item.type === 'function_call')
    return [
      added({ ...item, ...isBegun, arguments: '' }),
      { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
      {
        type: 'response.function_call_arguments.done',
        ...place,
        name: item.name,
        arguments: item.arguments,
      },
      done,
    ]
  return [added(item), done]
}

function partEvents(part: Json, place: Json): Json[] {
  const { text } = part
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ]
}
