// Converse's messages in the form of Anthropic's Messages, and back. Both have the same parts under other
// names, so the readers of Messages judge them.
// CONVERSE-1. A block has one kind. A block of two kinds, or of an unknown one, has a type that no reader
//     of Messages accepts.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'
import { listIn } from '../request/content.ts'

/** A message of a request or of an answer. Marks of the cache are left out. */
export function messageOf(message: Json): Json {
  const blocks = listIn(message.content).filter(({ cachePoint }) => cachePoint === undefined)
  return { role: message.role, content: blocks.map(blockOf) }
}

/** Keeps CONVERSE-1. */
function blockOf(block: Json): Json {
  const { text, toolUse, toolResult, reasoningContent: thought } = block
  const kind = Object.keys(block).join('+')
  if (kind === 'text') return { type: 'text', text }
  if (kind === 'toolUse' && isObject(toolUse)) return callOf(toolUse)
  if (kind === 'toolResult' && isObject(toolResult)) {
    const { toolUseId, content, status } = toolResult
    const parts = listIn(content).map(resultPart)
    return {
      type: 'tool_result',
      tool_use_id: toolUseId,
      content: parts,
      is_error: status === 'error',
    }
  }
  if (kind !== 'reasoningContent' || !isObject(thought)) return { type: kind }
  const { reasoningText: said, redactedContent } = thought
  return isObject(said)
    ? { type: 'thinking', thinking: said.text, signature: said.signature ?? '' }
    : { type: 'redacted_thinking', data: redactedContent }
}

/** `type`: of a tool that the provider runs. */
export function callOf({ toolUseId, name, input, type = 'tool_use' }: Json): Json {
  return { type, id: toolUseId, name, input: input ?? {} }
}

function resultPart({ text, json, ...other }: Json): Json {
  if (text !== undefined) return { type: 'text', text }
  if (json !== undefined) return { type: 'text', text: JSON.stringify(json) }
  return { type: Object.keys(other).join('+') }
}

export function converseMessage({ role, content }: Json): Json {
  return { role, content: listIn(content).map(converseBlock) }
}

/** Blocks of other types do not come from Converse. */
function converseBlock(block: Json): Json {
  switch (block.type) {
    case 'tool_result': {
      const { tool_use_id: toolUseId, content: text } = block
      return { toolResult: { toolUseId, content: [{ text }], status: 'error' } }
    }
    case 'thinking': {
      const { thinking: text, signature } = block
      const signed = signature === '' ? {} : { signature }
      return { reasoningContent: { reasoningText: { text, ...signed } } }
    }
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } }
    case 'text':
      return { text: block.text }
    default:
      return { toolUse: { ...converseCall(block), input: block.input } }
  }
}

export function converseCall({ type, id, name }: Json): Json {
  return { toolUseId: id, name, ...(type !== 'tool_use' && { type }) }
}

const counts = [
  ['inputTokens', 'input_tokens'],
  ['outputTokens', 'output_tokens'],
  ['cacheReadInputTokens', 'cache_read_input_tokens'],
  ['cacheWriteInputTokens', 'cache_creation_input_tokens'],
] as const

export function usageOf(usage: unknown): Json {
  return isObject(usage) ? renamed(usage, counts) : {}
}

export function converseUsage(usage: unknown): Json {
  if (!isObject(usage)) return {}
  const made = renamed(
    usage,
    counts.map(([name, other]) => [other, name] as const),
  )
  const total = Object.values(made).filter((count) => typeof count === 'number')
  return { ...made, totalTokens: total.reduce((sum, count) => sum + count, 0) }
}

function renamed(usage: Json, names: readonly (readonly [string, string])[]): Json {
  return Object.fromEntries(
    names.flatMap(([name, other]) => (usage[name] === undefined ? [] : [[other, usage[name]]])),
  )
}

/** The whole answer as a message of Messages. */
export function messageOfResponse({ output, stopReason, usage }: Json): Json {
  const message = isObject(output) && isObject(output.message) ? output.message : {}
  const { role, content } = messageOf(message)
  return { type: 'message', role, content, stop_reason: stopReason, usage: usageOf(usage) }
}

export function responseOf({ content, stop_reason: stopReason, usage }: Json): Json {
  return {
    output: { message: converseMessage({ role: 'assistant', content }) },
    stopReason,
    usage: converseUsage(usage),
    metrics: { latencyMs: 0 },
  }
}
