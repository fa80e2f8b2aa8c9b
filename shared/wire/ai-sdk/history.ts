// The AI SDK, version 7: a list of ModelMessage, the prompt that a language model receives, and the
// result of `doGenerate` or `generateText`.

import type { Declaration, Usage } from '../../contract/messages.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { deniedInAiSdk } from '../../model-texts/guests.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import {
  type Json,
  jsonTextOf,
  listAt,
  notPutTogether,
  objectAt,
  textAt,
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

export function readAiSdk({ request, answer }: ToRead, where: string): ReadExchange {
  const body: Json = Array.isArray(request) ? { messages: request } : objectAt(request, where)
  const name = body.messages === undefined ? 'prompt' : 'messages'
  if (body[name] === undefined)
    throw invalid(
      where,
      'has neither messages nor prompt; must be the options of a call, or a list of messages',
    )
  const pieces = listAt(body[name], `${where} ${name}`).flatMap((message, at) =>
    piecesOfModelMessage(message, `${where} ${name}[${at}]`),
  )
  return {
    pieces,
    answer: answer === undefined ? undefined : answerOfAiSdk(answer, `${where} answer`),
    tools: toolsOf(body, where),
  }
}

export function piecesOfModelMessage(value: unknown, where: string): Piece[] {
  const message = objectAt(value, where)
  const { role, content } = message
  if (role === 'system') return []
  if (role !== 'user' && role !== 'assistant' && role !== 'tool')
    throw invalid(
      `${where}.role`,
      `is ${shown(role)}; must be ${alternatives(['system', 'user', 'assistant', 'tool'])}`,
    )
  const parts =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : listAt(content, `${where}.content`)
  const at = (part: unknown, n: number) => objectAt(part, `${where}.content[${n}]`)
  if (role === 'user')
    return [{ kind: 'user', text: parts.map((part, n) => textOfPart(at(part, n))).join('\n') }]
  const pieces = parts.flatMap((part, n) => pieceOf(at(part, n), `${where}.content[${n}]`))
  return role === 'assistant' ? responseWith(pieces) : pieces
}

/** The result of `doGenerate`, of `generateText`, or an assistant's message. */
export function answerOfAiSdk(value: unknown, where: string): Piece[] {
  if (typeof value === 'string') return responseWith([{ kind: 'text', text: value }])
  if (Array.isArray(value))
    return responseWith(value.flatMap((one, at) => answerOfAiSdk(one, `${where}[${at}]`)))
  if (!isObject(value) || !('content' in value))
    return [{ kind: 'left-out', what: notPutTogether, where }]
  const { finishReason, usage } = value
  const word = isObject(finishReason) ? finishReason.unified : finishReason
  return [
    ...piecesOfModelMessage({ role: 'assistant', content: value.content }, where),
    {
      kind: 'ended',
      usage: isObject(usage) ? tokensOf(usage) : undefined,
      finish: finishWord(word),
    },
  ]
}

function pieceOf(part: Json, where: string): Piece[] {
  switch (part.type) {
    case 'text':
      return [{ kind: 'text', text: textAt(part, 'text', where) }]
    case 'reasoning':
      return [{ kind: 'reasoning', block: { type: 'reasoning', text: part.text } }]
    case 'tool-call':
      if (part.providerExecuted === true)
        return [{ kind: 'left-out', what: 'a tool that the provider ran', where }]
      return [
        {
          kind: 'call',
          id: textAt(part, 'toolCallId', where),
          name: textAt(part, 'toolName', where),
          arguments: jsonTextOf(part.input),
        },
      ]
    case 'tool-result':
      return part.providerExecuted === true ? [] : [resultOf(part, where)]
    case 'tool-error':
      return [resultOf({ ...part, output: { type: 'error-text', value: part.error } }, where)]
    default:
      return [{ kind: 'left-out', what: `a part of type ${String(part.type)}`, where }]
  }
}

function resultOf(part: Json, where: string): Piece {
  const { output } = part
  const { type, value, reason } = isObject(output) ? output : { type: 'json', value: output }
  return {
    kind: 'result',
    id: textAt(part, 'toolCallId', where),
    text: outputText(type, value, reason),
    isError: type === 'execution-denied' || type === 'error-text' || type === 'error-json',
    where,
  }
}

function outputText(type: unknown, value: unknown, reason: unknown): string {
  if (type === 'execution-denied') return typeof reason === 'string' ? reason : deniedInAiSdk
  if (type === 'content' && Array.isArray(value))
    return value.map((one) => (isObject(one) ? textOfPart(one) : String(one))).join('\n')
  if (value instanceof Error) return value.message
  return type === 'error-text' && typeof value === 'string'
    ? value.replace(errorName, '')
    : jsonTextOf(value)
}

/** The SDK puts it before the message of a plain error. Without it the message itself is compared. */
const errorName = /^Error: /

function textOfPart(part: Json): string {
  return typeof part.text === 'string' ? part.text : `[${String(part.type)}]`
}

/** A list of function tools, or an object of tools by name. */
function toolsOf({ tools }: Json, where: string): Declaration[] | undefined {
  if (tools === undefined || tools === null) return undefined
  const list: unknown[] = Array.isArray(tools)
    ? tools
    : Object.entries(objectAt(tools, `${where} tools`)).map(([name, tool]) => ({
        type: 'function',
        ...(isObject(tool) ? tool : {}),
        name,
      }))
  return list.flatMap((value, at) => {
    const place = `${where} tools[${at}]`
    const tool = objectAt(value, place)
    if (tool.type !== 'function' && tool.type !== 'dynamic') return [] // runs at the provider
    return [
      declarationOf(textAt(tool, 'name', place), tool.description, schemaOf(tool.inputSchema)),
    ]
  })
}

/** The schema of a tool is JSON Schema, or an object of the SDK around it. */
function schemaOf(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  if ('jsonSchema' in schema) return isObject(schema.jsonSchema) ? schema.jsonSchema : undefined
  return jsonSchemaOf(schema)
}

function tokensOf({ inputTokens, outputTokens }: Json): Usage {
  const input = isObject(inputTokens) ? inputTokens : { total: inputTokens }
  const output = isObject(outputTokens) ? outputTokens : { total: outputTokens }
  const cacheReadTokens = countOf(input.cacheRead)
  const cacheWriteTokens = countOf(input.cacheWrite)
  return {
    inputTokens:
      input.noCache === undefined
        ? Math.max(countOf(input.total) - cacheReadTokens - cacheWriteTokens, 0)
        : countOf(input.noCache),
    outputTokens: countOf(output.total),
    cacheReadTokens,
    cacheWriteTokens,
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
