// Finds the conversation of a line in a log.
// The id of a request or of an answer is no conversation's id. Otherwise each
// request would be a conversation.
// The id of a run (a trace) names a conversation, but does not separate two. The
// next question of the same conversation is another run.
// A bare `id` counts only in a list's object without an answer next to it. There
// it is the list's. Ids from providers belong to answers.

import { limits } from '../../shared/contract/limits.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { Json } from '../../shared/transcript/json-fields.ts'

/** `isRun`: the id names a run. */
export type FoundId = { id: string; isRun: boolean }

/** The place of the id: the default ones, a path of keys from the top of the line, or none. */
export type IdField = readonly string[] | 'none' | undefined

/** The length of a suffix for a repeated id. */
export const numberBytesMax = 16

/** Ignores case and separators: `Helicone-Session-Id` is `session_id`. */
const namesOfConversation =
  /^(helicone)?(conversation|thread|session|chat|group|dialog|dialogue)(id)?$/
const namesOfRun = /^traceid$/
const madeByProviders = /^(chatcmpl|cmpl|resp|msg|req|gen|batch|batch_req|call)[-_]/

/**
 * `holders`: the objects that can contain the id, outermost first. Undefined: none can be the id of
 * a conversation.
 */
export function conversationIdIn(
  value: unknown,
  holders: readonly Json[],
  { idField, isAnswered }: { idField: IdField; isAnswered: boolean },
): FoundId | undefined {
  if (idField === 'none') return undefined
  if (idField !== undefined)
    return idOf(
      idField.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value),
      false,
    )
  const places = holders.flatMap(placesIn)
  const named = among(places, namesOfConversation, false)
  if (named !== undefined) return named
  const bare =
    isObject(value) && value === holders[0] && holders.length === 1 && !isAnswered
      ? idOf(value.id, false)
      : undefined
  if (bare !== undefined && !madeByProviders.test(bare.id)) return bare
  return among(places, namesOfRun, true)
}

/** A holder and its metadata. In a run of LangSmith, `session_id` is the project. */
function placesIn(holder: Json): Json[] {
  const { metadata, properties, request_properties: ofRequest, extra } = holder
  const inside = [
    metadata,
    properties,
    ofRequest,
    isObject(extra) ? extra.metadata : undefined,
  ].filter(isObject)
  return 'run_type' in holder ? [{ trace_id: holder.trace_id }, ...inside] : [holder, ...inside]
}

function among(places: readonly Json[], names: RegExp, isRun: boolean): FoundId | undefined {
  for (const place of places)
    for (const [key, value] of Object.entries(place)) {
      if (!names.test(key.replace(/[^a-z]/gi, '').toLowerCase())) continue
      const id = idOf(isObject(value) ? value.id : value, isRun)
      if (id !== undefined) return id
    }
  return undefined
}

/** Accepts numbers, because some tables number their conversations. Ignores all other types. */
function idOf(value: unknown, isRun: boolean): FoundId | undefined {
  const id = typeof value === 'number' ? String(value) : value
  if (
    typeof id !== 'string' ||
    id.trim() === '' ||
    Buffer.byteLength(id) > limits.conversationIdBytesMax - numberBytesMax
  )
    return undefined
  return { id, isRun }
}
