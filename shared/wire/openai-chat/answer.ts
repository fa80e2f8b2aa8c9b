// Writes an answer in the form of Chat Completions, whole or as the chunks of a stream.

import type { Usage } from '../../contract/messages.ts'
import {
  type AnswerCall,
  type AnswerItem,
  callsOfAnswer,
  freeTextOf,
  type ModelAnswer,
  textOfAnswer,
} from '../exchange.ts'
import type { Json } from '../format.ts'

export function writeCompletion(answer: ModelAnswer, created = 0): Json {
  const { id, model, usage } = answer
  const calls = callsOfAnswer(answer)
  const text = textOfAnswer(answer)
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls.map((call) => entryOf(call)) }),
    ...reasoningIn(answer),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(answer) }
  const usageSent = writeUsage(usage)
  return { id, object: 'chat.completion', created, model, choices: [choice], usage: usageSent }
}

/** The thinking beside a text, which most servers of the format send. */
export function reasoningItem(text: string): AnswerItem {
  return { kind: 'vendor', vendor: { reasoning_content: text } }
}

function reasoningIn({ items }: ModelAnswer): Json {
  return Object.assign({}, ...items.map((item) => (item.kind === 'vendor' ? item.vendor : {})))
}

function finishOf({ stop, finish }: Pick<ModelAnswer, 'stop' | 'finish'>): string | null {
  return finish || finishReasons[stop]
}

const finishReasons = {
  end: 'stop',
  calls: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  other: 'stop',
  cut: null,
}

/** A call of the first form, which an answer had once and without an id. */
export function isOlder({ vendor }: AnswerCall): boolean {
  return vendor?.isOlder === true
}

export function olderCall({ name, arguments: text }: AnswerCall): Json {
  return { name, arguments: text }
}

/** An entry of `tool_calls`. `text`: its arguments. */
export function entryOf(call: AnswerCall, text = argumentsIn(call)): Json {
  const { id, name, vendor } = call
  if (isOlder(call)) return { id, type: 'function', function: { name, arguments: text } }
  return vendor?.type === 'custom'
    ? { id, ...vendor, custom: { name, input: text } }
    : { id, type: 'function', ...vendor, function: { name, arguments: text } }
}

export function argumentsIn(call: AnswerCall): string {
  return call.vendor?.type === 'custom' ? freeTextOf(call) : call.arguments
}

function writeUsage({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Json {
  const prompt = inputTokens + cacheReadTokens + cacheWriteTokens
  return {
    prompt_tokens: prompt,
    completion_tokens: outputTokens,
    total_tokens: prompt + outputTokens,
    ...(prompt > inputTokens && {
      prompt_tokens_details: {
        cached_tokens: cacheReadTokens,
        ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
      },
    }),
  }
}

/** Prints the chunks of an answer while it grows. `created`: seconds since 1970. */
export function chunkWriter(head: { id: string; model: string; created: number }) {
  const { id, model, created } = head
  const chunkOf = (choices: Json[]) => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    choices,
  })
  const chunk = (delta: Json, finish: string | null = null): Json =>
    chunkOf([{ index: 0, delta, logprobs: null, finish_reason: finish }])
  return {
    begin: () => chunk({ role: 'assistant', content: '' }),
    text: (content: string) => chunk({ content }),
    reasoning: (text: string) => chunk({ reasoning_content: text }),
    calls: (calls: readonly AnswerCall[]) =>
      chunk({ tool_calls: calls.map((call, index) => ({ index, ...entryOf(call) })) }),
    end: (end: Pick<ModelAnswer, 'stop' | 'finish'>) => chunk({}, finishOf(end)),
    usage: (usage: Usage): Json => ({ ...chunkOf([]), usage: writeUsage(usage) }),
  }
}

export const lastChunk = '[DONE]'

export function chatEvents(answer: ModelAnswer): (Json | string)[] {
  const write = chunkWriter({ ...answer, created: 0 })
  const text = textOfAnswer(answer)
  const calls = callsOfAnswer(answer)
  return [
    write.begin(),
    ...(text === '' ? [] : [write.text(text)]),
    ...(calls.length === 0 ? [] : [write.calls(calls)]),
    write.end(answer),
    lastChunk,
  ]
}
