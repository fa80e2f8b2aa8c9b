// The words in which servers say why a response ended, in our vocabulary. One list for all formats: gateways pass on the words of the server behind
// them, whatever format they speak themselves.

import type { Stop } from '../../shared/messages.ts'

/** `failed`: the server could not finish the response, so it is none. */
type Meaning = Exclude<Stop, 'cut' | 'other'> | 'failed'

const words: Record<Meaning, string[]> = {
  end: ['stop', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'completed'],
  calls: ['tool_use', 'tool_calls', 'function_call'],
  length: [
    'length',
    'max_tokens',
    'model_length',
    'max_output_tokens',
    'max_completion_tokens',
    'token_limit',
    'model_context_window_exceeded',
  ],
  refusal: ['refusal', 'content_filter', 'content_filtered', 'guardrail_intervened', 'safety', 'sensitive'],
  failed: ['error', 'network_error', 'abort', 'aborted', 'cancelled', 'canceled', 'timeout', 'insufficient_system_resource'],
}

const meanings = new Map(Object.entries(words).flatMap(([meaning, all]) => all.map((word) => [word, meaning as Meaning])))

/** What a word means, whatever its case; undefined: nobody has told us. */
export function meaningOf(word: string): Meaning | undefined {
  return meanings.get(word.toLowerCase())
}
