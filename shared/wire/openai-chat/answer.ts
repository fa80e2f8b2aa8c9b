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

/** The thinking next to a text, which most servers of the format send. */
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

function argumentsIn(call: AnswerCall): string {
  return call.vendor?.type === 'custom' ? freeTextOf(call) : call.arguments
}

export function writeUsage(usage: Usage): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
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

/** Prints the chunks of an answer while it grows. `known`: members of all of its chunks. */
export function chunkWriter(known: Json) {
  const { id = 'weir', object = 'chat.completion.chunk', created = 0 } = known
  const head = { ...known, id, object, created }
  const chunk = (delta: Json, finish: string | null = null): Json => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return {
    begin: () => chunk({ role: 'assistant', content: '' }),
    text: (content: string) => chunk({ content }),
    reasoning: (text: string) => chunk({ reasoning_content: text }),
    calls: (calls: readonly AnswerCall[]) => calls.flatMap(callDeltas).map((delta) => chunk(delta)),
    end: (end: Pick<ModelAnswer, 'stop' | 'finish'>) => chunk({}, finishOf(end)),
    usage: (usage: Json): Json => ({ ...head, choices: [], usage }),
  }
}

/** The deltas of a whole call. */
function callDeltas(call: AnswerCall, index: number): Json[] {
  if (isOlder(call)) return [{ function_call: olderCall(call) }]
  const text = argumentsIn(call)
  const member = call.vendor?.type === 'custom' ? 'custom' : 'function'
  const piece = member === 'custom' ? { input: text } : { arguments: text }
  return [
    { tool_calls: [{ index, ...entryOf(call, '') }] },
    ...(text === '' ? [] : [{ tool_calls: [{ index, [member]: piece }] }]),
  ]
}

export function errorChunk(code: string, message: string, type = 'server_error'): Json {
  return { error: { message, type, param: null, code } }
}

export const lastChunk = '[DONE]'

export function chatEvents(answer: ModelAnswer): (Json | string)[] {
  const { id, model } = answer
  const write = chunkWriter({ id, model })
  const text = textOfAnswer(answer)
  return [
    write.begin(),
    ...(text === '' ? [] : [write.text(text)]),
    ...write.calls(callsOfAnswer(answer)),
    write.end(answer),
    lastChunk,
  ]
}
