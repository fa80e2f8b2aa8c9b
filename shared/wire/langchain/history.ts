// LangChain, version 1: a list of messages as objects of the library, as their serialised form
// (`lc`, `kwargs`), or as stored messages (`type`, `data`).
// Here: reading only. Not here: the adapter (client/adapters/langchain.ts).

import type { Usage } from '../../contract/messages.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import {
  type Json,
  jsonTextOf,
  listAt,
  notPutTogether,
  objectAt,
  textAt,
  toolsAt,
} from '../../transcript/json-fields.ts'
import { jsonSchemaOf } from '../../transcript/json-schema.ts'
import {
  callPiece,
  endedPiece,
  exchangeReader,
  leftOut,
  partText,
} from '../../transcript/pieces.ts'
import { declarationOf, invalid, type Piece, responseWith } from '../../transcript/transcript.ts'
import { saidOf } from '../openai/content.ts'
import { countOf, usageWithCache } from '../token-count.ts'

export const readLangchain = exchangeReader({
  lists: ['messages'],
  missing: 'has no messages; must be a list of messages, or an object with messages',
  item: piecesOfBaseMessage,
  answer: answerOfLangchain,
  tools: ({ tools }, where) => toolsAt(tools, where, toolOf),
})

function piecesOfBaseMessage(value: unknown, where: string): Piece[] {
  const outer = objectAt(value, where)
  const kind = kindOf(outer)
  const message = [outer.kwargs, outer.data].find(isObject) ?? outer
  switch (kind) {
    case 'system':
    case 'developer':
    case 'remove':
      return []
    case 'human':
    case 'user':
      return [{ kind: 'user', text: textOf(message.content, where) }]
    case 'ai':
    case 'assistant':
      return responseOf(message, where)
    case 'tool':
    case 'function':
      return [
        {
          kind: 'result',
          id: typeof message.tool_call_id === 'string' ? message.tool_call_id : '',
          text: textOf(message.content, where),
          isError: message.status === 'error',
          where,
        },
      ]
    default:
      throw invalid(
        where,
        `is a message of type ${shown(kind)}; must be ${alternatives(['system', 'human', 'ai', 'tool'])}`,
      )
  }
}

/** A message of the model, or a result that has it. */
export function answerOfLangchain(value: unknown, where: string): Piece[] {
  if (typeof value === 'string') return responseWith([{ kind: 'text', text: value }])
  if (!isObject(value) || (kindOf(value) === undefined && value.content === undefined))
    return leftOut(notPutTogether, where)
  const message = [value.kwargs, value.data].find(isObject) ?? value
  return responseOf(message, where)
}

/**
 * The type of a message. Serialised messages name their class: `AIMessage`, `HumanMessageChunk`.
 * Plain messages have a role.
 */
function kindOf(outer: Json): string | undefined {
  const { id, type, role } = outer
  if (type === 'constructor' && Array.isArray(id))
    return jsonText(id.at(-1))
      .replace(/Message(Chunk)?$/, '')
      .toLowerCase()
  // A generic message has its role next to its type.
  const name = type === 'generic' || type === undefined ? role : type
  return typeof name === 'string' ? name : undefined
}

function responseOf(message: Json, where: string): Piece[] {
  const calls = listAt(message.tool_calls ?? [], `${where}.tool_calls`)
  const invalidCalls = listAt(message.invalid_tool_calls ?? [], `${where}.invalid_tool_calls`)
  const { response_metadata: metadata, usage_metadata: usage } = message
  const facts = isObject(metadata) ? metadata : {}
  return [
    ...responseWith([
      ...saidOf(textOf(message.content, where, modelsText)),
      ...calls.map((call, at) => callOf(call, `${where}.tool_calls[${at}]`)),
      ...invalidCalls.map((call, at) => callOf(call, `${where}.invalid_tool_calls[${at}]`)),
    ]),
    endedPiece(usage, tokensOf, facts.finish_reason ?? facts.stop_reason),
  ]
}

/** Invalid calls have the argument text as the model wrote it. */
function callOf(value: unknown, where: string): Piece {
  const { id, name, args } = objectAt(value, where)
  return callPiece(id, name, jsonTextOf(args))
}

/** Other parts of a model's content repeat its calls, or are its thinking. */
const modelsText = (part: Json) => part.type === 'text' || part.type === 'refusal'

function textOf(
  content: unknown,
  where: string,
  counts: (part: Json) => boolean = () => true,
): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  return listAt(content, `${where}.content`)
    .filter((part) => !isObject(part) || counts(part))
    .map(partText)
    .join('\n')
}

/** A tool of the library, whose schema is an object of another library, or a tool as OpenAI has it. */
function toolOf(value: unknown, where: string) {
  const tool = objectAt(value, where)
  const inner = isObject(tool.function) ? tool.function : tool
  if (typeof inner.name !== 'string') return [] // runs at the provider
  const schema = inner.parameters ?? inner.input_schema ?? inner.schema
  const name = textAt(inner, 'name', where)
  return [declarationOf(name, inner.description, jsonSchemaOf(schema))]
}

function tokensOf({ input_tokens: input, output_tokens: output, ...usage }: Json): Usage {
  const details = isObject(usage.input_token_details) ? usage.input_token_details : {}
  return usageWithCache(
    countOf(input),
    countOf(output),
    countOf(details.cache_read),
    countOf(details.cache_creation),
  )
}
