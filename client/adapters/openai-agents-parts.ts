// The requests and answers of OpenAI Agents, as a guest's.

import type { Model } from '@openai/agents'

export type Request = Parameters<Model['getResponse']>[0]
export type Response = Awaited<ReturnType<Model['getResponse']>>
export type Item = Exclude<Request['input'], string>[number]
type Stream = ReturnType<Model['getStreamedResponse']>
export type StreamEvent = Stream extends AsyncIterable<infer Event> ? Event : never

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

/** The identity of a call, as far as the SDK knows one. */
export function wordsOf({
  callId,
  name,
  arguments: text,
}: Extract<Item, { type: 'function_call' }>) {
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
