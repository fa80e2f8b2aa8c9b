// Writes an answer in the form of Gemini, whole or as the chunks of a stream.

import { limits } from '../../contract/limits.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { sendableJson } from '../exact-json.ts'
import type { AnswerCall, AnswerItem, ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { usageMetadata } from './usage.ts'

export function writeResponse(answer: ModelAnswer): Json {
  return responseOf(answer, answer.items, answer.finish || finishOf[answer.stop])
}

/** Each part is a chunk, and the last one ends the answer. */
export function geminiChunks(answer: ModelAnswer): Json[] {
  const { items, finish, stop } = answer
  const last = Math.max(items.length - 1, 0)
  return [
    ...items.slice(0, last).map((item) => responseOf(answer, [item], undefined)),
    responseOf(answer, items.slice(last), finish || finishOf[stop]),
  ]
}

const finishOf = {
  end: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
  other: 'OTHER',
  cut: undefined,
}

function responseOf(
  { id, model, usage }: ModelAnswer,
  items: readonly AnswerItem[],
  finish: string | undefined,
): Json {
  return {
    candidates: [
      {
        content: { role: 'model', parts: items.map(partOf) },
        ...(finish !== undefined && { finishReason: finish }),
        index: 0,
      },
    ],
    usageMetadata: usageMetadata(usage),
    modelVersion: model,
    responseId: id,
  }
}

export function partOf(item: AnswerItem): Json {
  switch (item.kind) {
    case 'text':
      return { ...item.vendor, text: item.text }
    case 'call':
      return { ...item.vendor, functionCall: callOf(item) }
    case 'vendor':
      return item.vendor
  }
}

function callOf({ id, name, arguments: text }: AnswerCall): Json {
  return {
    ...(id !== '' && { id }),
    name,
    ...(text !== '' && { args: argsOf(text) }),
  }
}

/** A text that is not JSON stays a text, which no schema accepts. */
function argsOf(text: string): unknown {
  return jsonFault(text, limits.jsonDepthMax) === undefined ? sendableJson(text) : text
}
