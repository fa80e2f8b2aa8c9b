// LangChain, version 1: a list of messages as objects of the library, as their serialised form
// (`lc`, `kwargs`), or as stored messages (`type`, `data`).

import type { Usage } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
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
  declarationOf,
  invalid,
  type Piece,
  type ReadExchange,
  responseWith,
  type ToRead,
} from '../../transcript/transcript.ts'
import { saidOf } from '../openai/content.ts'

export function readLangchain({ request, answer }: ToRead, where: string): ReadExchange {
  const body: Json = Array.isArray(request) ? { messages: request } : objectAt(request, where)
  if (body.messages === undefined)
    throw invalid(where, 'has no messages; must be a list of messages, or an object with messages')
  const pieces = listAt(body.messages, `${where} messages`).flatMap((message, at) =>
    piecesOfBaseMessage(message, `${where} messages[${at}]`),
  )
  const { tools } = body
  return {
    pieces,
    answer: answer === undefined ? undefined : answerOfLangchain(answer, `${where} answer`),
    tools: toolsAt(tools, where, toolOf),
  }
}

export function piecesOfBaseMessage(value: unknown, where: string): Piece[] {
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
    return [{ kind: 'left-out', what: notPutTogether, where }]
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
    return String(id.at(-1))
      .replace(/Message(Chunk)?$/, '')
      .toLowerCase()
  // A generic message has its role beside its type.
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
    {
      kind: 'ended',
      usage: isObject(usage) ? tokensOf(usage) : undefined,
      finish: finishWord(facts.finish_reason ?? facts.stop_reason),
    },
  ]
}

/** Invalid calls have the argument text as the model wrote it. */
function callOf(value: unknown, where: string): Piece {
  const call = objectAt(value, where)
  return {
    kind: 'call',
    id: typeof call.id === 'string' ? call.id : '',
    name: typeof call.name === 'string' ? call.name : '',
    arguments: jsonTextOf(call.args),
  }
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
    .flatMap((part) => {
      if (!isObject(part)) return [String(part)]
      if (!counts(part)) return []
      return [typeof part.text === 'string' ? part.text : `[${String(part.type)}]`]
    })
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
  const cacheReadTokens = countOf(details.cache_read)
  const cacheWriteTokens = countOf(details.cache_creation)
  return {
    inputTokens: Math.max(countOf(input) - cacheReadTokens - cacheWriteTokens, 0),
    outputTokens: countOf(output),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
