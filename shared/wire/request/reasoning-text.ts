// The readable text of a model's reasoning, from the blocks that go back to its provider. Encrypted
// reasoning has no text.

import { isObject, jsonIn } from '../../lib/json/json-object.ts'
import { type Json, textOr } from '../../transcript/json-fields.ts'

/** `reasoning`: as a response has it. Empty: the provider showed none. */
export function reasoningText(reasoning: string): string {
  const blocks = jsonIn(reasoning) // a block as a provider sent it needs not be JSON
  const texts = Array.isArray(blocks) ? blocks.filter(isObject).map(textOf) : []
  return texts.filter((text) => text !== '').join('\n\n')
}

/** Of Anthropic, then of the Responses API, then of Chat Completions, whose fields may repeat. */
function textOf(block: Json): string {
  if (block.type === 'thinking') return textOr(block.thinking)
  if (isObject(block.item)) return partsOf(block.item.summary) + partsOf(block.item.content)
  return (
    textOr(block.reasoning_content) ||
    textOr(block.reasoning) ||
    partsOf(block.reasoning_details) ||
    textOr(block.content_thinking)
  )
}

function partsOf(parts: unknown): string {
  const found = Array.isArray(parts) ? parts.filter(isObject) : []
  return found.map((part) => textOr(part.text) || textOr(part.summary)).join('')
}
