// Writes an answer in the form of Chat Completions, whole or as the chunks of a stream.

import type { Usage } from '../../contract/messages.ts'
import {
  type AnswerCall,
  callsOfAnswer,
  freeTextOf,
  type ModelAnswer,
  textOfAnswer,
} from '../exchange.ts'
import type { Json } from '../format.ts'

export function writeCompletion(answer: ModelAnswer): Json {
  const { id, model, stop, finish, usage } = answer
  const calls = callsOfAnswer(answer)
  const message = {
    role: 'assistant',
    content: textOfAnswer(answer),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => entryOf(call)) }),
  }
  return {
    id,
    created: 0,
    model,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finish || finishOf[stop] }],
    usage: writeUsage(usage),
  }
}

const finishOf = {
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

export function chatEvents(answer: ModelAnswer): (Json | string)[] {
  const { id, model, stop, finish } = answer
  const chunk = (delta: Json, finish_reason: string | null) => ({
    id,
    created: 0,
    model,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  return [
    chunk({ role: 'assistant', content: textOfAnswer(answer) }, null),
    ...callsOfAnswer(answer).map((call, index) =>
      chunk({ tool_calls: [{ index, ...entryOf(call) }] }, null),
    ),
    chunk({}, finish || finishOf[stop]),
    '[DONE]',
  ]
}
