// The messages of OpenAI's Chat Completions, also from compatible servers.

import { isObject } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import {
  argumentTextAt,
  type Json,
  listAt,
  objectAt,
  readsAsError,
  textAt,
} from '../../transcript/json-fields.ts'
import { callPiece } from '../../transcript/pieces.ts'
import { freeTextArguments, invalid, type Piece } from '../../transcript/transcript.ts'
import { saidOf, textOf } from '../openai/content.ts'

export function piecesOfMessage(value: unknown, where: string): Piece[] {
  const message = objectAt(value, where)
  switch (message.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [{ kind: 'user', text: textOf(message.content, where) }]
    case 'assistant': {
      const calls = listAt(message.tool_calls ?? [], `${where}.tool_calls`)
      const older = message.function_call ?? undefined
      return [
        { kind: 'response', id: undefined },
        ...reasoningOf(message),
        ...saidOf(textOf(message.content ?? message.refusal ?? '', where)),
        ...calls.map((call, at) =>
          callOf(objectAt(call, `${where}.tool_calls[${at}]`), `${where}.tool_calls[${at}]`),
        ),
        ...(older === undefined ? [] : [callOf({ function: older }, `${where}.function_call`)]),
      ]
    }
    case 'tool':
    case 'function': {
      const text = textOf(message.content, where)
      const id = typeof message.tool_call_id === 'string' ? message.tool_call_id : ''
      return [{ kind: 'result', id, text, isError: readsAsError(text), where }]
    }
    default:
      throw invalid(
        `${where}.role`,
        `is ${shown(message.role)}; must be ${alternatives(['system', 'developer', 'user', 'assistant', 'tool'])}`,
      )
  }
}

/** The thinking that some servers return next to the text. */
function reasoningOf({ reasoning_content: content }: Json): Piece[] {
  return typeof content === 'string' && content !== ''
    ? [{ kind: 'reasoning', block: { type: 'reasoning_content', reasoning_content: content } }]
    : []
}

/** Some servers, and the old functions, have no call ids. Results then follow the order of calls. */
function callOf({ id, custom, function: given }: Json, where: string): Piece {
  if (isObject(custom)) {
    const input = freeTextArguments(textAt(custom, 'input', where))
    return callPiece(id, textAt(custom, 'name', where), input)
  }
  const named = objectAt(given, `${where}.function`)
  const text = argumentTextAt(named.arguments, `${where}.function.arguments`)
  return callPiece(id, textAt(named, 'name', `${where}.function`), text)
}
