// The messages of a conversation as those of the AI SDK's chat, for a page that is loaded again. Pure:
// values of the log in, messages out.
// A message has the id that it has in the stream, so a page that joins a running turn shows
// each message once. The running turn has the user's message only: its stream has the rest.

import type { UIDataTypes, UIMessage, UIMessagePart, UITools } from 'ai'
import type { CallCard, ConversationMessage, ConversationTurn } from '../../../../client/weir.ts'
import { callIdOf } from '../chat/turn-calls.ts'

type Part = UIMessagePart<UIDataTypes, UITools>
type Assistant = Extract<ConversationMessage, { role: 'assistant' }>

/** `turns`: the newest first. `clientTools`: the names of the tools that the page of an agent runs. */
export function uiMessagesOf(
  messages: readonly ConversationMessage[],
  turns: readonly ConversationTurn[],
  clientTools: (agent: string) => ReadonlySet<string>,
): UIMessage[] {
  const found: UIMessage[] = []
  const starts = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
  for (const [number, start] of starts.entries()) {
    const [first, ...rest] = messages.slice(start, starts[number + 1])
    if (first?.role !== 'user') continue
    const turn = turns[starts.length - 1 - number]
    const id = turn?.messageId ?? `message-${number}`
    found.push({ id, role: 'user', parts: [textPart(first.text)] })
    if (number === starts.length - 1 && turn?.end === undefined) continue
    const tools = clientTools(turn?.agent ?? '')
    const rounds = rest.filter((one) => one.role === 'assistant')
    const parts = [...rounds.flatMap((round) => partsOf(round, tools)), ...fallbackOf(turn)]
    if (parts.length > 0) found.push({ id: `turn-${first.turn}`, role: 'assistant', parts })
  }
  return found
}

function partsOf({ text, reasoning, calls, turn, round }: Assistant, tools: ReadonlySet<string>) {
  const parts: Part[] = [{ type: 'step-start' }]
  if (reasoning !== '') parts.push({ type: 'reasoning', text: reasoning, state: 'done' })
  if (text !== '') parts.push(textPart(text))
  for (const card of calls) {
    const toolCallId = callIdOf({ turn, round, ordinal: card.ordinal })
    parts.push(callPart(card, toolCallId, tools.has(card.name)))
  }
  return parts
}

function callPart(card: CallCard, toolCallId: string, isOfPage: boolean): Part {
  const { name: toolName, status, result, rawResult, reason } = card
  const call = {
    type: 'dynamic-tool' as const,
    toolName,
    toolCallId,
    input: card.arguments ?? card.rawArguments,
    ...(!isOfPage && { providerExecuted: true }),
  }
  return status === 'ok'
    ? { ...call, state: 'output-available', output: result }
    : { ...call, state: 'output-error', errorText: rawResult || reason }
}

/** The text that a turn without an answer has in its place. */
function fallbackOf(turn: ConversationTurn | undefined): Part[] {
  const end = turn?.end
  if (end === undefined || end.outcome === 'answered' || end.reply === '') return []
  return [{ type: 'step-start' }, textPart(end.reply)]
}

function textPart(text: string): Part {
  return { type: 'text', text, state: 'done' }
}
