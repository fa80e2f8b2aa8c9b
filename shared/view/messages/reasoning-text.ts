// The readable text of a model's reasoning, from the blocks that go back to its provider. The
// adapters in services/llm-gateway/performer/providers write them. Encrypted reasoning has no text.

import { isObject } from '../../lib/json/json-object.ts'

type Json = Record<string, unknown>

/** `reasoning`: as a response has it. Empty: the provider showed none. */
export function reasoningText(reasoning: string): string {
  if (reasoning === '') return ''
  try {
    const blocks: unknown = JSON.parse(reasoning)
    const texts = Array.isArray(blocks) ? blocks.filter(isObject).map(textOf) : []
    return texts.filter((text) => text !== '').join('\n\n')
  } catch {
    return '' // a block as a provider sent it, and not JSON
  }
}

/** Of Anthropic, then of the Responses API, then of Chat Completions, whose fields may repeat. */
function textOf(block: Json): string {
  if (block.type === 'thinking') return text(block.thinking)
  if (isObject(block.item)) return partsOf(block.item.summary) + partsOf(block.item.content)
  return (
    text(block.reasoning_content) ||
    text(block.reasoning) ||
    partsOf(block.reasoning_details) ||
    text(block.content_thinking)
  )
}

function partsOf(parts: unknown): string {
  const found = Array.isArray(parts) ? parts.filter(isObject) : []
  return found.map((part) => text(part.text) || text(part.summary)).join('')
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
