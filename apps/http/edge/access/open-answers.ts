// The open answers of each principal. A stream has no end, so without a bound one key could hold all
// connections of the server.
// Principals without the role operate cannot take the last eighth of the
// connections, so the console of an operator stays reachable.

import type { ServerResponse } from 'node:http'
import { limits } from '../../../../shared/contract/limits.ts'
import { HttpError } from '../../http-error.ts'
import type { Principal, PrincipalId } from './principal.ts'

export type OpenAnswers = (
  principal: Pick<Principal, 'id' | 'roles'>,
  outgoing: Pick<ServerResponse, 'once' | 'destroyed'>,
) => void

/** Counts an answer until its response closes. Throws 429. */
export function openAnswers(): OpenAnswers {
  const counts = new Map<PrincipalId, number>()
  let shared = 0
  return ({ id, roles }, outgoing) => {
    if (outgoing.destroyed) return // its client has left, and no event follows
    const count = counts.get(id) ?? 0
    const share = roles.has('operate') ? 0 : 1
    if (count >= limits.edgeOpenAnswersMax)
      throw tooMany(`${id} has ${count} open requests: end streams that nobody reads`)
    if (shared + share > limits.edgeOpenAnswersSharedMax)
      throw tooMany('this server has too many open requests: try again later')
    counts.set(id, count + 1)
    shared += share
    outgoing.once('close', () => {
      shared -= share
      const left = (counts.get(id) ?? 0) - 1
      if (left > 0) counts.set(id, left)
      else counts.delete(id)
    })
  }
}

const tooMany = (text: string): HttpError => new HttpError(429, 'edge.open', text)
