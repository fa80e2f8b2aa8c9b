// The token counts of providers, as far as they can be read.

import { describe, expect, it } from '@jest/globals'
import { messagesUsage } from '../../../shared/wire/anthropic/usage.ts'
import { usageOf } from '../../../shared/wire/openai-chat/usage.ts'
import { responsesUsage } from '../../../shared/wire/openai-responses/usage.ts'

const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
const unreadable = [1e308, -100_000, 1.5, 2 ** 60, '7', {}, true]

describe('the usage of a provider', () => {
  it('has its counts, and absent ones are 0', () => {
    expect(usageOf({ prompt_tokens: 7, completion_tokens: 2, total_tokens: null })).toEqual({
      ...none,
      inputTokens: 7,
      outputTokens: 2,
    })
    expect(responsesUsage({ input_tokens: 7 })).toEqual({ ...none, inputTokens: 7 })
    expect(messagesUsage({ output_tokens: 2, cache_read_input_tokens: null })).toEqual({
      outputTokens: 2,
    })
  })

  it.each(unreadable)('counts nothing if one of its counts is %p', (count) => {
    expect(usageOf({ prompt_tokens: count, completion_tokens: 1 })).toEqual(none)
    expect(usageOf({ prompt_tokens: 7, completion_tokens: count })).toEqual(none)
    expect(usageOf({ prompt_tokens: 7, completion_tokens: 1, total_tokens: count })).toEqual(none)
    expect(responsesUsage({ input_tokens: count, output_tokens: 1 })).toEqual(none)
    expect(responsesUsage({ input_tokens: 7, output_tokens: count })).toEqual(none)
    expect(messagesUsage({ input_tokens: count, output_tokens: 1 })).toEqual(none)
    expect(messagesUsage({ cache_creation_input_tokens: count, output_tokens: 1 })).toEqual(none)
  })
})
