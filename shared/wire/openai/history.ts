// OpenAI's Chat Completions (messages) and Responses (items): the body of a request or its list,
// and the answer.

import type { Declaration, Usage } from '../../contract/messages.ts'
import { isObject, jsonText } from '../../lib/json/json-object.ts'
import {
  errorAnswer,
  furtherChoice,
  isPlain,
  type Json,
  listAt,
  notPutTogether,
  objectAt,
  textAt,
} from '../../transcript/json-fields.ts'
import { endedPiece, exchangeReader, leftOut } from '../../transcript/pieces.ts'
import {
  declarationOf,
  freeTextSchema,
  type Piece,
  responseWith,
} from '../../transcript/transcript.ts'
import type { TranscriptFile } from '../format.ts'
import { piecesOfMessage } from '../openai-chat/history.ts'
import { usageOf } from '../openai-chat/usage.ts'
import { piecesOfItem } from '../openai-responses/history.ts'
import { toolName } from '../openai-responses/tool-name.ts'
import { responsesUsage } from '../openai-responses/usage.ts'

export const readOpenai = exchangeReader({
  lists: ['messages', 'input'],
  missing:
    'has neither messages nor input; must be the body of a request to Chat Completions (messages) or Responses (input), or its list',
  text: (content) => ({ role: 'user', content }),
  item: piecesOfSaid,
  answer: answerOfOpenai,
  tools: toolsOf,
})

export const openaiFile: TranscriptFile = { name: 'openai', item: piecesOfSaid, prefills: false }

/** A message of Chat Completions or an item of Responses. Plain texts are equal in both. */
export function piecesOfSaid(value: unknown, where: string): Piece[] {
  const isItem =
    isObject(value) &&
    typeof value.type === 'string' &&
    !('tool_calls' in value) &&
    value.role !== 'tool'
  return isItem || (isObject(value) && !('role' in value))
    ? piecesOfItem(value, where)
    : piecesOfMessage(value, where)
}

/** `functions`: the first name of `tools`. */
function toolsOf({ tools, functions }: Json, where: string): Declaration[] | undefined {
  const name = tools === undefined || tools === null ? 'functions' : 'tools'
  const list = tools ?? functions ?? undefined
  if (list === undefined) return undefined
  return listAt(list, `${where} ${name}`).flatMap((value, at) => {
    const place = `${where} ${name}[${at}]`
    const tool = objectAt(value, place)
    if (tool.type === 'custom') return [customTool(tool, place)]
    if (tool.type === 'namespace') return toolsIn(tool, place)
    const inner = isObject(tool.function) ? tool.function : tool
    if (name === 'tools' && tool.type !== 'function' && inner === tool) return [] // not a function of the client
    const of = toolName({ namespace: tool.namespace, name: textAt(inner, 'name', place) })
    return [declarationOf(jsonText(of), inner.description, inner.parameters)]
  })
}

/** Codex has such tools for sub-agents. */
function toolsIn(namespace: Json, where: string): Declaration[] {
  const { name: own } = namespace
  const tools = toolsOf(namespace, where) ?? []
  return tools.map((tool) => ({ ...tool, name: `${toolName({ namespace: own, ...tool })}` }))
}

function customTool(tool: Json, where: string): Declaration {
  const inner = isObject(tool.custom) ? tool.custom : tool
  return declarationOf(textAt(inner, 'name', where), inner.description, freeTextSchema)
}

export function answerOfOpenai(value: unknown, where: string): Piece[] {
  if (isPlain(value)) return responseWith([{ kind: 'text', text: value }])
  if (Array.isArray(value) && value.every((one) => isObject(one) && !Array.isArray(one.choices)))
    return responseWith(value.flatMap((one, at) => piecesOfSaid(one, `${where}[${at}]`)))
  if (!isObject(value)) return leftOut(notPutTogether, where)
  if (Array.isArray(value.choices)) return choiceOf(value, value.choices, where)
  if (Array.isArray(value.output))
    return responseWith([
      ...value.output.flatMap((item, at) => piecesOfSaid(item, `${where} output[${at}]`)),
      endedOf(value),
    ])
  const message = isObject(value.message) ? value.message : value
  if (message.role === 'assistant') return [...piecesOfSaid(message, where), endedOf(value)]
  const isError = isObject(value.error) || typeof value.error === 'string'
  return leftOut(isError ? errorAnswer : notPutTogether, where)
}

/** The runtime continued with one of several choices, and the log does not tell which. */
function choiceOf(answer: Json, [first, ...others]: unknown[], where: string): Piece[] {
  const choice = isObject(first) ? first : {}
  if (!isObject(choice.message)) return leftOut(notPutTogether, where)
  return [
    ...piecesOfMessage({ role: 'assistant', ...choice.message }, `${where} choices[0].message`),
    endedOf(answer, choice.finish_reason),
    ...others.flatMap((_, at) => leftOut(furtherChoice, `${where} choices[${at + 1}]`)),
  ]
}

function endedOf(
  { usage, incomplete_details: details }: Json,
  reason = isObject(details) ? details.reason : undefined,
): Piece {
  return endedPiece(usage, tokensOf, reason)
}

function tokensOf(usage: Json): Usage {
  return 'input_tokens' in usage ? responsesUsage(usage) : usageOf(usage)
}
