// A request in which no tool may be called, for servers that cannot be told so: some refuse `tool_choice: none` (Bedrock has no such word, and what is
// built on it passes that on), some refuse calls in the history where no tools are declared. So the calls become text, and the tools are left out.
// Owns: what such a request looks like, and which refusals it may help against. Does not own: when it is sent (attempt.ts), how often (reducer.ts).
//
// P1. The calls are told as what was done, in no shape that a parser of calls knows: the model should answer and not write calls.
// P2. The same entries always give the same texts, and more entries only add to the end (H2).

import type { Agent } from '../../shared/agents.ts'
import type { Call, HistoryEntry } from '../../shared/messages.ts'
import { argumentsOf, callsAsText } from './calls-as-text.ts'
import type { ProviderRequest } from './provider.ts'

/** Whether the request speaks of tools and asks for no call. A model whose calls are text anyway is never told of any. */
export function canBePlain({ model }: Agent, { textOnly, tools, history }: ProviderRequest): boolean {
  if (model.toolCalls === 'text') return false
  return tools.length === 0 ? history.some(({ response }) => response !== null && response.calls.length > 0) : textOnly
}

/** The same in plain text: without tools, and with calls and results as words. Thinking goes with the calls that it led to, so it is left out with them. */
export function inPlainText(request: ProviderRequest): ProviderRequest {
  return { ...request, tools: [], history: request.history.flatMap((entry) => callsAsText(withoutThinking(entry), asSentences)) }
}

function withoutThinking(entry: HistoryEntry): HistoryEntry {
  const { response } = entry
  return response === null || response.calls.length === 0 ? entry : { ...entry, response: { ...response, reasoning: '' } }
}

function asSentences(calls: Call[]): string[] {
  return calls.map((call) => `I called the tool ${call.name} with the arguments ${argumentsOf(call)}.`)
}

/**
 * Whether the provider refused what stands in the request, and not who sent it. Any 400 may be about the tools: servers say it in all words, and the request
 * is sent once more at most. `status`: of HTTP, undefined where the error came in the answer.
 */
export function refusesForm({ status, said }: { status: number | undefined; said: string }): boolean {
  if (status === 400 || status === 422) return true
  // OpenRouter: 404, No endpoints found that support the provided 'tool_choice' value.
  return (status === undefined || status === 404 || status === 501) && /tool|function/i.test(said)
}
