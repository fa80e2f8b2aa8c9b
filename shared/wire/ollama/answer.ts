// Writes an answer in the form of Ollama, whole or as the objects of a stream.

import { limits } from '../../contract/limits.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { sendableJson } from '../exact-json.ts'
import type { AnswerCall, AnswerItem, ModelAnswer } from '../exchange.ts'
import type { Json } from '../format.ts'
import { countsOf } from './usage.ts'

export function writeResponse(answer: ModelAnswer): Json {
  return { ...begun(answer), message: messageOf(answer.items), ...ended(answer) }
}

/** Each item is an object, and the last object ends the answer without a text. */
export function ollamaLines(answer: ModelAnswer): Json[] {
  return [
    ...answer.items.map((item) => ({ ...begun(answer), message: messageOf([item]), done: false })),
    { ...begun(answer), message: messageOf([]), ...ended(answer) },
  ]
}

/** Clients require a time, and Weir's own answers have none. */
export const created_at = '1970-01-01T00:00:00Z'

function begun({ model }: ModelAnswer): Json {
  return { model, created_at }
}

function ended({ finish, stop, usage }: ModelAnswer): Json {
  return {
    done: true,
    done_reason: finish || (stop === 'length' ? 'length' : 'stop'),
    ...countsOf(usage),
  }
}

/** The message with these items. Texts join. */
export function messageOf(items: readonly AnswerItem[]): Json {
  const calls = items.flatMap((item) => (item.kind === 'call' ? [callOf(item)] : []))
  const thinking = items
    .map((item) => (item.kind === 'vendor' ? item.vendor.thinking : ''))
    .filter((text) => typeof text === 'string')
    .join('')
  return {
    role: 'assistant',
    content: items.map((item) => (item.kind === 'text' ? item.text : '')).join(''),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function callOf({ id, name, arguments: text, vendor = {} }: AnswerCall): Json {
  return { ...(id !== '' && { id }), function: { ...vendor, name, arguments: argumentsOf(text) } }
}

/** Clients of the API expect an object. A text that is no object stays a text, which no schema accepts. */
function argumentsOf(text: string): unknown {
  if (text === '') return {}
  const value = jsonFault(text, limits.jsonDepthMax) === undefined ? sendableJson(text) : undefined
  return isObject(value) ? value : text
}
