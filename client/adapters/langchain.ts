// LangChain 1 (`weir-agents/langchain`): middleware of createAgent.
// Owns: advice in LangChain's requests, denials of its calls. Needs types only.
// Does not own: LangChain's messages (shared/wire/langchain/messages.ts), waiting for a verdict
// (call-verdict.ts), the decisions.
// The middleware keeps nothing. A call's round is the state's last AI message, so a graph
// that resumes in another process goes on with the same verdicts.
// Advice changes one request and no message of the state.
// LangChain ends a run whose only calls have unreadable arguments. Weir answers them, so the
// model can correct itself.

import { answerMissing, unreadableArguments } from '../../shared/model-texts/guests.ts'
import {
  answerIn,
  answerOf,
  asFailed,
  callsIn,
  denialOfCall,
  type Middleware,
  plain,
  userMessage,
} from '../../shared/wire/langchain/messages.ts'
import type { GuestConversation } from '../guard/guest-conversation.ts'
import { denialOf, endText, firstVerdicts } from './call-verdict.ts'

type Runtime = { configurable?: { thread_id?: string }; signal?: AbortSignal }

/** `conversation` is a function if one agent serves many threads. */
export function guardLangChain(
  conversation: GuestConversation | ((runtime: Runtime) => GuestConversation),
): Middleware {
  const conversationOf = (runtime: Runtime) =>
    typeof conversation === 'function' ? conversation(runtime) : conversation
  const middleware: Omit<Middleware, symbol> = {
    name: 'Weir',

    async wrapModelCall(request, handler) {
      const { messages, tools, state, runtime } = request
      const guest = conversationOf(runtime)
      const asked = {
        format: 'langchain' as const,
        body: { messages: state.messages.map(plain), tools },
      }
      const advice = await guest.beforeModel(asked, runtime.signal)
      const isEnd = advice.action === 'end'
      const end = isEnd ? answerOf(messages, endText(advice)) : undefined
      if (end !== undefined) return end
      const { text, reason } = advice
      const content = isEnd ? endText({ ...advice, userText: reason }) : text
      const answer = await handler({
        ...request,
        ...(content !== '' && { messages: [...messages, userMessage(content)] }),
        ...((isEnd || advice.action === 'text_only') && { toolChoice: 'none' }),
      })
      if ('content' in answer) {
        const judged = { request: asked, answer: plain(answer) }
        await firstVerdicts(guest, { answer: judged, signal: runtime.signal })
      }
      return answer
    },

    afterModel: {
      canJumpTo: ['model'],
      async hook({ messages }, runtime) {
        const answer = answerIn(messages)
        if (answer === undefined) return
        const guest = conversationOf(runtime)
        const { calls, unreadable } = callsIn(messages)
        if (unreadable.length === 0) return
        const denials = unreadable.map(async ({ id = '', name }) => {
          const call = { callId: id, name: name ?? '', input: undefined }
          const denial = await denialOf(guest, call, { answer, signal: runtime.signal })
          return denialOfCall(id, name, denial ?? unreadableArguments)
        })
        const jump = calls.length > 0 ? {} : { jumpTo: 'model' as const }
        return { messages: await Promise.all(denials), ...jump }
      },
    },

    async wrapToolCall(request, handler) {
      const { toolCall, state, runtime } = request
      const answer = answerIn(state.messages)
      const denial =
        answer === undefined
          ? answerMissing
          : await denialOf(
              conversationOf(runtime),
              { callId: toolCall.id ?? '', name: toolCall.name, input: toolCall.args ?? {} },
              { answer, signal: runtime.signal },
            )
      if (denial === undefined) return handler(request)
      const tool = { name: toolCall.name, invoke: async () => denial }
      return asFailed(await handler({ ...request, tool: tool as unknown as typeof request.tool }))
    },
  }
  return Object.assign(middleware, { [Symbol.for('AgentMiddleware')]: true }) as Middleware
}
