// The content of OpenAI's messages, in Chat Completions and in Responses.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { listAt } from '../../transcript/json-fields.ts'
import { invalid, type Piece } from '../../transcript/transcript.ts'

/**
 * A text, or parts with a line each. A part without a text becomes its type. Throws
 * `transcript.invalid` for parts of Anthropic.
 */
export function textOf(content: unknown, where: string): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  const parts = isObject(content) ? [content] : listAt(content, `${where}.content`)
  return parts
    .map((part) => {
      if (!isObject(part)) return jsonText(part)
      if (part.type === 'tool_use' || part.type === 'tool_result')
        throw invalid(
          where,
          `has a part of type ${part.type}, which is of Anthropic. Use --format anthropic`,
        )
      const text = [part.text, part.refusal].find((one) => typeof one === 'string')
      return typeof text === 'string' ? text : `[${jsonText(part.type)}]`
    })
    .join('\n')
}

export function saidOf(text: string): Piece[] {
  return text === '' ? [] : [{ kind: 'text', text }]
}
