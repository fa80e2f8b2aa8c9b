// A history in a form for every provider: alternating turns, and each call with its id and result.
// Owns: the words, the omissions, the call ids. Does not own: a provider's format
// (anthropic/request.ts, openai-chat/request/messages.ts, openai-responses/input.ts).
//
// Each call has exactly one result, in one object, so no provider can separate them
// (I5.4).
// Equal entries give equal words and ids, and more entries only append. Ids are
// derived, never counted per request, so the provider's prompt cache holds.
// The user speaks first and last, the model speaks twice in a row only after calls,
// and no text is blank or holds half a character.

import { argumentText } from '../../contract/call/call.ts'
import { limits } from '../../contract/limits.ts'
import type { Call, CallResult, Content, HistoryEntry, Response } from '../../contract/messages.ts'
import { jsonFault } from '../../lib/json/json-fault.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { blankMessage, goOn, unknownResult } from '../../model-texts/requests.ts'
import { parseJson, sendableJson } from '../exact-json.ts'

/** The model's `text` is empty if it only made calls. `thinking`: its recorded blocks. */
export type Utterance =
  | { by: 'user'; text: string; contents?: Content[] }
  | { by: 'model'; text: string; thinking: Record<string, unknown>[]; calls: SpokenCall[] }

export type SpokenCall = {
  id: string
  call: Call
  result: { text: string; isError: boolean; contents?: Content[] }
}

/**
 * `taken`: the form of ids that the provider accepts. `made` builds such an id from a place that no
 * other call has.
 */
export type CallIds = { taken: RegExp; made: (place: string) => string }

/**
 * `history` in order of turn and round. A round without a response is omitted, but its note is
 * kept. The model must know that calls may have run before it repeats them (R5).
 */
export function utterances(history: HistoryEntry[], callIds: CallIds): Utterance[] {
  const utterances: Utterance[] = []
  const used = new Set<string>()
  for (const entry of history) {
    if (entry.user !== null)
      utterances.push(
        userSays(entry.user.trim() === '' ? blankMessage : entry.user, entry.contents),
      )
    if (entry.response !== null)
      modelSays({ utterances, used, callIds, entry, response: entry.response })
    else if (entry.note !== null && entry.note.trim() !== '')
      utterances.push(userSays(`(${entry.note})`))
  }
  if (waitsForUser(utterances)) utterances.push(userSays(goOn))
  return utterances
}

type Saying = {
  utterances: Utterance[]
  used: Set<string>
  callIds: CallIds
  entry: HistoryEntry
  response: Response
}

function modelSays({ utterances, used, callIds, entry, response }: Saying): void {
  // Thinking alone is left out: a provider refuses a message that ends with it.
  if (response.text.trim() === '' && response.calls.length === 0) return
  if (waitsForUser(utterances)) utterances.push(userSays(goOn))
  utterances.push({
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

function userSays(text: string, contents: Content[] = []): Utterance {
  return { by: 'user', text: text.toWellFormed(), ...(contents.length > 0 && { contents }) }
}

function waitsForUser(utterances: Utterance[]): boolean {
  const last = utterances.at(-1)
  return last === undefined || (last.by === 'model' && last.calls.length === 0)
}

/** Drops everything that is not an object. */
function thinkingOf(reasoning: string): Record<string, unknown>[] {
  if (reasoning === '') return [] // most responses have none, and a failed parse is expensive
  const blocks = parseJson(reasoning)
  return Array.isArray(blocks) ? blocks.filter(isObject) : []
}

/**
 * Keeps the provider's id if its form is accepted and no earlier call has it (models reuse ids).
 * Otherwise derives one from the call's identity. A used id yields only to earlier calls.
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
    ? { text: unknownResult, isError: true }
    : {
        text: result.text.toWellFormed(),
        isError: result.status !== 'ok',
        ...(result.contents.length > 0 && { contents: result.contents }),
      }
}

/** Models invent names with characters that a provider refuses. */
export function usableName(name: string, lengthMax: number): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, lengthMax) || '_'
}

/**
 * The model's arguments if they are an object that can be sent back. The result quotes the others.
 * Too deep an object would make the provider refuse this conversation forever.
 */
export function inputOf(call: Call): Record<string, unknown> {
  const known = inputs.get(call)
  if (known !== undefined) return known
  const input = sendableInput(call)
  inputs.set(call, input)
  return input
}

/** Each later request contains the same calls again. */
const inputs = new WeakMap<Call, Record<string, unknown>>()

function sendableInput(call: Call): Record<string, unknown> {
  const text = argumentText(call)
  if (!text.trimStart().startsWith('{') || jsonFault(text, limits.argumentDepthMax) !== undefined)
    return {}
  return sendableJson(text) as Record<string, unknown>
}
