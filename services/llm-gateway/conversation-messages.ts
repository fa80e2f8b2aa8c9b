// A conversation's history as Anthropic's messages.
// Owns: that what the provider gets is valid, whatever the history holds. Does not own: the rest of the request (anthropic-request.ts).
//
// M1. Every tool_use has exactly one tool_result, in the very next message, in the same order: what a provider refuses a request for (I5.4)
//     cannot be built.
// M2. The same entries always give the same messages, and more entries only add to the end: ids are derived, never counted over a request.
//     So the provider's prompt cache holds from round to round.
// M3. Users and assistants take turns, the user first and last; no block is blank.

import type { ContentBlockParam, ToolResultBlockParam, ToolUseBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { argumentText } from '../../shared/call.ts'
import type { Call, CallResult, HistoryEntry, Response } from '../../shared/messages.ts'
import { isObject, parseJson } from './exact-json.ts'

/** A message under construction: its content is always a list of blocks. */
export type ConversationMessage = { role: 'user' | 'assistant'; content: ContentBlockParam[] }

/** Stands where the model spoke last and nobody answered: the provider would take the model's own words for the beginning of its next ones. */
const goOn = 'Please continue.'
const blankMessage = '(The message was empty.)'
const noResult = 'The result of this call is not known.'

/**
 * `history` in order of turn and round. A round without a response was never said, but its note is told: that calls of it may have run is what the
 * model must know before it makes them again (R5).
 */
export function conversationMessages(history: HistoryEntry[]): ConversationMessage[] {
  const messages: ConversationMessage[] = []
  const ids = new Set<string>()
  for (const entry of history) {
    if (entry.user !== null) append(messages, 'user', [textBlock(entry.user.trim() === '' ? blankMessage : entry.user)])
    if (entry.response !== null) appendResponse(messages, ids, entry, entry.response)
    else if (entry.note !== null && entry.note.trim() !== '') append(messages, 'user', [textBlock(`(${entry.note})`)])
  }
  if (messages.at(-1)?.role !== 'user') append(messages, 'user', [textBlock(goOn)])
  return messages
}

function appendResponse(messages: ConversationMessage[], ids: Set<string>, entry: HistoryEntry, response: Response): void {
  const calls = response.calls.map((call) => toolUse(call, freshId(ids, entry, call)))
  const spoken = [...(response.text.trim() === '' ? [] : [textBlock(response.text)]), ...calls]
  // Thinking alone is no message: a provider refuses one that ends with it.
  if (spoken.length === 0) return
  if (messages.at(-1)?.role !== 'user') append(messages, 'user', [textBlock(goOn)])
  append(messages, 'assistant', [...thinkingBlocks(response.reasoning), ...spoken])
  if (calls.length > 0)
    append(
      messages,
      'user',
      response.calls.map((call, n) => toolResult(calls[n] as ToolUseBlockParam, call, entry.results)),
    )
}

/** A user who speaks twice in a row, or after results, says it in one message. */
function append(messages: ConversationMessage[], role: ConversationMessage['role'], content: ContentBlockParam[]): void {
  const last = messages.at(-1)
  if (last?.role === role) last.content.push(...content)
  else messages.push({ role, content })
}

function textBlock(text: string): ContentBlockParam {
  return { type: 'text', text: text.toWellFormed() }
}

/** The blocks exactly as the provider sent them; it signs them. What is not readable as such is left out. */
function thinkingBlocks(reasoning: string): ContentBlockParam[] {
  const blocks = parseJson(reasoning)
  return Array.isArray(blocks) ? (blocks.filter(isObject) as unknown as ContentBlockParam[]) : []
}

function toolUse(call: Call, id: string): ToolUseBlockParam {
  return { type: 'tool_use', id, name: usableName(call.name), input: inputOf(call) }
}

/** A name that the model made up may have characters that the provider does not take back. */
function usableName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 128) || '_'
}

/** What the model sent, where it is an object that can be sent back; its result quotes what was not. */
function inputOf(call: Call): Record<string, unknown> {
  try {
    const wellFormed = (_key: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)
    const input: unknown = JSON.parse(argumentText(call), wellFormed)
    return isObject(input) ? input : {}
  } catch {
    return {}
  }
}

/**
 * The provider's id of the call where it can stand: it has a form that is taken back and no earlier call has it (models reuse ids). Else one of
 * ours from the call's identity. An id that is in use already only ever gives way to what came before it, so M2 holds.
 */
function freshId(ids: Set<string>, { turn, round }: HistoryEntry, { id: sent, ordinal }: Call): string {
  let id = /^[a-zA-Z0-9_-]{1,64}$/.test(sent) ? sent : `call_${turn}_${round}_${ordinal}`
  if (ids.has(id)) id = `call_${turn}_${round}_${ordinal}`
  while (ids.has(id)) id += '_'
  ids.add(id)
  return id
}

function toolResult(use: ToolUseBlockParam, call: Call, results: CallResult[]): ToolResultBlockParam {
  const result = results.find(({ ordinal }) => ordinal === call.ordinal)
  if (result === undefined) return { type: 'tool_result', tool_use_id: use.id, content: noResult, is_error: true }
  const content = result.text.toWellFormed()
  return { type: 'tool_result', tool_use_id: use.id, content, ...(result.status === 'ok' ? {} : { is_error: true }) }
}
