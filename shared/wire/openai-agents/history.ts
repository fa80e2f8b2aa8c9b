// OpenAI's Agents SDK: sessions, `to_input_list()`, `history`, run items, and the model spans of a
// trace. Python and JavaScript use different names for the same fields.
// Here: reading only. Not here: requests to OpenAI (../openai-chat, ../openai-responses).

import { isObject } from '../../lib/json/json-object.ts'
import { listAt, objectAt } from '../../transcript/json-fields.ts'
import { invalid, type Piece, type ReadExchange, type ToRead } from '../../transcript/transcript.ts'
import { piecesOfSaid, readOpenai } from '../openai/history.ts'

/** The fields with a list of items outside a request, as the Agents SDK stores them. */
export const itemListNames = [
  'items',
  'history',
  'input_items',
  'newItems',
  'new_items',
  'generatedItems',
  'generated_items',
]

export function readOpenaiAgents({ request, answer }: ToRead, where: string): ReadExchange {
  const whole = { answer: undefined, tools: undefined }
  if (Array.isArray(request)) return { ...whole, pieces: piecesIn(request, where) }
  const run = objectAt(request, where)
  const name = itemListNames.find((one) => Array.isArray(run[one]))
  if (name === undefined && ('input' in run || 'messages' in run))
    return readOpenai({ request, answer }, where)
  if (name === undefined)
    throw invalid(
      where,
      `has no list of items; must be one, or an object with ${itemListNames.slice(0, 4).join(', ')}`,
    )
  const before = inputItems(run.originalInput ?? run.original_input ?? run.input, `${where} input`)
  return {
    ...whole,
    pieces: [
      ...piecesIn(name === 'history' ? [] : before, `${where} input`),
      ...piecesIn(run[name] as unknown[], `${where} ${name}`),
    ],
  }
}

function inputItems(input: unknown, where: string): unknown[] {
  if (input === undefined) return []
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listAt(input, where)
}

function piecesIn(items: unknown[], where: string): Piece[] {
  return items.flatMap((item, at) => piecesOfRunItem(item, `${where}[${at}]`))
}

/** An item, or the provider's item within a run item. */
export function piecesOfRunItem(value: unknown, where: string): Piece[] {
  const item = objectAt(value, where)
  const raw = item.rawItem ?? item.raw_item
  return piecesOfSaid(isObject(raw) ? raw : item, where)
}
