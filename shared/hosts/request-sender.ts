// The sender of a host's request, from its headers and the host's profile.

import type { IncomingHttpHeaders } from 'node:http'
import { limits } from '../contract/limits.ts'
import { boundedJson } from '../lib/json/bounded-json.ts'
import { isObject } from '../lib/json/json-object.ts'
import type { IdPlace, IdPlaces } from './host-profile.ts'
import { hostOfRequest } from './hosts.ts'

/** `agent` undefined: the session's main agent. `parent`: the session that began this one. */
export type RequestSender = {
  session: string
  agent: string | undefined
  turn: string | undefined
  parent: string | undefined
  hasSideRequests: boolean
}

/** Undefined: no known host, or one that names no session. */
export function senderOf(headers: IncomingHttpHeaders): RequestSender | undefined {
  const identity = hostOfRequest(headers)?.identity
  if (identity === undefined) return undefined
  const agent = idIn(headers, identity.agent)
  const session = idIn(headers, identity.session) ?? agent
  if (session === undefined) return undefined
  return {
    session,
    agent: agent === session ? undefined : agent,
    turn: idIn(headers, identity.turn),
    parent: idIn(headers, identity.parent ?? []),
    hasSideRequests: identity.hasSideRequests,
  }
}

/** The text of a header. Undefined: it is missing or empty. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const text = Array.isArray(value) ? value[0] : value
  return text === '' ? undefined : text
}

function idIn(headers: IncomingHttpHeaders, places: IdPlaces): string | undefined {
  for (const place of places) {
    const id = idAt(headers, place)
    if (id !== undefined) return id
  }
  return undefined
}

function idAt(headers: IncomingHttpHeaders, { header, member }: IdPlace): string | undefined {
  const text = headerText(headers, header)
  if (text === undefined || member === undefined) return text
  const value = boundedJson(text, limits.jsonDepthMax)
  const id = isObject(value) ? value[member] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}
