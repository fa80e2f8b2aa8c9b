// Requests that forbid tool calls, for servers that cannot express this. Some refuse `tool_choice:
// none` (Bedrock lacks it, and so do its gateways). Some refuse calls in a history without declared
// tools. For them the calls become text and the tools are left out. Owns: the form of such a
// request, and which refusals may need it. Does not own: when it is sent (accepted-form.ts), how
// often (reducer.ts), the lessons from refusals (lessons.ts).
//
// The text describes calls in a form that no parser of calls accepts: the model
// should answer and not write calls.
// Equal entries give equal texts, and more entries only append.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { Call, HistoryEntry } from '../../../../shared/contract/messages.ts'
import { callAsSentence } from '../../../../shared/model-texts/requests.ts'
import type { ProviderRequest } from '../../../../shared/wire/exchange.ts'
import { argumentsOf, callsAsText } from './calls-as-text.ts'

/**
 * The part that a server refuses: declared tools that must not be called, or calls without declared
 * tools.
 */
export type Obstacle = 'no-choice' | 'no-declarations'

/**
 * The obstacle in a request that forbids calls; undefined: none. A model with text calls has none.
 */
export function obstacleIn(
  { model }: Agent,
  { textOnly, tools, history }: ProviderRequest,
): Obstacle | undefined {
  if (model.toolCalls === 'text') return undefined
  if (tools.length > 0) return textOnly ? 'no-choice' : undefined
  return history.some(({ response }) => response !== null && response.calls.length > 0)
    ? 'no-declarations'
    : undefined
}

/**
 * The same request in plain text, without tools. Thinking belongs to the calls that followed it and
 * is left out with them.
 */
export function inPlainText(request: ProviderRequest): ProviderRequest {
  return {
    ...request,
    tools: [],
    history: request.history.flatMap((entry) => callsAsText(withoutThinking(entry), asSentences)),
  }
}

function withoutThinking(entry: HistoryEntry): HistoryEntry {
  const { response } = entry
  return response === null || response.calls.length === 0
    ? entry
    : { ...entry, response: { ...response, reasoning: '' } }
}

function asSentences(calls: Call[]): string[] {
  return calls.map((call) => callAsSentence(call.name, argumentsOf(call)))
}
