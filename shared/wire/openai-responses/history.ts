// The items of OpenAI's Responses: requests, answers and the Agents SDK use them. The SDK has
// different names for some.

import { jsonText } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import {
  argumentTextAt,
  firstTextAt,
  type Json,
  objectAt,
  readsAsError,
  textAt,
} from '../../transcript/json-fields.ts'
import { callPiece, leftOut } from '../../transcript/pieces.ts'
import { freeTextArguments, invalid, type Piece } from '../../transcript/transcript.ts'
import { saidOf, textOf } from '../openai/content.ts'
import { toolName } from './tool-name.ts'

/** Kinds that are left out: tools that ran at the provider, and marks in the list. */
const leftOutItems: Record<string, string> = {
  item_reference: 'a reference to an item that is elsewhere',
  compaction: 'a part that was made shorter',
}

export function piecesOfItem(value: unknown, where: string): Piece[] {
  const item = objectAt(value, where)
  const { type = 'message' } = item
  switch (type) {
    case 'message':
      return piecesOfSpoken(item, where)
    case 'reasoning':
      return [{ kind: 'reasoning', block: item }]
    case 'function_call': {
      const text = argumentTextAt(item.arguments, `${where}.arguments`)
      const id = firstTextAt(item, ['call_id', 'callId'], where)
      return [callPiece(id, nameIn(item, where), text)]
    }
    case 'custom_tool_call': {
      const input = freeTextArguments(textAt(item, 'input', where))
      return [callPiece(textAt(item, 'call_id', where), nameIn(item, where), input)]
    }
    case 'function_call_output':
    case 'function_call_result':
    case 'custom_tool_call_output': {
      const text = textOf(item.output, `${where}.output`)
      const id = firstTextAt(item, ['call_id', 'callId'], where)
      return [{ kind: 'result', id, text, isError: readsAsError(text), where }]
    }
    default: {
      const what = leftOutItems[jsonText(type)]
      if (what !== undefined) return leftOut(what, where)
      if (
        /(_call|_call_output|_call_result|_request|_response|_list_tools|_approval)$/.test(
          jsonText(type),
        )
      )
        return leftOut('a tool that the provider ran', where)
      throw invalid(
        `${where}.type`,
        `is ${shown(type)}; must be ${alternatives(['message', 'reasoning', 'function_call', 'function_call_output'])}`,
      )
    }
  }
}

function nameIn(item: Json, where: string): string {
  return textAt({ name: toolName(item) }, 'name', where)
}

function piecesOfSpoken(item: Json, where: string): Piece[] {
  switch (item.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [{ kind: 'user', text: textOf(item.content, where) }]
    case 'assistant':
      return saidOf(textOf(item.content ?? item.refusal, where))
    default:
      throw invalid(
        `${where}.role`,
        `is ${shown(item.role)}; must be ${alternatives(['system', 'developer', 'user', 'assistant'])}`,
      )
  }
}
