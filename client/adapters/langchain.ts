// LangChain 1 (`weir-agents/langchain`): middleware of createAgent.
// Owns: LangChain's messages as a guest's history, its calls' refusals. Needs types only.
// Does not own: waiting for a verdict (call-verdict.ts), the decisions.
// LC-1. The middleware keeps nothing. A call's round is the state's last AI message, so a graph
//     that resumes in another process goes on with the same verdicts.
// LC-2. Advice changes one request and no message of the state.
// LC-3. LangChain ends a run whose only calls have unreadable arguments. Weir answers them, so the
//     model can correct itself.
// LC-4. Messages are made by the host's own classes and reducers, never by a second copy of them.

import type { AgentMiddleware } from 'langchain'
import { answerMissing, unreadableArguments } from '../../shared/model-texts/guests.ts'
import type { GuestAnswer, GuestConversation } from '../guard/guest-conversation.ts'
import { endText, firstVerdicts, refusalOf } from './call-verdict.ts'

type Middleware = AgentMiddleware<undefined, undefined, unknown, readonly [], readonly []>
type Handler = NonNullable<Middleware['wrapModelCall']>
type Request = Parameters<Handler>[0]
type Message = Request['messages'][number]
type Answer = Extract<Awaited<ReturnType<Handler>>, Message>
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
      const content = isEnd ? endText(advice) : advice.text
      const answer = await handler({
        ...request,
        // LangChain turns plain messages into its own before each request
        ...(content !== '' && {
          messages: [...messages, { role: 'user', content } as unknown as Message],
        }),
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
        const { tool_calls, invalid_tool_calls } = messages.at(-1) as Answer
        const unreadable = invalid_tool_calls ?? []
        if (unreadable.length === 0) return
        const refusals = unreadable.map(async ({ id = '', name }) => ({
          role: 'tool',
          tool_call_id: id,
          name,
          status: 'error',
          content:
            (await refusalOf(guest, { answer, callId: id, signal: runtime.signal })) ??
            unreadableArguments,
        }))
        const jump = tool_calls?.length ? {} : { jumpTo: 'model' as const }
        return { messages: (await Promise.all(refusals)) as unknown as Message[], ...jump }
      },
    },

    async wrapToolCall(request, handler) {
      const { toolCall, state, runtime } = request
      const answer = answerIn(state.messages)
      const refusal =
        answer === undefined
          ? answerMissing
          : await refusalOf(conversationOf(runtime), {
              answer,
              callId: toolCall.id ?? '',
              signal: runtime.signal,
            })
      if (refusal === undefined) return handler(request)
      const tool = { name: toolCall.name, invoke: async () => refusal }
      const result = await handler({ ...request, tool: tool as unknown as typeof request.tool })
      // otherwise a tool with `returnDirect` would end the run with the refusal
      if ('status' in result || 'tool_call_id' in result) result.status = 'error'
      return result
    },
  }
  return Object.assign(middleware, { [Symbol.for('AgentMiddleware')]: true }) as Middleware
}

/** The last answer of the state, and the messages before it. Weir knows the tools already. */
function answerIn(messages: readonly Message[]): GuestAnswer | undefined {
  const at = messages.findLastIndex(({ type }) => type === 'ai')
  const answer = messages[at]
  if (answer === undefined) return undefined
  const body = { messages: messages.slice(0, at).map(plain) }
  return { request: { format: 'langchain', body }, answer: plain(answer) }
}

/** An answer in place of the model's. Undefined before the first answer of a model. */
function answerOf(messages: readonly Message[], text: string): Answer | undefined {
  const other = messages.findLast(({ type }) => type === 'ai')
  return other && new (other.constructor as new (text: string) => Answer)(text)
}

const fields = [
  ...['type', 'id', 'name', 'content', 'status', 'tool_call_id'],
  ...['tool_calls', 'invalid_tool_calls', 'usage_metadata', 'response_metadata'],
]

/** A message with its fields only. Some of them are getters of its class. */
function plain(message: Message): object {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value: unknown = Reflect.get(message, field)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}
