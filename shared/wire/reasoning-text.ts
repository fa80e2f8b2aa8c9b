// The readable text of a model's reasoning, from the blocks that go back to its provider. Encrypted
// reasoning has no text.

import { isObject } from '../lib/json/json-object.ts'
import { parseJson } from './exact-json.ts'
import { modelFormats } from './formats.ts'

/** `reasoning`: as a response has it. Empty: the provider showed none. */
export function reasoningText(reasoning: string): string {
  const blocks = reasoning === '' ? [] : parseJson(reasoning)
  const texts = Array.isArray(blocks) ? blocks.filter(isObject).map(textOf) : []
  return texts.filter((text) => text !== '').join('\n\n')
}

function textOf(block: Record<string, unknown>): string {
  const texts = modelFormats.map(({ answer }) => answer.thought?.(block) ?? '')
  return texts.find((text) => text !== '') ?? ''
}
