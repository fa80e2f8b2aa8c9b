// OpenAI's Chat Completions (messages) and Responses (items): a request's body, or its list. openai-agents.ts writes the latter in words of its own.

import { alternatives, shown } from '../../../shared/agent-file/mistake.ts'
import { isObject } from '../../../shared/json-object.ts'
import type { Declaration } from '../../../shared/messages.ts'
import type { Json } from './json-fields.ts'
import { argumentTextAt, firstTextAt, idAmong, listAt, objectAt, readsAsError, textAt } from './json-fields.ts'
import type { Piece, ReadPieces } from './transcript.ts'
import { declarationOf, invalid } from './transcript.ts'

const expected = 'must be the body of a request to Chat Completions (messages) or Responses (input), or its list'

export function readOpenai(value: unknown, where: string): ReadPieces {
  const body = Array.isArray(value) ? (looksLikeItems(value) ? { input: value } : { messages: value }) : objectAt(value, where)
  const tools = body.tools === undefined || body.tools === null ? undefined : listAt(body.tools, `${where} tools`)
  const rest = {
    tools: tools?.flatMap((tool, at) => toolOf(objectAt(tool, `${where} tools[${at}]`), `${where} tools[${at}]`)),
    id: idAmong([body.id]),
  }
  if ('messages' in body)
    return {
      ...rest,
      pieces: listAt(body.messages, `${where} messages`).flatMap((one, at) => piecesOfMessage(one, `${where} messages[${at}]`)),
    }
  if (!('input' in body) && !('output' in body)) throw invalid(where, `has neither messages nor input; ${expected}`)
  const said = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listAt(body.input ?? [], `${where} input`)
  const answered = listAt(body.output ?? [], `${where} output`)
  return {
    ...rest,
    pieces: [
      ...said.flatMap((item, at) => piecesOfItem(item, `${where} input[${at}]`)),
      ...answered.flatMap((item, at) => piecesOfItem(item, `${where} output[${at}]`)),
    ],
  }
}

function looksLikeItems(list: unknown[]): boolean {
  return list.some((item) => isObject(item) && typeof item.type === 'string')
}

function toolOf(tool: Json, where: string): Declaration[] {
  const inner = isObject(tool.function) ? tool.function : tool
  if (tool.type !== 'function' && !isObject(tool.function)) return [] // run by the provider, or of free text
  return [declarationOf(textAt(inner, 'name', where), inner.description, inner.parameters)]
}

function piecesOfMessage(value: unknown, where: string): Piece[] {
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
        ...reasoningOf(message),
        ...saidOf(textOf(message.content ?? message.refusal ?? '', where)),
        ...calls.map((call, at) => callOf(objectAt(call, `${where}.tool_calls[${at}]`), `${where}.tool_calls[${at}]`)),
        ...(older === undefined ? [] : [callOf({ id: '', function: older }, `${where}.function_call`)]),
      ]
    }
    case 'tool':
    case 'function': {
      const text = textOf(message.content, where)
      const id = message.role === 'function' ? '' : textAt(message, 'tool_call_id', where)
      return [{ kind: 'result', id, text, isError: readsAsError(text) }]
    }
    default:
      throw invalid(
        `${where}.role`,
        `is ${shown(message.role)}; must be ${alternatives(['system', 'developer', 'user', 'assistant', 'tool'])}`,
      )
  }
}

/** Of servers that say what the model thought beside what it said. */
function reasoningOf({ reasoning_content: content }: Json): Piece[] {
  return typeof content === 'string' && content !== ''
    ? [{ kind: 'reasoning', block: { type: 'reasoning_content', reasoning_content: content } }]
    : []
}

function callOf(call: Json, where: string): Piece {
  if (isObject(call.custom))
    return {
      kind: 'call',
      id: textAt(call, 'id', where),
      name: textAt(call.custom, 'name', where),
      arguments: textAt(call.custom, 'input', where),
    }
  const named = objectAt(call.function, `${where}.function`)
  const text = argumentTextAt(named.arguments, `${where}.function.arguments`)
  return { kind: 'call', id: textAt(call, 'id', where), name: textAt(named, 'name', `${where}.function`), arguments: text }
}

/** Kinds of items of which nothing is kept: what the provider itself ran, and marks in the list. */
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
      return [{ kind: 'call', id: firstTextAt(item, ['call_id', 'callId'], where), name: textAt(item, 'name', where), arguments: text }]
    }
    case 'custom_tool_call':
      return [
        { kind: 'call', id: textAt(item, 'call_id', where), name: textAt(item, 'name', where), arguments: textAt(item, 'input', where) },
      ]
    case 'function_call_output':
    case 'function_call_result':
    case 'custom_tool_call_output': {
      const text = textOf(item.output, `${where}.output`)
      return [{ kind: 'result', id: firstTextAt(item, ['call_id', 'callId'], where), text, isError: readsAsError(text) }]
    }
    default: {
      const what = leftOutItems[String(type)]
      if (what !== undefined) return [{ kind: 'left-out', what }]
      if (/(_call|_call_output|_call_result|_request|_response|_list_tools|_approval)$/.test(String(type)))
        return [{ kind: 'left-out', what: 'a tool that the provider ran' }]
      throw invalid(
        `${where}.type`,
        `is ${shown(type)}; must be ${alternatives(['message', 'reasoning', 'function_call', 'function_call_output'])}`,
      )
    }
  }
}

function piecesOfSpoken(item: Json, where: string): Piece[] {
  switch (item.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [{ kind: 'user', text: textOf(item.content, where) }]
    case 'assistant':
      return saidOf(textOf(item.content, where))
    default:
      throw invalid(`${where}.role`, `is ${shown(item.role)}; must be ${alternatives(['system', 'developer', 'user', 'assistant'])}`)
  }
}

function saidOf(text: string): Piece[] {
  return text === '' ? [] : [{ kind: 'text', text }]
}

/** A text, or parts of which those are kept that are texts. */
function textOf(content: unknown, where: string): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  const parts = isObject(content) ? [content] : listAt(content, `${where}.content`)
  return parts
    .map((part) => {
      if (!isObject(part)) return String(part)
      if (part.type === 'tool_use' || part.type === 'tool_result')
        throw invalid(where, `has a part of type ${part.type}, which is of Anthropic: give --format anthropic`)
      const text = [part.text, part.refusal].find((one) => typeof one === 'string')
      return typeof text === 'string' ? text : `[${String(part.type)}]`
    })
    .join('\n')
}
