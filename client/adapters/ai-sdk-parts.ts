// The prompts, answers and streams of AI SDK 7, as a guest's history.
// The SDK's history shows `{}` for arguments that are no object, and its schema's output for others.
// PARTS-1. A prompt is judged with the model's own argument texts. Each call carries its text in
//     `providerMetadata.weir`, which comes back as `providerOptions.weir` in the next prompt.
// PARTS-2. The model reads Weir's refusal in place of the SDK's own error.
// PARTS-3. The calls of a stream are held until its end, because the SDK starts each as it comes.
//     A stream without an end starts none.

import type { LanguageModelMiddleware } from 'ai'
import { isObject } from '../../shared/lib/json/json-object.ts'
import type { ToJudge } from './call-verdict.ts'

type Generate = NonNullable<LanguageModelMiddleware['wrapGenerate']>
type Result = Awaited<ReturnType<Generate>>
type Stream = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>['stream']
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never
type ToolCall = Extract<Content, { type: 'tool-call' }>
export type Params = Parameters<Generate>[0]['params']
export type Content = Result['content'][number]
export type Finish = Pick<Result, 'finishReason' | 'usage'>

/** The content of a call's `providerMetadata.weir`. */
type Weir = { round?: unknown; input?: unknown; refusal?: unknown }

export function withWeir(call: ToolCall, kept: { round: string; refusal?: string }): ToolCall {
  const weir = { ...kept, input: call.input }
  return { ...call, providerMetadata: { ...call.providerMetadata, weir } }
}

export function weirOf(part: object): Weir {
  const metadata =
    ('providerOptions' in part && part.providerOptions) ||
    ('providerMetadata' in part && part.providerMetadata)
  return isObject(metadata) && isObject(metadata.weir) ? metadata.weir : {}
}

/** `messages`: for Weir (PARTS-1). `shown`: for the model (PARTS-2). */
export function historyOf(prompt: Params['prompt']): {
  messages: Params['prompt']
  shown: Params['prompt']
} {
  const refusals = new Map<string, string>()
  const messages: Params['prompt'] = []
  const shown: Params['prompt'] = []
  for (const message of prompt) {
    messages.push(message.role === 'assistant' ? asWritten(message) : message)
    if (message.role === 'assistant')
      for (const part of message.content) {
        if (part.type !== 'tool-call') continue
        const { refusal } = weirOf(part)
        if (typeof refusal === 'string') refusals.set(part.toolCallId, refusal)
        else refusals.delete(part.toolCallId)
      }
    if (message.role !== 'tool') {
      shown.push(message)
      continue
    }
    const content = message.content.map((part) => {
      const value = part.type === 'tool-result' ? refusals.get(part.toolCallId) : undefined
      return value === undefined
        ? part
        : { ...part, output: { type: 'error-text', value } as const }
    }) as typeof message.content
    shown.push({ ...message, content })
  }
  return { messages, shown }
}

function asWritten<M extends { content: unknown }>(message: M): M {
  if (!Array.isArray(message.content)) return message
  const content = message.content.map((part) => {
    const { input } = weirOf(part)
    return typeof input === 'string' ? { ...part, input } : part
  })
  return { ...message, content }
}

/** The answer with a call, if a person allowed it in the SDK and a later process runs it. */
export function roundIn(
  messages: { role: string; content: unknown }[],
  callId: string,
): ToJudge | undefined {
  const history = messages.map(asWritten)
  const at = history.findLastIndex(
    ({ role, content }) =>
      role === 'assistant' &&
      Array.isArray(content) &&
      content.some((part) => part.type === 'tool-call' && part.toolCallId === callId),
  )
  const answer = history[at]
  const request = { format: 'ai-sdk' as const, body: { messages: history.slice(0, at) } }
  return answer && { answer: { request, answer: { content: answer.content } }, signal: undefined }
}

/** Passes texts at once, and the calls with the answer's end (PARTS-3). */
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
