// A history as Chat Completions messages. Owns: valid messages for any history. Does not own: the
// words (utterances.ts), the rest of the request (request.ts).
//
// Exactly one tool message follows for each entry of tool_calls, directly
// and in order. Providers refuse anything else (I5.4).
// Equal entries give equal messages, and more entries only append, for the
// prompt cache. Consecutive user texts become one message with the same beginning.
// An assistant message separates a tool message from a user message,
// because some servers refuse the two in a row.

import { createHash } from 'node:crypto'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { Content, HistoryEntry } from '../../../contract/messages.ts'
import { plainJson } from '../../../lib/json/same-json.ts'
import { imagesOfResults, unanswered } from '../../../model-texts/requests.ts'
import type { Contents } from '../../exchange.ts'
import { dataUrl, type SentContent, sentContents } from '../../request/contents.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../../request/utterances.ts'
import {
  type MessageReasoning,
  type ReturnedReasoning,
  reasoningReader,
} from './returned-reasoning.ts'

/**
 * Providers accept their own ids, but OpenAI at most 40 characters. Nine letters and digits work
 * everywhere.
 */
const callIds: CallIds = {
  taken: /^[\x21-\x7e]{1,40}$/,
  made: (place) => createHash('sha256').update(place).digest('hex').slice(0, 9),
}
/** For a refused history: every id is new, because the old ones may be foreign to this server. */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }

/**
 * `nineCharacterIds`: the server accepts only ids of nine letters and digits. `rebuilt`: see
 * ProviderRequest.
 */
export type HowSaid = {
  nineCharacterIds: boolean
  rebuilt: boolean
  contents?: Contents | undefined
}

/** `history` in order of turn and round. */
export function chatMessages(
  history: HistoryEntry[],
  returned: ReturnedReasoning,
  how: HowSaid,
): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = []
  const reasoning = reasoningReader(returned)
  let hasCalled = false
  const taken = how.nineCharacterIds ? { ...callIds, taken: /^[a-zA-Z0-9]{9}$/ } : callIds
  for (const utterance of utterances(history, how.rebuilt ? ownIds : taken)) {
    hasCalled = utterance.by === 'model' && (hasCalled || utterance.calls.length > 0)
    if (utterance.by === 'user')
      appendUser(messages, userContent(utterance, how.contents), reasoning.ofNobody)
    else {
      messages.push(assistantMessage(utterance, reasoning.of(utterance.thinking, hasCalled)))
      for (const { id, result } of utterance.calls)
        messages.push({ role: 'tool', tool_call_id: id, content: result.text })
      // A tool message can hold text only.
      const contents = utterance.calls.flatMap(({ result }) => result.contents ?? [])
      if (contents.length > 0)
        appendUser(
          messages,
          userContent({ text: imagesOfResults, contents }, how.contents),
          reasoning.ofNobody,
        )
    }
  }
  return messages
}

type UserContent = string | ChatCompletionContentPart[]

function userContent(
  { text, contents }: { text: string; contents?: Content[] },
  known: Contents | undefined,
): UserContent {
  const parts = sentContents(contents, known).map(partOf)
  return parts.length === 0 ? text : [...parts, { type: 'text', text }]
}

function partOf(content: SentContent): ChatCompletionContentPart {
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: content.text }
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(content) } }
    case 'pdf':
      return { type: 'file', file: { filename: content.name, file_data: dataUrl(content) } }
  }
}

function appendUser(
  messages: ChatCompletionMessageParam[],
  content: UserContent,
  reasoningOfNobody: () => Record<string, unknown>,
): void {
  const last = messages.at(-1)
  if (last?.role === 'user') last.content = joined(last.content, content)
  else {
    if (last?.role === 'tool')
      messages.push({ role: 'assistant', content: unanswered, ...reasoningOfNobody() })
    messages.push({ role: 'user', content })
  }
}

function joined(before: UserContent, after: UserContent): UserContent {
  if (typeof before === 'string' && typeof after === 'string') return `${before}\n\n${after}`
  return [before, after].flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
  )
}

type ModelSaid = { text: string; calls: SpokenCall[] }

function assistantMessage(
  { text, calls }: ModelSaid,
  { fields, parts, extraOf }: MessageReasoning,
): ChatCompletionAssistantMessageParam {
  const message: ChatCompletionAssistantMessageParam = {
    role: 'assistant',
    content: text === '' ? null : text,
  }
  if (parts.length > 0)
    Object.assign(message, {
      content: [...parts, ...(text === '' ? [] : [{ type: 'text', text }])],
    })
  if (calls.length > 0) message.tool_calls = calls.map((spoken) => toolCall(spoken, extraOf))
  return Object.assign(message, fields)
}

function toolCall(
  { id, call }: SpokenCall,
  extraOf: MessageReasoning['extraOf'],
): ChatCompletionMessageFunctionToolCall {
  const extra = extraOf(call.ordinal)
  const made = {
    id,
    type: 'function' as const,
    function: { name: usableName(call.name, 64), arguments: argumentsOf(call) },
  }
  return extra === undefined ? made : Object.assign(made, { extra_content: extra })
}

/** Each later request contains the same calls again. */
const argumentTexts = new WeakMap<SpokenCall['call'], string>()

/** As the model wrote them if that is sendable: a server with a cache then finds the same text. */
function argumentsOf(call: SpokenCall['call']): string {
  const known = argumentTexts.get(call)
  if (known !== undefined) return known
  const sendable = JSON.stringify(inputOf(call))
  const text = plainJson(call.raw) === sendable ? call.raw : sendable
  argumentTexts.set(call, text)
  return text
}
