// Makes any list of messages valid for a server of Chat Completions (I5.4). Pure. Returns a valid
// list unchanged.
//
// VALID-CHAT-MESSAGES-1. Exactly one tool message follows for each entry of tool_calls, directly
//     and in order. A lost one becomes unknown; duplicates and strays are dropped.
// VALID-CHAT-MESSAGES-2. An id changes only if another call has it or the server refuses its form.
// VALID-CHAT-MESSAGES-3. If roles must alternate, consecutive messages are joined, an assistant
//     message separates results from the user, and the assistant is never last.
// VALID-CHAT-MESSAGES-4. Blank texts and empty messages are dropped.

import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
  ChatCompletionToolMessageParam,
} from 'openai/resources/chat/completions'
import { goOn, unanswered, unknownResult } from '../../../model-texts/requests.ts'
import { type Placed, pairs, uniqueIds } from '../../request/call-pairs.ts'

/**
 * The server's rules. `id`: the form of call ids, and a builder. `alternating`: roles must
 * alternate.
 */
export type ChatForm = { id: RegExp; madeId: (place: string) => string; alternating: boolean }

export function validChatMessages(
  messages: ChatCompletionMessageParam[],
  { id: taken, madeId, alternating }: ChatForm,
): ChatCompletionMessageParam[] {
  const results = resultsOf(messages)
  const freshId = uniqueIds(taken, madeId)
  const made: ChatCompletionMessageParam[] = []

  for (const message of messages) {
    if (message.role === 'tool' || message.role === 'function') continue // results are placed with their calls
    const kept = withoutBlanks(message)
    if (kept === undefined) continue
    if (alternating && kept.role === 'user' && made.at(-1)?.role === 'tool')
      made.push({ role: 'assistant', content: unanswered })
    const joined = alternating ? joinedWith(made.at(-1), kept) : undefined
    if (joined !== undefined) made.pop()
    const ids = new Map(callsOf(kept).map((call) => [call, freshId(call.id)]))
    made.push(withIds(joined ?? kept, ids))
    for (const [call, id] of ids) made.push(resultFor(results.get(call), id))
  }
  const last = made.at(-1)
  if (alternating && last?.role === 'assistant') made.push({ role: 'user', content: goOn })
  return made
}

function resultsOf(
  messages: ChatCompletionMessageParam[],
): Map<ChatCompletionMessageToolCall, ChatCompletionToolMessageParam> {
  const calls: Placed<ChatCompletionMessageToolCall>[] = []
  const results: Placed<ChatCompletionToolMessageParam>[] = []
  for (const [at, message] of messages.entries()) {
    for (const call of callsOf(message)) calls.push({ id: call.id, at, value: call })
    if (message.role === 'tool') results.push({ id: message.tool_call_id, at, value: message })
  }
  return pairs(calls, results)
}

/** A call with the same id and content twice in one message was delivered twice. */
function callsOf(message: ChatCompletionMessageParam): ChatCompletionMessageToolCall[] {
  if (message.role !== 'assistant') return []
  const seen = new Set<string>()
  return (message.tool_calls ?? []).filter((call) => {
    const key = JSON.stringify(call)
    return !seen.has(key) && seen.add(key)
  })
}

/** The message itself if it has no blanks; undefined: nothing is left. */
function withoutBlanks(
  message: ChatCompletionMessageParam,
): ChatCompletionMessageParam | undefined {
  if (message.role === 'assistant') return assistantWithoutBlanks(message)
  const { content } = message
  if (typeof content === 'string') return content.trim() === '' ? undefined : message
  const parts = (content ?? []).filter((part) => part.type !== 'text' || part.text.trim() !== '')
  if (parts.length === 0) return undefined
  return parts.length === content?.length
    ? message
    : ({ ...message, content: parts } as ChatCompletionMessageParam)
}

function assistantWithoutBlanks(
  message: ChatCompletionAssistantMessageParam,
): ChatCompletionAssistantMessageParam | undefined {
  const { content, tool_calls: calls, ...others } = message
  const isBlank =
    typeof content === 'string'
      ? content.trim() === ''
      : (content ?? []).every((part) => part.type === 'text' && part.text.trim() === '')
  const hasCalls = calls !== undefined && calls.length > 0
  if (!isBlank) return calls === undefined || hasCalls ? message : { ...others, content }
  if (!hasCalls) return undefined
  return content == null ? message : { ...message, content: null }
}

/** Joins two messages of one role in a row; undefined: they may stand as they are. */
function joinedWith(
  last: ChatCompletionMessageParam | undefined,
  message: ChatCompletionMessageParam,
): ChatCompletionMessageParam | undefined {
  if (last?.role !== message.role || (message.role !== 'user' && message.role !== 'assistant'))
    return undefined
  const both = [last.content, message.content]
  const isText = both.every((one) => typeof one === 'string' || one == null)
  const content = isText ? both.filter((text) => text != null).join('\n\n') : both.flatMap(partsOf)
  return { ...last, ...message, content } as ChatCompletionMessageParam
}

function partsOf(content: ChatCompletionMessageParam['content']): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

function withIds(
  message: ChatCompletionMessageParam,
  ids: Map<ChatCompletionMessageToolCall, string>,
): ChatCompletionMessageParam {
  if (message.role !== 'assistant' || message.tool_calls === undefined) return message
  const isSame =
    message.tool_calls.length === ids.size && [...ids].every(([call, id]) => call.id === id)
  return isSame
    ? message
    : { ...message, tool_calls: [...ids].map(([call, id]) => ({ ...call, id })) }
}

function resultFor(
  result: ChatCompletionToolMessageParam | undefined,
  id: string,
): ChatCompletionToolMessageParam {
  if (result === undefined) return { role: 'tool', tool_call_id: id, content: unknownResult }
  return result.tool_call_id === id ? result : { ...result, tool_call_id: id }
}
