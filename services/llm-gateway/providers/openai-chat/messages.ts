// A conversation's history as Chat Completions messages. Owns: that what the provider gets is
// valid, whatever the history holds. Does not own: what is said (spoken-history.ts), the rest of
// the request (openai-chat-request.ts).
//
// OPENAI-CHAT-MESSAGES-1. Every entry of tool_calls is followed by exactly one tool message,
//     directly after, in the same order: what a provider refuses a request for (I5.4) cannot be
//     built.
// OPENAI-CHAT-MESSAGES-2. The same entries always give the same messages, and more entries only add
//     to the end (SPOKEN-HISTORY-2), so the provider's prompt cache holds. The one exception is a
//     user who speaks twice in a row: servers want that in one message, and its beginning stays.
// OPENAI-CHAT-MESSAGES-3. A user's message never comes right after a tool's, since some servers
//     refuse that; a word of the assistant stands between.

import { createHash } from 'node:crypto'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { HistoryEntry } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { plainJson } from '../../../../shared/lib/json/same-json.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../spoken-history.ts'
import type { ServerHabits } from './server.ts'
import { type ChatForm, noAnswer, validChatMessages } from './valid-chat-messages.ts'

/** Whose reasoning may go back, and in which fields. */
export type ReturnedReasoning = { model: string; fields: ServerHabits['reasoning'] }

/**
 * A provider takes back what it sent, but OpenAI no more than 40 characters. Nine letters and
 * digits are the one form that every server takes.
 */
const callIds: CallIds = {
  taken: /^[\x21-\x7e]{1,40}$/,
  made: (place) => createHash('sha256').update(place).digest('hex').slice(0, 9),
}
/**
 * Of a history that the server has refused: all ids are ours, since those that were taken may be
 * foreign to who answers now.
 */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }
/** What the strictest server takes. */
const strictForm: ChatForm = { id: /^[a-zA-Z0-9]{9}$/, madeId: callIds.made, alternating: true }

/**
 * `nineCharacterIds`: the server takes no other ids than nine letters and digits. `rebuilt`: as in
 * ProviderRequest.
 */
export type HowSaid = { nineCharacterIds: boolean; rebuilt: boolean }

/** `history` in order of turn and round. */
export function chatMessages(
  history: HistoryEntry[],
  returned: ReturnedReasoning,
  how: HowSaid,
): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = []
  let hasCalled = false
  const taken = how.nineCharacterIds ? { ...callIds, taken: strictForm.id } : callIds
  for (const said of utterances(history, how.rebuilt ? ownIds : taken)) {
    hasCalled = said.by === 'model' && (hasCalled || said.calls.length > 0)
    if (said.by === 'user') appendUser(messages, said.text)
    else {
      messages.push(assistantMessage(said, hasCalled ? returned : undefined))
      for (const { id, result } of said.calls)
        messages.push({ role: 'tool', tool_call_id: id, content: result.text })
    }
  }
  return how.rebuilt ? validChatMessages(messages, strictForm) : messages
}

function appendUser(messages: ChatCompletionMessageParam[], text: string): void {
  const last = messages.at(-1)
  if (last?.role === 'user') last.content = `${last.content}\n\n${text}`
  else {
    if (last?.role === 'tool') messages.push({ role: 'assistant', content: noAnswer })
    messages.push({ role: 'user', content: text })
  }
}

type ModelSaid = { text: string; thinking: Record<string, unknown>[]; calls: SpokenCall[] }

/**
 * `returned` undefined: no reasoning goes back. It does from a call until the user speaks, while
 * the model goes on thinking from there.
 */
function assistantMessage(
  { text, thinking, calls }: ModelSaid,
  returned?: ReturnedReasoning,
): ChatCompletionAssistantMessageParam {
  const own = thinking.filter(({ model }) => model === returned?.model)
  const message: ChatCompletionAssistantMessageParam = {
    role: 'assistant',
    content: text === '' ? null : text,
  }
  if (calls.length > 0) message.tool_calls = calls.map((spoken) => toolCall(spoken, own))
  // The blocks say all that the plain text says, and more.
  const [details] = own.flatMap(({ reasoning_details: blocks }) =>
    Array.isArray(blocks) ? [blocks] : [],
  )
  if (details !== undefined) return Object.assign(message, { reasoning_details: details })
  for (const field of returned?.fields ?? []) {
    const [reasoning] = own.flatMap((block) =>
      typeof block[field] === 'string' ? [block[field].toWellFormed()] : [],
    )
    if (reasoning !== undefined) Object.assign(message, { [field]: reasoning })
  }
  return message
}

/**
 * `extra_content`, such as the signature of a thought, goes back beside the call with which it
 * came.
 */
function toolCall(
  { id, call }: SpokenCall,
  thinking: Record<string, unknown>[],
): ChatCompletionMessageFunctionToolCall {
  const [extra] = thinking.flatMap(({ extra_content: extras }) =>
    isObject(extras) && extras[call.ordinal] ? [extras[call.ordinal]] : [],
  )
  const made = {
    id,
    type: 'function' as const,
    function: { name: usableName(call.name, 64), arguments: argumentsOf(call) },
  }
  return extra === undefined ? made : Object.assign(made, { extra_content: extra })
}

/**
 * As the model wrote them, where they can be sent back like that: a server that keeps what it has
 * read finds the same text again.
 */
function argumentsOf(call: SpokenCall['call']): string {
  const sendable = JSON.stringify(inputOf(call))
  return plainJson(call.raw) === sendable ? call.raw : sendable
}
