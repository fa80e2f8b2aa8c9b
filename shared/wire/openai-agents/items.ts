// The requests and answers of OpenAI Agents in a guest.

import type { Model } from '@openai/agents'

export type Request = Parameters<Model['getResponse']>[0]
export type Response = Awaited<ReturnType<Model['getResponse']>>
type Item = Exclude<Request['input'], string>[number]
type Stream = ReturnType<Model['getStreamedResponse']>
type StreamEvent = Stream extends AsyncIterable<infer Event> ? Event : never

/** A handoff is a call of the model too. */
export function offered({ tools, handoffs }: Request): object[] {
  return [
    ...tools,
    ...handoffs.map(({ toolName: name, toolDescription: description, inputJsonSchema }) => ({
      type: 'function',
      name,
      description,
      parameters: inputJsonSchema,
    })),
  ]
}

type Call = Extract<Item, { type: 'function_call' }>

export function callsIn(output: Response['output']): Call[] {
  return output.filter((item) => item.type === 'function_call')
}

/** The identity of a call, as far as the SDK knows one. */
export function wordsOf({ callId, name, arguments: text }: Call) {
  return JSON.stringify([callId, name, text])
}

/** An answer in place of the model's. */
export function endOf(text: string): Response {
  return {
    usage: { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 } as Response['usage'],
    output: [
      {
        type: 'message',
        id: 'weir',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text }],
      } as Response['output'][number],
    ],
  }
}

export function endedStream(end: Response): StreamEvent {
  return { type: 'response_done', response: { ...end, id: 'weir' } } as StreamEvent
}

/**
 * The input for the model: with the denials of calls as their results, and with `text` of the user at
 * the end, if there is one. `denial`: by `wordsOf`.
 */
export function shownInput(
  input: Request['input'],
  text: string,
  denial: (words: string) => string | undefined,
): Request['input'] {
  if (typeof input === 'string') return text === '' ? input : [userItem(input), userItem(text)]
  const texts = new Map<string, string | undefined>()
  const items = input.map((item) => {
    if (item.type === 'function_call') texts.set(item.callId, denial(wordsOf(item)))
    const shown = item.type === 'function_call_result' ? texts.get(item.callId) : undefined
    return shown === undefined ? item : ({ ...item, output: { type: 'text', text: shown } } as Item)
  })
  return text === '' ? items : [...items, userItem(text)]
}

function userItem(content: string): Item {
  return { type: 'message', role: 'user', content }
}
