import { describe, expect, it } from '@jest/globals'
import { hasMeaning } from '../../../../shared/wire/faults/fault-table.ts'
import { httpFailure, reportedError } from '../../../../shared/wire/faults/provider-errors.ts'

describe('content that a provider declines', () => {
  it.each([
    'Output blocked by content filtering policy',
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt.",
    'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
    'Your chosen model requires moderation and your input was flagged for "violence". No credits were charged.',
    'Output data may contain inappropriate content.',
    'Content Exists Risk',
  ])('is known by its wording: %s', (said) =>
    expect(hasMeaning('declined', { status: 400, words: [], statement: said })).toBe(true),
  )

  it.each(['content_filter', 'content_policy_violation', 'data_inspection_failed'])(
    'is known by its code: %s',
    (code) =>
      expect(
        hasMeaning('declined', {
          status: 400,
          words: ['invalid_request_error', code],
          statement: 'no',
        }),
      ).toBe(true),
  )

  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    'content: field required',
    'messages: text content blocks must be non-empty',
    'tool_choice none is not supported by the content API',
  ])('is no other refusal: %s', (said) =>
    expect(
      hasMeaning('declined', { status: 400, words: ['invalid_request_error'], statement: said }),
    ).toBe(false),
  )

  const declined = {
    code: 'provider.refused',
    class: 'refused',
    retryable: false,
    retryAfterMs: null,
    reason: expect.stringMatching(
      /^the provider declines the content of this conversation \(the provider .*Content Exists Risk\)$/,
    ),
  }

  it('is not retried, neither before the answer nor in the middle of it', () => {
    const said = 'Content Exists Risk'
    expect(
      httpFailure({ status: 400, headers: undefined, words: [], statement: said }, ''),
    ).toMatchObject(declined)
    expect(
      reportedError({ type: 'api_error', words: [], message: said, refused: false }),
    ).toMatchObject(declined)
  })
})

it('a 429 that is about money and not about a rate is not tried again', () => {
  const words = ['insufficient_quota', 'insufficient_quota']
  const headers = new Headers({ 'retry-after': '1' })
  expect(
    httpFailure({ status: 429, headers, words, statement: 'You exceeded your current quota' }, ''),
  ).toMatchObject({
    class: 'refused',
    retryable: false,
    retryAfterMs: null,
  })
})
