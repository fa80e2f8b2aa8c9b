// The prompts, answers and streams of AI SDK 7 in a guest.
// Each call carries its round, its argument text and its refusal in `providerMetadata.weir`,
// which comes back as `providerOptions.weir` in the next prompt.
// The model reads Weir's refusal in place of the SDK's own error.
// The calls of a stream are held until its end, because the SDK starts each as it comes.
// A stream without an end starts none.

import type { LanguageModelMiddleware } from 'ai'
import { weirIn } from './weir-member.ts'

type Generate = NonNullable<LanguageModelMiddleware['wrapGenerate']>
type Result = Awaited<ReturnType<Generate>>
type Stream = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>['stream']
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never
type ToolCall = Extract<Content, { type: 'tool-call' }>
export type Params = Parameters<Generate>[0]['params']
export type Content = Result['content'][number]
export type Finish = Pick<Result, 'finishReason' | 'usage'>

export function withWeir(call: ToolCall, kept: { round: string; refusal?: string }): ToolCall {
  const weir = { ...kept, input: call.input }
  return { ...call, providerMetadata: { ...call.providerMetadata, weir } }
}

/** The prompt for the model. */
export function shownPrompt(prompt: Params['prompt']): Params['prompt'] {
  const refusals = new Map<string, unknown>()
  return prompt.map((message) => {
    if (message.role === 'assistant')
      for (const part of message.content)
        if (part.type === 'tool-call') refusals.set(part.toolCallId, weirIn(part).refusal)
    if (message.role !== 'tool') return message
    const content = message.content.map((part) => {
      const value = part.type === 'tool-result' ? refusals.get(part.toolCallId) : undefined
      return typeof value === 'string'
        ? { ...part, output: { type: 'error-text', value } as const }
        : part
    })
    return { ...message, content } as typeof message
  })
}

/** The answer with a call, and its request. */
export function roundWith(callId: string, messages: { role: string; content: unknown }[]) {
  const at = messages.findLastIndex(
    ({ role, content }) =>
      role === 'assistant' &&
      Array.isArray(content) &&
      content.some((part) => part.type === 'tool-call' && part.toolCallId === callId),
  )
  const answer = messages[at]
  const request = { format: 'ai-sdk' as const, body: { messages: messages.slice(0, at) } }
  return answer && { request, answer: { content: answer.content } }
}

/** Passes texts at once, and the calls with the answer's end. */
export function heldUntilFinish(
  finish: (part: Finish) => Finish,
  judged: (answer: Finish & { content: Content[] }) => Promise<Content[]>,
): TransformStream<StreamPart, StreamPart> {
  const texts = new Map<string, Extract<Content, { type: 'text' }>>()
  const content: Content[] = []
  const held: StreamPart[] = []
  return new TransformStream({
    async transform(part, controller) {
      if (part.type === 'finish') {
        const calls = await judged({ content, finishReason: part.finishReason, usage: part.usage })
        for (const one of held)
          controller.enqueue(one.type === 'tool-call' ? callIn(calls, content, one) : one)
        controller.enqueue({ ...part, ...finish(part) })
        return
      }
      if (part.type === 'text-start') {
        const text = { type: 'text' as const, text: '' }
        texts.set(part.id, text)
        content.push(text)
      }
      const text = part.type === 'text-delta' ? texts.get(part.id) : undefined
      if (text !== undefined && part.type === 'text-delta') text.text += part.delta
      if (part.type === 'tool-call') content.push(part)
      if (part.type === 'tool-call' || held.length > 0) held.push(part)
      else controller.enqueue(part)
    },
  })
}

function callIn(judged: Content[], content: Content[], call: ToolCall): ToolCall {
  const part = judged[content.indexOf(call)]
  return part?.type === 'tool-call' ? part : call
}

const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 }

/** The end of an answer that Weir gives in place of the model. */
export const ended: Finish = {
  finishReason: { unified: 'stop', raw: undefined },
  usage: { inputTokens: none, outputTokens: { total: 0, text: 0, reasoning: 0 } },
}

export function endedStream(text: string, finish: Finish): Stream {
  return ReadableStream.from<StreamPart>([
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 'weir' },
    { type: 'text-delta', id: 'weir', delta: text },
    { type: 'text-end', id: 'weir' },
    { type: 'finish', ...finish },
  ])
}

export function userMessage(text: string): Params['prompt'][number] {
  return { role: 'user', content: [{ type: 'text', text }] }
}

/** The SDK's `openai.responses` in the terms of Weir: `openai-responses`. */
export function priceList(provider: string): string {
  const [name = '', api] = provider.split('.')
  return name === 'openai' && api !== undefined ? `${name}-${api}` : name
}
