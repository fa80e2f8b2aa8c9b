// OpenAI's Chat Completions (messages) and Responses (items): a request's body, or its list, and
// the answer to it.

import { finishWord } from '../../services/llm-gateway/providers/finish-reasons.ts'
import { usageOf } from '../../services/llm-gateway/providers/openai-chat/usage.ts'
import { responsesUsage } from '../../services/llm-gateway/providers/openai-responses/usage.ts'
import type { Declaration, Usage } from '../../shared/contract/messages.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { answered } from './answered.ts'
import type { Exchange } from './exchange.ts'
import { isPlain, type Json, listAt, notPutTogether, objectAt, textAt } from './json-fields.ts'
import { piecesOfMessage } from './openai-chat.ts'
import { piecesOfItem } from './openai-items.ts'
import { declarationOf, invalid, type Piece, type ReadPieces, responseWith } from './transcript.ts'

const expected =
  'must be the body of a request to Chat Completions (messages) or Responses (input), or its list'

export function readOpenai(
  { request, answer }: Pick<Exchange, 'request' | 'answer'>,
  where: string,
): ReadPieces {
  const body: Json = Array.isArray(request) ? { messages: request } : objectAt(request, where)
  const name = ['messages', 'input'].find((one) => one in body)
  if (name === undefined) throw invalid(where, `has neither messages nor input; ${expected}`)
  const said =
    typeof body[name] === 'string'
      ? [{ role: 'user', content: body[name] }]
      : listAt(body[name], `${where} ${name}`)
  const pieces = said.flatMap((one, at) => piecesOfSaid(one, `${where} ${name}[${at}]`))
  const place = `${where} answer`
  return {
    pieces:
      answer === undefined
        ? pieces
        : answered(pieces, answerOf(answer, place), { prefills: false, where: place }),
    tools: toolsOf(body, where),
  }
}

/**
 * A message of Chat Completions or an item of Responses: what users and models say is the same in
 * both.
 */
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

/** `functions`: as they were called first. */
function toolsOf({ tools, functions }: Json, where: string): Declaration[] | undefined {
  const name = tools === undefined || tools === null ? 'functions' : 'tools'
  const list = tools ?? functions ?? undefined
  if (list === undefined) return undefined
  return listAt(list, `${where} ${name}`).flatMap((value, at) => {
    const place = `${where} ${name}[${at}]`
    const tool = objectAt(value, place)
    const inner = isObject(tool.function) ? tool.function : tool
    if (name === 'tools' && tool.type !== 'function' && inner === tool) return [] // run by the provider, or of free text
    return [declarationOf(textAt(inner, 'name', place), inner.description, inner.parameters)]
  })
}

function answerOf(value: unknown, where: string): Piece[] {
  if (isPlain(value)) return responseWith([{ kind: 'text', text: value }])
  if (Array.isArray(value) && value.every((one) => isObject(one) && !Array.isArray(one.choices)))
    return responseWith(value.flatMap((one, at) => piecesOfSaid(one, `${where}[${at}]`)))
  if (!isObject(value)) return [{ kind: 'left-out', what: notPutTogether, where }]
  if (Array.isArray(value.choices)) return choiceOf(value, value.choices, where)
  if (Array.isArray(value.output))
    return responseWith([
      ...value.output.flatMap((item, at) => piecesOfSaid(item, `${where} output[${at}]`)),
      endedOf(value),
    ])
  const message = isObject(value.message) ? value.message : value
  if (message.role === 'assistant') return [...piecesOfSaid(message, where), endedOf(value)]
  const what =
    isObject(value.error) || typeof value.error === 'string'
      ? 'an answer that is an error'
      : notPutTogether
  return [{ kind: 'left-out', what, where }]
}

/** Of several, the runtime went on with one, and nothing says with which. */
function choiceOf(answer: Json, [first, ...others]: unknown[], where: string): Piece[] {
  const choice = isObject(first) ? first : {}
  if (!isObject(choice.message)) return [{ kind: 'left-out', what: notPutTogether, where }]
  return [
    ...piecesOfMessage({ role: 'assistant', ...choice.message }, `${where} choices[0].message`),
    endedOf(answer, choice.finish_reason),
    ...others.map(
      (_, at): Piece => ({
        kind: 'left-out',
        what: 'a further choice of an answer',
        where: `${where} choices[${at + 1}]`,
      }),
    ),
  ]
}

function endedOf(
  { usage, incomplete_details: details }: Json,
  reason = isObject(details) ? details.reason : undefined,
): Piece {
  return {
    kind: 'ended',
    usage: isObject(usage) ? tokensOf(usage) : undefined,
    finish: finishWord(reason),
  }
}

function tokensOf(usage: Json): Usage {
  return 'input_tokens' in usage ? responsesUsage(usage) : usageOf(usage)
}
