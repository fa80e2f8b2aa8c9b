// The messages and answers of LangChain in a guest.
// Messages are made by the host's own classes and reducers, never by a second copy of them.

import type { AgentMiddleware } from 'langchain'

export type Middleware = AgentMiddleware<undefined, undefined, unknown, readonly [], readonly []>
export type Handler = NonNullable<Middleware['wrapModelCall']>
export type Message = Parameters<Handler>[0]['messages'][number]
export type Answer = Extract<Awaited<ReturnType<Handler>>, Message>

/** The last answer of the state, and the messages before it. */
export function answerIn(messages: readonly Message[]) {
  const at = messages.findLastIndex(({ type }) => type === 'ai')
  const answer = messages[at]
  if (answer === undefined) return undefined
  const body = { messages: messages.slice(0, at).map(plain) }
  return { request: { format: 'langchain' as const, body }, answer: plain(answer) }
}

/** An answer in place of the model's. Undefined before the first answer of a model. */
export function answerOf(messages: readonly Message[], text: string): Answer | undefined {
  const other = messages.findLast(({ type }) => type === 'ai')
  return other && new (other.constructor as new (text: string) => Answer)(text)
}

/** The calls of the last message. `unreadable`: those with arguments that are no JSON. */
export function callsIn(messages: readonly Message[]): {
  calls: NonNullable<Answer['tool_calls']>
  unreadable: NonNullable<Answer['invalid_tool_calls']>
} {
  const { tool_calls: calls = [], invalid_tool_calls: unreadable = [] } = messages.at(-1) as Answer
  return { calls, unreadable }
}

/** LangChain turns plain messages into its own before each request. */
export function userMessage(content: string): Message {
  return { role: 'user', content } as unknown as Message
}

export function denialOfCall(id: string, name: string | undefined, content: string): Message {
  const message = { role: 'tool', tool_call_id: id, name, status: 'error', content }
  return message as unknown as Message
}

/** A message of a tool as failed: otherwise `returnDirect` would end the run with a denial. */
export function asFailed<Result extends object>(result: Result): Result {
  return 'status' in result || 'tool_call_id' in result
    ? Object.assign(result, { status: 'error' })
    : result
}

const fields = [
  ...['type', 'id', 'name', 'content', 'status', 'tool_call_id'],
  ...['tool_calls', 'invalid_tool_calls', 'usage_metadata', 'response_metadata'],
]

/** A message with its fields only. Some of them are getters of its class. */
export function plain(message: Message): object {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value: unknown = Reflect.get(message, field)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}
