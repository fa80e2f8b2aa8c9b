// A conversation's history as Anthropic's messages. Owns: that what the provider gets is valid,
// whatever the history holds. Does not own: what is said (spoken-history.ts), the rest of the
// request (anthropic-request.ts).
//
// CONVERSATION-MESSAGES-1. Every tool_use has exactly one tool_result, in the very next message, in
//     the same order: what a provider refuses a request for (I5.4) cannot be built.
// CONVERSATION-MESSAGES-2. The same entries always give the same messages, and more entries only
//     add to the end (SPOKEN-HISTORY-2), so the provider's prompt cache holds.
// CONVERSATION-MESSAGES-3. Users and assistants take turns, the user first and last; no block is
//     blank.

import type {
  ContentBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages'
import type { HistoryEntry } from '../../../../shared/contract/messages.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../spoken-history.ts'
import { type ValidMessage, validMessages } from './valid-messages.ts'

/** A message under construction: its content is always a list of blocks. */
export type ConversationMessage = { role: 'user' | 'assistant'; content: ContentBlockParam[] }

const callIds: CallIds = { taken: /^[a-zA-Z0-9_-]{1,64}$/, made: (place) => `call_${place}` }
/**
 * Of a history that the provider has refused: all ids are ours, since those that were taken may be
 * foreign to who answers now.
 */
const ownIds: CallIds = { ...callIds, taken: /^(?!)/ }

/** `history` in order of turn and round. */
export function conversationMessages(
  history: HistoryEntry[],
  rebuilt = false,
): ConversationMessage[] {
  const messages: ConversationMessage[] = []
  for (const said of utterances(history, rebuilt ? ownIds : callIds)) {
    if (said.by === 'user') append(messages, 'user', [textBlock(said.text)])
    else {
      const text = said.text === '' ? [] : [textBlock(said.text)]
      append(messages, 'assistant', [
        ...thinkingBlocks(said.thinking),
        ...text,
        ...said.calls.map(toolUse),
      ])
      if (said.calls.length > 0) append(messages, 'user', said.calls.map(toolResult))
    }
  }
  return rebuilt ? withBlocks(validMessages(messages)) : messages
}

/** Every content as blocks. */
function withBlocks(messages: ValidMessage[]): ConversationMessage[] {
  return messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [textBlock(content)] : content,
  }))
}

/** A user who speaks twice in a row, or after results, says it in one message. */
function append(
  messages: ConversationMessage[],
  role: ConversationMessage['role'],
  content: ContentBlockParam[],
): void {
  const last = messages.at(-1)
  if (last?.role === role) last.content.push(...content)
  else messages.push({ role, content })
}

function textBlock(text: string): ContentBlockParam {
  return { type: 'text', text }
}

/**
 * The blocks exactly as the provider sent them; it signs them. Those of another provider, from
 * before the agent's model was changed, have no type.
 */
function thinkingBlocks(blocks: Record<string, unknown>[]): ContentBlockParam[] {
  return blocks.filter(({ type }) => typeof type === 'string') as unknown as ContentBlockParam[]
}

function toolUse({ id, call }: SpokenCall): ToolUseBlockParam {
  return { type: 'tool_use', id, name: usableName(call.name, 128), input: inputOf(call) }
}

function toolResult({ id, result }: SpokenCall): ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: result.text,
    ...(result.isError ? { is_error: true } : {}),
  }
}
