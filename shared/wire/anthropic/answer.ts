// Writes an answer in the form of Anthropic's Messages, whole or as the events of a stream.

import { limits } from '../../contract/limits.ts'
import type { Usage } from '../../contract/messages.ts'
import { nestsDeeper } from '../../lib/json/bounded-json.ts'
import { jsonText } from '../../lib/json/json-object.ts'
import { withExactNumbers } from '../../lib/json/raw-numbers.ts'
import type { AnswerItem, ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { listIn } from '../request/content.ts'

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

export const finishOf = {
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

export function blockOf(item: AnswerItem): Json {
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
  if (text === '') return {}
  return (nestsDeeper(text, limits.jsonDepthMax) ? undefined : withExactNumbers(text)) ?? text
}

/** The pieces of a text of an item, in the deltas. */
type PiecesOf<Item extends AnswerItem> = (text: string, item: Item) => readonly string[]

export function messageEvents<Item extends AnswerItem>(
  answer: Omit<ModelAnswer, 'items'> & { items: readonly Item[] },
  piecesOf?: PiecesOf<Item>,
): Json[] {
  const { usage, stop_reason, ...message } = writeMessage(answer)
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    ...answer.items.flatMap((item, at) => blockEvents(item, at, piecesOf)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** The events of a whole block at this place. Clients read each field from its deltas. */
export function blockEvents<Item extends AnswerItem>(
  item: Item,
  index: number,
  piecesOf: PiecesOf<Item> = (text) => [text],
): Json[] {
  const start = (content_block: Json) => ({ type: 'content_block_start', index, content_block })
  const delta = (delta: Json) => ({ type: 'content_block_delta', index, delta })
  const deltas = (type: string, name: string, text: unknown) =>
    piecesOf(jsonText(text ?? ''), item).map((piece) => delta({ type, [name]: piece }))
  const stop = { type: 'content_block_stop', index }
  const block = blockOf(item)
  switch (block.type) {
    case 'text': {
      const { citations, ...plain } = block
      return [
        start({ ...plain, text: '' }),
        ...deltas('text_delta', 'text', block.text),
        ...listIn(citations).map((citation) => delta({ type: 'citations_delta', citation })),
        stop,
      ]
    }
    case 'thinking':
      return [
        start({ ...block, thinking: '', signature: '' }),
        ...deltas('thinking_delta', 'thinking', block.thinking),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const json = item.kind === 'call' ? item.arguments : JSON.stringify(block.input)
      return [
        start({ ...block, input: {} }),
        ...(json === '' ? [] : deltas('input_json_delta', 'partial_json', json)),
        stop,
      ]
    }
    default:
      return [start(block), stop]
  }
}

/** A thought that a client sends back, as a scripted answer has it. */
export function thoughtItem(thinking: string): AnswerItem {
  return { kind: 'vendor', vendor: { type: 'thinking', thinking, signature: 'signed' } }
}
