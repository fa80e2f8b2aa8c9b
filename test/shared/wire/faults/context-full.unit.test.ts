// Errors of servers for a request that does not fit, and similar wordings for other errors.

import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../../shared/contract/limits.ts'
import { hasMeaning } from '../../../../shared/wire/faults/fault-table.ts'
import { httpFailure, reportedError } from '../../../../shared/wire/faults/provider-errors.ts'
import { historyTooLarge } from '../../../../shared/wire/request/history-size.ts'
import { call, modelSays, result, userSays } from '../../../services/llm-gateway/samples.ts'

const full: [server: string, status: number, statement: string][] = [
  ['Anthropic', 400, 'prompt is too long: 213462 tokens > 200000 maximum'],
  [
    'Anthropic, with its output',
    400,
    'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length',
  ],
  ['Anthropic, by bytes', 413, 'Request exceeds the maximum size'],
  ['Bedrock', 400, 'Input is too long for requested model.'],
  [
    'OpenAI',
    400,
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.",
  ],
  [
    'OpenAI, newer',
    400,
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  [
    'vLLM',
    400,
    "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
  ],
  [
    'vLLM, of a prompt alone',
    400,
    'The decoder prompt (length 1567) is longer than the maximum model length of 1250. Make sure that max_model_len is no smaller.',
  ],
  [
    'vLLM since 0.16',
    400,
    "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens.",
  ],
  [
    'llama.cpp',
    400,
    'request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it',
  ],
  [
    'llama.cpp, older',
    500,
    'the request exceeds the available context size. try increasing the context size or enable context shift',
  ],
  ['Ollama', 400, 'the input length exceeds the context length'],
  [
    'LM Studio',
    400,
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)',
  ],
  [
    'LM Studio, inside a stream',
    400,
    'Trying to keep the first 5049 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ],
  ['LM Studio, later', 400, 'Context size has been exceeded.'],
  [
    'SGLang',
    400,
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  ],
  [
    'Mistral',
    400,
    'Prompt contains 150000 tokens, too large for model with 128000 maximum context length',
  ],
  [
    'xAI',
    400,
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
  ],
  [
    'Gemini',
    400,
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
  ],
  ['Kimi', 400, 'Your request exceeded model token limit: 262144 (requested: 300000)'],
  [
    'Text Generation Inference',
    422,
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
  ],
  ['a proxy', 413, '<html>413 Request Entity Too Large</html>'],
]

const other: [what: string, status: number, statement: string][] = [
  [
    'a rate that counts tokens',
    429,
    'Rate limit reached on tokens per min: maximum context length is not the matter. Limit 30000, Requested 40000',
  ],
  ['a quota', 400, 'Your credit balance is too low'],
  [
    'an output limit',
    400,
    'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens',
  ],
  ['a long name', 400, 'tools.0.name: String should have at most 64 characters'],
  ['a key', 401, 'invalid x-api-key'],
  ['a missing model', 404, 'model: context-window-model not found'],
  ['an overload', 529, 'Overloaded'],
]

describe('a full context', () => {
  it.each(full)('is recognized in the error of %s with status %i', (_, status, said) => {
    expect(
      httpFailure({ status, headers: undefined, words: [], statement: said }, ''),
    ).toMatchObject({
      kind: 'failed',
      class: 'context_full',
      retryable: false,
      reason: expect.stringContaining('begin a new conversation'),
    })
  })

  it.each(other)('is not %s', (_, status, said) => {
    expect(
      httpFailure({ status, headers: undefined, words: [], statement: said }, '').class,
    ).not.toBe('context_full')
  })

  it('is recognized by its code alone', () => {
    const said = 'no'
    for (const code of [
      'context_length_exceeded',
      'exceed_context_size_error',
      'request_too_large',
    ])
      expect(
        hasMeaning('context-full', { status: 400, words: [null, code], statement: said }),
      ).toBe(true)
    expect(
      hasMeaning('context-full', {
        status: 400,
        words: [undefined, 'invalid_request_error'],
        statement: said,
      }),
    ).toBe(false)
  })

  it('is known inside a stream too', () => {
    const error = { type: 'invalid_request_error', words: ['invalid_request_error'], refused: true }
    expect(
      reportedError({ ...error, message: 'prompt is too long: 9 tokens > 8 maximum' }),
    ).toMatchObject({
      class: 'context_full',
      retryable: false,
    })
    expect(reportedError({ ...error, message: 'no' })).toMatchObject({ class: 'refused' })
  })

  it("names the remedy first, then the provider's message without the key", () => {
    const { reason } = httpFailure(
      { status: 400, headers: undefined, words: [], statement: 'prompt is too long for key-1' },
      'key-1',
    )
    expect(reason).toBe(
      "the model's context is full; begin a new conversation, where tools return less, or use a model with a larger context " +
        '(the provider answered 400: prompt is too long for [key])',
    )
  })
})

describe("a conversation's history", () => {
  it('is sent up to its byte limit, for any content', () => {
    const half = 'é'.repeat(limits.historyBytesMax / 4)
    const called = modelSays(
      { calls: [call({ raw: half.slice(1) })] },
      { results: [result({ text: 'éé' })] },
    )
    expect(historyTooLarge([userSays(half), modelSays({ text: half })])).toBeUndefined()
    expect(historyTooLarge([userSays(half), called])).toMatchObject({
      class: 'context_full',
      retryable: false,
      reason: expect.stringContaining(
        `has ${limits.historyBytesMax + 2} bytes; at most ${limits.historyBytesMax} are sent`,
      ),
    })
  })
})
