// Which conversation a line of a log says that it is of.
// CONVERSATION-ID-1. What names a request, or its answer, names no conversation: with it, each
//     request would be a conversation of its own.
// CONVERSATION-ID-2. What names a run (a trace) gives a conversation its name and keeps nothing
//     apart: the next question of the same conversation is another run.
// CONVERSATION-ID-3. A bare `id` counts where it stands in a list's own object, and no answer
//     beside it: there it can only be the list's. Ids that providers make are of answers.

import { limits } from '../../shared/contract/limits.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { Json } from './json-fields.ts'

/** `isRun`: see CONVERSATION-ID-2. */
export type ConversationId = { id: string; isRun: boolean }

/** Where it stands: as by default, on a path of keys from the top of the line, or nowhere. */
export type IdField = readonly string[] | 'none' | undefined

/** Of what is put behind an id that is there already. */
export const numberBytesMax = 16

/** Without case and what is between words: `Helicone-Session-Id` is `session_id`. */
const namesOfConversation =
  /^(helicone)?(conversation|thread|session|chat|group|dialog|dialogue)(id)?$/
const namesOfRun = /^traceid$/
const madeByProviders = /^(chatcmpl|cmpl|resp|msg|req|gen|batch|batch_req|call)[-_]/

/**
 * `holders`: the objects around and in it that may say so, outermost first. Undefined: none that
 * can be a conversation's id.
 */
export function conversationIdIn(
  value: unknown,
  holders: readonly Json[],
  { idField, isAnswered }: { idField: IdField; isAnswered: boolean },
): ConversationId | undefined {
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

/** A holder and its metadata. Of a run of LangSmith `session_id` names the project. */
function placesIn(holder: Json): Json[] {
  const { metadata, properties, request_properties: asked, extra } = holder
  const inside = [metadata, properties, asked, isObject(extra) ? extra.metadata : undefined].filter(
    isObject,
  )
  return 'run_type' in holder ? [{ trace_id: holder.trace_id }, ...inside] : [holder, ...inside]
}

function among(places: readonly Json[], names: RegExp, isRun: boolean): ConversationId | undefined {
  for (const place of places)
    for (const [key, value] of Object.entries(place)) {
      if (!names.test(key.replace(/[^a-z]/gi, '').toLowerCase())) continue
      const id = idOf(isObject(value) ? value.id : value, isRun)
      if (id !== undefined) return id
    }
  return undefined
}

/**
 * Tables of people's own count their conversations. What cannot be an id is as if there were none.
 */
function idOf(value: unknown, isRun: boolean): ConversationId | undefined {
  const id = typeof value === 'number' ? String(value) : value
  if (
    typeof id !== 'string' ||
    id.trim() === '' ||
    Buffer.byteLength(id) > limits.conversationIdBytesMax - numberBytesMax
  )
    return undefined
  return { id, isRun }
}
