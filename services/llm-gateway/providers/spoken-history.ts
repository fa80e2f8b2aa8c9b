// A conversation's history as any provider can be told it: who speaks, in turns, and each call with
// its id and its result. Owns: what is said, what is left out, and which id a call has. Does not
// own: how a provider writes it (conversation-messages.ts, openai-chat-messages.ts).
//
// SPOKEN-HISTORY-1. A call and its result are one: there is always exactly one result, so no
//     provider's file can lose it (I5.4).
// SPOKEN-HISTORY-2. The same entries always give the same words and ids, and more entries only add
//     to the end: ids are derived, never counted over a request. So the provider's prompt cache
//     holds from round to round.
// SPOKEN-HISTORY-3. The user speaks first and last, the model never twice in a row but after its
//     own calls, and no text is blank or holds half a character.

import { argumentText } from '../../../shared/contract/call.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Call, CallResult, HistoryEntry, Response } from '../../../shared/contract/messages.ts'
import { jsonFault } from '../../../shared/lib/json/json-fault.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { parseJson, sendableJson } from '../wire/exact-json.ts'

/**
 * `text` of the model is empty where it only called. `thinking`: its thinking blocks, as they were
 * recorded.
 */
export type Utterance =
  | { by: 'user'; text: string }
  | { by: 'model'; text: string; thinking: Record<string, unknown>[]; calls: SpokenCall[] }

export type SpokenCall = { id: string; call: Call; result: { text: string; isError: boolean } }

/**
 * `taken`: the form of ids that the provider takes back. `made`: an id of that form from a place
 * that no other call has.
 */
export type CallIds = { taken: RegExp; made: (place: string) => string }

/**
 * Stands where the model spoke last and nobody answered: the provider would take the model's own
 * words for the beginning of its next ones.
 */
const goOn = 'Please continue.'
const blankMessage = '(The message was empty.)'
const noResult = 'The result of this call is not known.'

/**
 * `history` in order of turn and round. A round without a response was never said, but its note is
 * told: that calls of it may have run is what the model must know before it makes them again (R5).
 */
export function utterances(history: HistoryEntry[], callIds: CallIds): Utterance[] {
  const said: Utterance[] = []
  const used = new Set<string>()
  for (const entry of history) {
    if (entry.user !== null)
      said.push(userSays(entry.user.trim() === '' ? blankMessage : entry.user))
    if (entry.response !== null) modelSays({ said, used, callIds, entry, response: entry.response })
    else if (entry.note !== null && entry.note.trim() !== '') said.push(userSays(`(${entry.note})`))
  }
  if (waitsForUser(said)) said.push(userSays(goOn))
  return said
}

type Saying = {
  said: Utterance[]
  used: Set<string>
  callIds: CallIds
  entry: HistoryEntry
  response: Response
}

function modelSays({ said, used, callIds, entry, response }: Saying): void {
  // Thinking alone is not said: a provider refuses a message that ends with it.
  if (response.text.trim() === '' && response.calls.length === 0) return
  if (waitsForUser(said)) said.push(userSays(goOn))
  said.push({
    by: 'model',
    text: response.text.trim() === '' ? '' : response.text.toWellFormed(),
    thinking: thinkingOf(response.reasoning),
    calls: response.calls.map((call) => ({
      id: freshId(used, callIds, `${entry.turn}_${entry.round}_${call.ordinal}`, call.id),
      call,
      result: resultOf(call, entry.results),
    })),
  })
}

function userSays(text: string): Utterance {
  return { by: 'user', text: text.toWellFormed() }
}

function waitsForUser(said: Utterance[]): boolean {
  const last = said.at(-1)
  return last === undefined || (last.by === 'model' && last.calls.length === 0)
}

/** What is not readable as blocks is left out. */
function thinkingOf(reasoning: string): Record<string, unknown>[] {
  if (reasoning === '') return [] // most responses have none, and what is no JSON is expensive to find out
  const blocks = parseJson(reasoning)
  return Array.isArray(blocks) ? blocks.filter(isObject) : []
}

/**
 * The provider's id of the call where it can stand: it has a form that is taken back and no earlier
 * call has it (models reuse ids). Else one of ours from the call's identity. An id that is in use
 * already only ever gives way to what came before it, so SPOKEN-HISTORY-2 holds.
 */
function freshId(
  used: Set<string>,
  { taken, made }: CallIds,
  identity: string,
  sent: string,
): string {
  let place = identity
  let id = taken.test(sent) && !used.has(sent) ? sent : made(place)
  while (used.has(id)) {
    place += '_'
    id = made(place)
  }
  used.add(id)
  return id
}

function resultOf(call: Call, results: CallResult[]): SpokenCall['result'] {
  const result = results.find(({ ordinal }) => ordinal === call.ordinal)
  return result === undefined
    ? { text: noResult, isError: true }
    : { text: result.text.toWellFormed(), isError: result.status !== 'ok' }
}

/** A name that the model made up may have characters that the provider does not take back. */
export function usableName(name: string, lengthMax: number): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, lengthMax) || '_'
}

/**
 * What the model sent, where it is an object that can be sent back; its result quotes what was not.
 * A provider that cannot read how deep it is would refuse this conversation for ever.
 */
export function inputOf(call: Call): Record<string, unknown> {
  const known = inputs.get(call)
  if (known !== undefined) return known
  const input = sendableInput(call)
  inputs.set(call, input)
  return input
}

/** A cache: the calls of an entry are said again in each request that follows. */
const inputs = new WeakMap<Call, Record<string, unknown>>()

function sendableInput(call: Call): Record<string, unknown> {
  const text = argumentText(call)
  if (!text.trimStart().startsWith('{') || jsonFault(text, limits.argumentDepthMax) !== undefined)
    return {}
  return sendableJson(text) as Record<string, unknown>
}
