// Whether a part of a streamed answer could be a call in any reader.
// A call has a member with the name or the `type` of a call. A text, a number and an
// empty value are none: a client that reads calls in texts reads them in `content` too.
// An entry with a `type` or a `function` is no empty one, even without a name: OpenAI's
// SDK hands it to the client as a call.

import { isObject } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'
import { fault, scalarText } from './strict.ts'

/** Nested as deeply as `limits.jsonDepthMax` allows. */
export function couldBeCall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(couldBeCall)
  const members = value as Json
  return Object.keys(members).some((name) => isCallLike(name, members[name]))
}

function isCallLike(name: string, member: unknown): boolean {
  return (
    (name === 'type' && callName.test(scalarText(member))) ||
    (callName.test(name) && !isEmpty(member)) ||
    couldBeCall(member)
  )
}

const callName =
  /tool|call|func|action|command|invo|execut|^(input|args|arguments?|param(eter)?s?)$/i

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isEmptyCall) : isEmptyCall(value)
}

/** No call in any client: it has a place at most. Some servers send it next to a text. */
export function isEmptyCall(value: unknown): boolean {
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, member]) => name === 'index' || member === null)
}

/** Throws a StrictFault if a member, apart from the known ones, could be a call in some reader. */
export function checkNoCall(members: Json, known: readonly string[]): void {
  for (const name of Object.keys(members))
    if (!known.includes(name) && isCallLike(name, members[name]))
      throw fault('a member that Weir does not know could be a call')
}

/** The members by which a vendor knows its call again. They name no tool. */
export const signatures = [
  ...['signature', 'thought_signature', 'extra_content', 'provider_specific_fields'],
]

/** These members of an object, without the others. */
export function only(members: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)))
}
