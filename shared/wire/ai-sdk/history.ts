// The AI SDK, version 7: a list of ModelMessage, the prompt that a language model receives, and the
// result of `doGenerate` or `generateText`.

import type { Declaration, Usage } from '../../contract/messages.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import { deniedInAiSdk } from '../../model-texts/guests.ts'
import { alternatives, shown } from '../../settings/mistake.ts'
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
  callPiece,
  endedPiece,
  exchangeReader,
  leftOut,
  partText,
} from '../../transcript/pieces.ts'
import { declarationOf, invalid, type Piece, responseWith } from '../../transcript/transcript.ts'
import { countOf, usageWithCache } from '../token-count.ts'
import { weirIn } from './weir-member.ts'

export const readAiSdk = exchangeReader({
  lists: ['messages', 'prompt'],
  missing: 'has neither messages nor prompt; must be the options of a call, or a list of messages',
  item: piecesOfModelMessage,
  answer: answerOfAiSdk,
  tools: toolsOf,
})

function piecesOfModelMessage(value: unknown, where: string): Piece[] {
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
    return [{ kind: 'user', text: parts.map((part, n) => partText(at(part, n))).join('\n') }]
  const pieces = parts.flatMap((part, n) => pieceOf(at(part, n), `${where}.content[${n}]`))
  return role === 'assistant' ? responseWith(pieces) : pieces
}

/** The result of `doGenerate`, of `generateText`, or an assistant's message. */
export function answerOfAiSdk(value: unknown, where: string): Piece[] {
  if (typeof value === 'string') return responseWith([{ kind: 'text', text: value }])
  if (Array.isArray(value))
    return responseWith(value.flatMap((one, at) => answerOfAiSdk(one, `${where}[${at}]`)))
  if (!isObject(value) || !('content' in value)) return leftOut(notPutTogether, where)
  const { finishReason, usage } = value
  const word = isObject(finishReason) ? finishReason.unified : finishReason
  return [
    ...piecesOfModelMessage({ role: 'assistant', content: value.content }, where),
    endedPiece(usage, tokensOf, word),
  ]
}

function pieceOf(part: Json, where: string): Piece[] {
  switch (part.type) {
    case 'text':
      return [{ kind: 'text', text: textAt(part, 'text', where) }]
    case 'reasoning':
      return [{ kind: 'reasoning', block: { type: 'reasoning', text: part.text } }]
    case 'tool-call':
      if (part.providerExecuted === true) return leftOut('a tool that the provider ran', where)
      return [
        callPiece(
          textAt(part, 'toolCallId', where),
          textAt(part, 'toolName', where),
          inputOf(part),
        ),
      ]
    case 'tool-result':
      return part.providerExecuted === true ? [] : [resultOf(part, where)]
    case 'tool-error':
      return [resultOf({ ...part, output: { type: 'error-text', value: part.error } }, where)]
    default:
      return leftOut(`a part of type ${jsonText(part.type)}`, where)
  }
}

/**
 * The argument text of the model. The SDK shows `{}` for arguments that are no object, and its schema's
 * output for others. The adapter keeps the text next to them.
 */
function inputOf(part: Json): string {
  const { input } = weirIn(part)
  return typeof input === 'string' ? input : jsonTextOf(part.input)
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
  if (type === 'content' && Array.isArray(value)) return value.map(partText).join('\n')
  if (value instanceof Error) return value.message
  return type === 'error-text' && typeof value === 'string'
    ? value.replace(errorName, '')
    : jsonTextOf(value)
}

/** The SDK puts it before the message of a plain error. Without it the message itself is compared. */
const errorName = /^Error: /

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
  const usage = usageWithCache(
    countOf(input.total),
    countOf(output.total),
    countOf(input.cacheRead),
    countOf(input.cacheWrite),
  )
  return input.noCache === undefined ? usage : { ...usage, inputTokens: countOf(input.noCache) }
}
