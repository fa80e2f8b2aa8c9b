// Writes an answer in the form of Anthropic's Messages, whole or as the events of a stream.

import { limits } from '../../contract/limits.ts'
import type { Usage } from '../../contract/messages.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import type { AnswerItem, ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'

export function writeMessage({ id, model, items, stop, finish, usage }: ModelAnswer): Json {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: items.map(blockOf),
    stop_reason: finish || finishOf[stop],
    stop_sequence: null,
    usage: usageOf(usage),
  }
}

const finishOf = {
  end: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  other: 'end_turn',
  cut: null,
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Json {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(cacheReadTokens > 0 && { cache_read_input_tokens: cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cache_creation_input_tokens: cacheWriteTokens }),
  }
}

function blockOf(item: AnswerItem): Json {
  switch (item.kind) {
    case 'text':
      return { ...item.vendor, type: 'text', text: item.text }
    case 'call': {
      const { id, name, vendor } = item
      return { ...vendor, type: 'tool_use', id, name, input: inputOf(item.arguments) }
    }
    case 'vendor':
      return item.vendor
  }
}

/** A text that is not JSON stays a text, which no schema accepts. */
function inputOf(text: string): unknown {
  return text === '' ? {} : (boundedJson(text, limits.jsonDepthMax) ?? text)
}

export function messageEvents(answer: ModelAnswer): Json[] {
  const { usage, stop_reason, ...message } = writeMessage(answer)
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    ...answer.items.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** The events of a whole block at this place. */
export function blockEvents(item: AnswerItem, index: number): Json[] {
  const start = (content_block: Json) => ({ type: 'content_block_start', index, content_block })
  const delta = (delta: Json) => ({ type: 'content_block_delta', index, delta })
  const stop = { type: 'content_block_stop', index }
  switch (item.kind) {
    case 'text':
      return [
        start({ ...item.vendor, type: 'text', text: '' }),
        delta({ type: 'text_delta', text: item.text }),
        stop,
      ]
    case 'call': {
      const { id, name, vendor } = item
      return [
        start({ ...vendor, type: 'tool_use', id, name, input: {} }),
        delta({ type: 'input_json_delta', partial_json: item.arguments }),
        stop,
      ]
    }
    case 'vendor':
      return [start(item.vendor), stop]
  }
}
