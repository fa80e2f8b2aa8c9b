// Anthropic's Messages: the body of a request, or its list of messages.

import type { Declaration } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import {
  argumentTextAt,
  errorAnswer,
  isPlain,
  type Json,
  listAt,
  notPutTogether,
  objectAt,
  textAt,
  toolsAt,
} from '../../transcript/json-fields.ts'
import {
  callPiece,
  endedPiece,
  exchangeReader,
  leftOut,
  partText,
  userPieces,
} from '../../transcript/pieces.ts'
import { declarationOf, invalid, type Piece, responseWith } from '../../transcript/transcript.ts'
import { messagesUsage } from './usage.ts'

export const readAnthropic = exchangeReader({
  lists: ['messages', 'input'],
  missing: 'has no messages; must be the body of a request to Messages, or its list of messages',
  text: (content) => ({ role: 'user', content }),
  item: piecesOfMessage,
  answer: answerOfMessages,
  tools: ({ tools }, where) => toolsAt(tools, where, toolOf),
})

/** A message, a message of a batch, or the content of one. */
export function answerOfMessages(value: unknown, where: string): Piece[] {
  const answer = isObject(value) && isObject(value.message) ? value.message : value
  const content = isObject(answer) ? answer.content : answer
  if (isObject(answer) && (answer.type === 'error' || isObject(answer.error)))
    return leftOut(errorAnswer, where)
  if (
    Array.isArray(content)
      ? content.every((block) => isObject(block) && !('delta' in block) && !('role' in block))
      : isPlain(content)
  )
    return piecesOfMessage(
      { ...(isObject(answer) ? answer : {}), role: 'assistant', content },
      where,
    )
  return leftOut(notPutTogether, where)
}

function toolOf(value: unknown, where: string): Declaration[] {
  const tool = objectAt(value, where)
  return isToolOfClient(tool)
    ? [declarationOf(textAt(tool, 'name', where), tool.description, tool.input_schema)]
    : []
}

/**
 * Whether the client runs this tool. Two kinds have no schema: those of the provider, whose calls
 * never reach a client, and those that the API defines for clients, such as `bash_20250124`.
 */
export function isToolOfClient({ type, name, input_schema: schema }: Json): boolean {
  if (schema !== undefined) return true
  return typeof name === 'string' && !/^(web_|code_execution|tool_search|mcp)/.test(jsonText(type))
}

export function piecesOfMessage(value: unknown, where: string): Piece[] {
  const message = objectAt(value, where)
  const { role } = message
  if (role === 'system') return []
  if (role !== 'user' && role !== 'assistant')
    throw invalid(
      `${where}.role`,
      `is ${shown(role)}; must be user or assistant${role === 'tool' || role === 'developer' ? '. If it is of OpenAI, use --format openai' : ''}`,
    )
  if (role === 'assistant' && 'tool_calls' in message)
    throw invalid(where, 'has tool_calls, which are of OpenAI. Use --format openai')
  const { content } = message
  const blocks =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : listAt(content ?? [], `${where}.content`)
  const pieces = blocks.flatMap((block, at) =>
    pieceOf(objectAt(block, `${where}.content[${at}]`), role, `${where}.content[${at}]`),
  )
  if (role === 'assistant')
    return responseWith(
      [...pieces, ...endedOf(message)],
      typeof message.id === 'string' ? message.id : undefined,
    )
  const hasResults = pieces.some(({ kind }) => kind === 'result')
  // The runtime writes a text next to results. It is not a new question.
  if (hasResults)
    return pieces.map((piece) =>
      piece.kind === 'user'
        ? { kind: 'left-out', what: 'a text next to the results of tools', where }
        : piece,
    )
  return userPieces(pieces)
}

/**
 * Blocks of the other role or of OpenAI. They show that the file has another format. Each release
 * adds new kinds of blocks, so unknown ones are accepted.
 */
const ofAnother =
  /^(tool_use|tool_result|thinking|input_\w+|output_\w+|image_url|refusal|function_call\w*)$/

function pieceOf(block: Json, role: 'user' | 'assistant', where: string): Piece[] {
  const { type } = block
  if (role === 'user') {
    if (type === 'text') return [{ kind: 'user', text: textAt(block, 'text', where) }]
    if (type === 'tool_result') return [resultOf(block, where)]
    if (type === 'image' || type === 'document' || type === 'search_result')
      return [{ kind: 'user', text: `[${type}]` }]
  } else {
    if (type === 'text') return [{ kind: 'text', text: textAt(block, 'text', where) }]
    if (type === 'thinking' || type === 'redacted_thinking') return [{ kind: 'reasoning', block }]
    if (type === 'tool_use') {
      const text = argumentTextAt(block.input, `${where}.input`)
      return [callPiece(textAt(block, 'id', where), textAt(block, 'name', where), text)]
    }
    if (typeof type === 'string' && /^(server_tool_use|mcp_tool_use|\w+_tool_result)$/.test(type))
      return leftOut('a tool that the provider ran', where)
  }
  if (typeof type === 'string' && !ofAnother.test(type))
    return leftOut(`a block of type ${type}`, where)
  const types =
    role === 'user'
      ? ['text', 'tool_result', 'image', 'document']
      : ['text', 'thinking', 'redacted_thinking', 'tool_use']
  throw invalid(
    `${where}.type`,
    `is ${shown(type)}; of a message of ${role} it must be ${alternatives(types)}`,
  )
}

function resultOf(block: Json, where: string): Piece {
  const { content = [] } = block
  const parts =
    typeof content === 'string' ? [content] : listAt(content, `${where}.content`).map(partText)
  return {
    kind: 'result',
    id: textAt(block, 'tool_use_id', where),
    text: parts.join('\n'),
    isError: block.is_error === true,
    where,
  }
}

function endedOf({ usage, stop_reason: reason }: Json): Piece[] {
  if (!isObject(usage) && reason === undefined) return []
  return [endedPiece(usage, (sent) => ({ ...noUsage, ...messagesUsage(sent) }), reason)]
}
