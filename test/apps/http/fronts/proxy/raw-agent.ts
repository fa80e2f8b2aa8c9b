// An agent on raw requests: it runs each call of an answer itself, and shows all of them in its history.

import { messagesCase } from './requests.ts'

type Json = Record<string, unknown>

/** `history`: the messages that a request shows. `answered`: those that an answer and its results add. */
type RawApi = {
  path: string
  body(history: readonly Json[]): Json
  answered(answer: Json, result: string): { added: Json[]; calls: number; text: string }
}

const tool = (JSON.parse(messagesCase.first) as { tools: [{ input_schema: unknown }] }).tools[0]

const messages: RawApi = {
  path: '/v1/messages',
  body: (history) => ({ model: 'm', max_tokens: 10, tools: [tool], messages: history }),
  answered({ content }, result) {
    const blocks = content as Json[]
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: result,
    }))
    return {
      added: [
        { role: 'assistant', content },
        { role: 'user', content: results },
      ],
      calls: calls.length,
      text: blocks.map(({ text }) => text).join(''),
    }
  },
}

const chat: RawApi = {
  path: '/v1/chat/completions',
  body: (history) => ({
    model: 'm',
    tools: [{ type: 'function', function: { name: 'exec', parameters: tool.input_schema } }],
    messages: history,
  }),
  answered({ choices }, result) {
    const [{ message }] = choices as [{ message: Json }]
    const calls = (message.tool_calls ?? []) as Json[]
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }))
    return { added: [message, ...results], calls: calls.length, text: `${message.content ?? ''}` }
  },
}

const responses: RawApi = {
  path: '/v1/responses',
  body: (history) => ({
    model: 'm',
    store: false,
    tools: [{ type: 'function', name: 'exec', parameters: tool.input_schema, strict: false }],
    input: history,
  }),
  answered({ output }, result) {
    const items = output as Json[]
    const calls = items.filter(({ type }) => type === 'function_call')
    const results = calls.map(({ call_id }) => ({
      type: 'function_call_output',
      call_id,
      output: result,
    }))
    return { added: [...items, ...results], calls: calls.length, text: JSON.stringify(items) }
  },
}

export const rawApis = { messages, chat, responses }

export type RawAgent = {
  /** One request and its calls. Returns whether the agent goes on. */
  step(): Promise<boolean>
  requests(): number
  /** The headers `x-weir` of its answers, as far as they have one. */
  notes(): string[]
  text(): string
}

/** `window`: how many of the newest messages each request shows, after the first. */
export function rawAgent(
  url: string,
  { path, body, answered }: RawApi,
  { headers = {}, prompt = 'Look at the state.', result = 'clean', window = Infinity } = {},
): RawAgent {
  const history: Json[] = [{ role: 'user', content: prompt }]
  const notes: string[] = []
  let requests = 0
  let text = ''
  return {
    async step() {
      const shown = history.length <= window ? history : history.slice(-window)
      requests += 1
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer k', ...headers },
        body: JSON.stringify(body(shown)),
      })
      const note = response.headers.get('x-weir')
      if (note !== null) notes.push(note)
      const answer = (await response.json()) as Json
      if (response.status !== 200) throw new Error(JSON.stringify(answer))
      const { added, calls, text: newest } = answered(answer, result)
      history.push(...added)
      text = newest
      return calls > 0
    },
    requests: () => requests,
    notes: () => notes,
    text: () => text,
  }
}

/** Steps of all agents at once, until each has ended or has made `stepsMax` requests. */
export async function runTogether(agents: readonly RawAgent[], stepsMax = 12): Promise<void> {
  let going = [...agents]
  for (let n = 0; n < stepsMax && going.length > 0; n += 1) {
    const goesOn = await Promise.all(going.map((agent) => agent.step()))
    going = going.filter((_, at) => goesOn[at])
  }
}
