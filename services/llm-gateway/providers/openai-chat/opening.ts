// Whether a Chat Completions response begins anew in the middle of its stream: a gateway that lost
// the server behind it may ask again and send on what comes, under another id.
//
// Neither an id nor a role alone tells it: some servers give each chunk an id of its own, some name
// the role in each chunk.

import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { finishWord } from '../finish-words.ts'

type Json = Record<string, unknown>

/**
 * The id under which a chunk first named the role, whether chunks without one came after it, and
 * whether any had another id.
 */
export type Opening = { id: string; wentOn: boolean; idChanged: boolean }

/**
 * The role is named again, under another id, after chunks without it. Where ids change anyway, such
 * a chunk must not say anything yet.
 */
export function beginsAnew(
  opening: Opening | undefined,
  { id }: Json,
  { delta, finish_reason }: Json,
): boolean {
  if (opening?.wentOn !== true || !hasRole(delta) || typeof id !== 'string' || id === opening.id)
    return false
  return (
    finishWord(finish_reason) === '' &&
    (!opening.idChanged || delta.content === '' || delta.content == null)
  )
}

/** After this chunk. */
export function openingAfter(
  opening: Opening | undefined,
  { id }: Json,
  { delta }: Json,
): Opening | undefined {
  if (opening === undefined)
    return hasRole(delta) && typeof id === 'string'
      ? { id, wentOn: false, idChanged: false }
      : undefined
  const wentOn = opening.wentOn || (isObject(delta) && !hasRole(delta))
  const idChanged = opening.idChanged || (isObject(delta) && id !== opening.id)
  return wentOn === opening.wentOn && idChanged === opening.idChanged
    ? opening
    : { id: opening.id, wentOn, idChanged }
}

function hasRole(delta: unknown): delta is Json {
  return isObject(delta) && typeof delta.role === 'string' && delta.role !== ''
}
