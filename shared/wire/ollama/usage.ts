// Ollama's token counts in our terms. They are members of the last object of an answer.

import type { Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import type { Json } from '../format.ts'
import { countOf, isUnreadable } from '../token-count.ts'

const times = ['total_duration', 'load_duration', 'prompt_eval_duration', 'eval_duration']

/** The counts and times in an object. Undefined: it has none. */
export function countsIn(answer: Json): Json | undefined {
  const names = ['prompt_eval_count', 'eval_count', ...times]
  const counts = Object.entries(answer).filter(([name]) => names.includes(name))
  return counts.length === 0 ? undefined : Object.fromEntries(counts)
}

export function ollamaUsage({ prompt_eval_count: input, eval_count: output }: Json): Usage {
  if (isUnreadable(input) || isUnreadable(output)) return noUsage
  return { ...noUsage, inputTokens: countOf(input), outputTokens: countOf(output) }
}

export function countsOf({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: Usage): Json {
  return {
    prompt_eval_count: inputTokens + cacheReadTokens + cacheWriteTokens,
    eval_count: outputTokens,
  }
}
