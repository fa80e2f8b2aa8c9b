// The payload of one server-sent event, parsed in the same way for every provider.

import { isObject } from '../lib/json/json-object.ts'
import { type ExactValues, exactValues, parseJson } from './exact-json.ts'
import type { Json } from './format.ts'

/**
 * `object`: an event of the provider's protocol, or an error. `exact` gives its values as the
 * server wrote them. `end`: the mark that closes a stream of Chat Completions, and at some servers
 * every stream. `error`: an error that is not JSON. `broken`: an object may have been lost.
 * `unread`: no object can begin like this, so none was lost.
 */
export type Payload =
  | { kind: 'object'; value: Json; exact: ExactValues }
  | { kind: 'end' | 'nothing' | 'unread' | 'broken' }
  | { kind: 'error'; statement: string }

/** `name`: the `event:` line. */
export function payloadOf(name: string | null, data: string): Payload {
  const text = data.trim()
  if (text === '') return { kind: 'nothing' }
  const value = parseJson(text)
  if (isObject(value)) return { kind: 'object', value, exact: exactValues(text) }
  if (/^"?\[done\]"?$/i.test(text)) return { kind: 'end' }
  // Some gateways put an error into a list.
  const listed: unknown = Array.isArray(value)
    ? value.find((one) => isObject(one) && isObject(one.error))
    : undefined
  if (isObject(listed)) return { kind: 'object', value: listed, exact: exactValues(text) }
  if (name === 'error') return { kind: 'error', statement: text }
  return { kind: text.startsWith('{') || text.startsWith('[') ? 'broken' : 'unread' }
}
