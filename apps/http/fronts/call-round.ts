// A round of a host that shows no history (hooks, MCP): the calls that begin within a moment. It
// becomes a request of one round, in the form of Messages, for the readers of every other front.
// CALL-ROUND-1. The calls of one message join only if the host starts them together. Calls that it
//     starts one after the other are rounds of one call each.

import type { GuestAnswer, GuestRequest } from '../../../client/guard/guest-conversation.ts'
import type { HookCall, HookResult } from './hooks/hook-payload.ts'

/**
 * `prompt`: the text that opened the turn, '' if nothing has shown it. `tools`: those that the host
 * was offered, in the form of Messages. Undefined: the front does not see them. `host`: as in
 * GuestRequest.
 */
export type CallRound = {
  prompt: string
  host?: string | undefined
  tools?: readonly unknown[]
  calls: HookCall[]
  results: Map<string, HookResult>
}

export function isComplete({ calls, results }: CallRound): boolean {
  return calls.every(({ id }) => results.has(id))
}

export function answerOf(round: CallRound): GuestAnswer {
  return { request: requestOf(round, [userMessage(round)]), answer: assistantMessage(round) }
}

/** The request that the host sends after this round, as far as hooks know it. */
export function requestAfter(round: CallRound): GuestRequest {
  return requestOf(round, [
    userMessage(round),
    assistantMessage(round),
    {
      role: 'user',
      content: [...round.results.values()].map(({ callId, status, text }) => ({
        type: 'tool_result',
        tool_use_id: callId,
        content: text,
        ...(status === 'error' && { is_error: true }),
      })),
    },
  ])
}

function requestOf(round: CallRound, messages: unknown[]): GuestRequest {
  const body = { tools: round.tools ?? calledTools(round), messages }
  return { format: 'anthropic', body, host: round.host }
}

/** Of tools without declarations, each called one takes any object. */
function calledTools({ calls }: CallRound): unknown[] {
  const names = [...new Set(calls.map(({ name }) => name))]
  return names.map((name) => ({ name, input_schema: { type: 'object' } }))
}

function userMessage({ prompt }: CallRound): unknown {
  return { role: 'user', content: prompt }
}

function assistantMessage({ calls }: CallRound): unknown {
  return {
    role: 'assistant',
    content: calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    stop_reason: 'tool_use',
  }
}
