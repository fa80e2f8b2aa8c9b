// The Agents SDK of OpenAI: what a session keeps, `to_input_list()` and `history`, or items of a run with the provider's own inside. In Python and in
// JavaScript the same things have other names.

import { isObject } from '../../../shared/json-object.ts'
import type { Json } from './json-fields.ts'
import { idAmong, listAt, objectAt } from './json-fields.ts'
import { piecesOfItem } from './openai.ts'
import type { Piece, ReadPieces } from './transcript.ts'
import { invalid } from './transcript.ts'

/** Where a list of items may stand, and what comes before it. */
const lists = ['items', 'history', 'input_items', 'newItems', 'new_items', 'generatedItems', 'generated_items']

export function readOpenaiAgents(value: unknown, where: string): ReadPieces {
  if (Array.isArray(value)) return { pieces: piecesIn(value, where), tools: undefined, id: undefined }
  const run = objectAt(value, where)
  const name = lists.find((one) => Array.isArray(run[one]))
  if (name === undefined) throw invalid(where, `has no list of items; must be one, or an object with ${lists.slice(0, 4).join(', ')}`)
  const asked = run.originalInput ?? run.original_input ?? run.input
  const before = typeof asked === 'string' ? [{ role: 'user', content: asked }] : asked === undefined ? [] : listAt(asked, `${where} input`)
  return {
    pieces: [...piecesIn(name === 'history' ? [] : before, `${where} input`), ...piecesIn(run[name] as unknown[], `${where} ${name}`)],
    tools: undefined,
    id: idAmong([run.session_id, run.sessionId, run.conversation_id, run.id]),
  }
}

function piecesIn(items: unknown[], where: string): Piece[] {
  return items.flatMap((item, at) => {
    const place = `${where}[${at}]`
    return piecesOfItem(inner(objectAt(item, place)), place)
  })
}

/** The provider's item in one of a run. */
function inner(item: Json): Json {
  const raw = item.rawItem ?? item.raw_item
  return isObject(raw) ? raw : item
}
