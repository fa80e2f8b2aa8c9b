// A request in which no tool may be called, for servers that cannot be told so: some refuse
// `tool_choice: none` (Bedrock has no such word, and what is built on it passes that on), some
// refuse calls in the history where no tools are declared. So the calls become text, and the tools
// are left out. Owns: what such a request looks like, which refusals it may help against, and what
// they teach. Does not own: when it is sent (attempt.ts), how often (reducer.ts).
//
// PLAIN-REQUEST-1. The calls are told as what was done, in no shape that a parser of calls knows:
//     the model should answer and not write calls.
// PLAIN-REQUEST-2. A refusal teaches only where it speaks of tools, and a request in plain text was
//     taken then: else an agent whose provider has refused a request for another reason would be
//     asked without its tools for as long as the process runs. It is forgotten when plain text is
//     refused too, or the other form taken.
// PLAIN-REQUEST-3. The same entries always give the same texts, and more entries only add to the
//     end (SPOKEN-HISTORY-2).

import type { Agent } from '../../../shared/agents/agents.ts'
import type { Call, HistoryEntry } from '../../../shared/contract/messages.ts'
import { argumentsOf, callsAsText } from './calls-as-text.ts'
import type { Failed, ProviderRequest } from './provider.ts'

/**
 * What such a server does not take: that no tool may be called of those that are declared, or that
 * calls were made and no tool is declared.
 */
export type Obstacle = 'no-choice' | 'no-declarations'

/**
 * What of a request that asks for no call may be refused; undefined: nothing. A model whose calls
 * are text anyway is never told of any.
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

/** How a request was asked, and what came of it. */
type Asked = {
  agent: Agent
  obstacle: Obstacle
  isPlain: boolean
  answer: Pick<Failed, 'kind' | 'formRefused'> | { kind: 'finished' }
}

/**
 * What a process learns of the providers of its agents (PLAIN-REQUEST-2), for each obstacle by
 * itself.
 */
export type PlainLessons = {
  /** Whether the provider takes such a request in plain text only. */
  has(agent: Agent, obstacle: Obstacle): boolean
  note(asked: Asked): void
}

export function createPlainLessons(): PlainLessons {
  const byAgent = new WeakMap<Agent, Map<Obstacle, 'refused' | 'learned'>>()
  return {
    has: (agent, obstacle) => byAgent.get(agent)?.get(obstacle) === 'learned',
    note({ agent, obstacle, isPlain, answer }) {
      const known = byAgent.get(agent) ?? new Map<Obstacle, 'refused' | 'learned'>()
      byAgent.set(agent, known)
      if (answer.kind === 'finished') {
        if (!isPlain) known.delete(obstacle)
        else if (known.has(obstacle)) known.set(obstacle, 'learned')
      } else if (answer.formRefused !== undefined && isPlain) known.delete(obstacle)
      else if (answer.formRefused === 'tools' && !known.has(obstacle))
        known.set(obstacle, 'refused')
    },
  }
}

/**
 * The same in plain text: without tools, and with calls and results as words. Thinking goes with
 * the calls that it led to, so it is left out with them.
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
  return calls.map(
    (call) => `I called the tool ${call.name} with the arguments ${argumentsOf(call)}.`,
  )
}

/**
 * Whether the provider may have refused what stands in the request, and not who sent it. Any 400
 * may be about the tools: servers say it in all words, and the request is sent once more at most.
 * `tools`: it speaks of them. `status`: of HTTP, undefined where the error came in the answer.
 */
export function formRefusedBy({
  status,
  said,
}: {
  status: number | undefined
  said: string
}): Failed['formRefused'] {
  const speaksOfTools = /tool|function/i.test(said)
  if (status === 400 || status === 422) return speaksOfTools ? 'tools' : 'unsaid'
  // OpenRouter: 404, No endpoints found that support the provided 'tool_choice' value.
  return speaksOfTools && (status === undefined || status === 404 || status === 501)
    ? 'tools'
    : undefined
}
