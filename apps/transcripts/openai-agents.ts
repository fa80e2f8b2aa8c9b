// OpenAI's Agents SDK: sessions, `to_input_list()`, `history`, run items, and the model spans of a
// trace. Python and JavaScript use different names for the same fields.

import { isObject } from '../../shared/lib/json/json-object.ts'
import { type Exchange, itemListNames } from './exchange.ts'
import { listAt, objectAt } from './json-fields.ts'
import { piecesOfSaid, readOpenai } from './openai.ts'
import { invalid, type Piece, type ReadPieces } from './transcript.ts'

export function readOpenaiAgents(
  { request, answer }: Pick<Exchange, 'request' | 'answer'>,
  where: string,
): ReadPieces {
  if (Array.isArray(request)) return { pieces: piecesIn(request, where), tools: undefined }
  const run = objectAt(request, where)
  const name = itemListNames.find((one) => Array.isArray(run[one]))
  if (name === undefined && ('input' in run || 'messages' in run))
    return readOpenai({ request, answer }, where)
  if (name === undefined)
    throw invalid(
      where,
      `has no list of items; must be one, or an object with ${itemListNames.slice(0, 4).join(', ')}`,
    )
  const input = run.originalInput ?? run.original_input ?? run.input
  const before =
    typeof input === 'string'
      ? [{ role: 'user', content: input }]
      : input === undefined
        ? []
        : listAt(input, `${where} input`)
  return {
    pieces: [
      ...piecesIn(name === 'history' ? [] : before, `${where} input`),
      ...piecesIn(run[name] as unknown[], `${where} ${name}`),
    ],
    tools: undefined,
  }
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
