// Detects a Chat Completions response that restarts in its own stream. A gateway that lost its
// server may repeat the request and forward the new response under another id.
//
// An id or a role alone proves nothing: some servers change the id or repeat the role in each
// chunk.

import { isObject } from '../../lib/json/json-object.ts'
import { finishWord } from '../../transcript/finish-reasons.ts'
import type { Json } from '../format.ts'

/**
 * The id of the first chunk with a role, whether chunks without a role followed, and whether
 * another id came.
 */
export type Opening = { id: string; wentOn: boolean; idChanged: boolean }

/**
 * The role comes again, under another id, after chunks without it. If ids change anyway, such a
 * chunk must also be empty.
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

/** The state after this chunk. */
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
