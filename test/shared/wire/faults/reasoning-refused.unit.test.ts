import { describe, expect, it } from '@jest/globals'
import { isAnswerable } from '../../../../services/llm-gateway/performer/accepted-form.ts'
import { llmGateway } from '../../../../services/llm-gateway/reducer.ts'
import type { AttemptFailed, ReasoningRefusal } from '../../../../shared/contract/messages.ts'
import { reasoningRefusalIn } from '../../../../shared/wire/faults/fault-table.ts'
import { modelSays, userSays } from '../../../services/llm-gateway/samples.ts'
import { at, given } from '../../../support/given.ts'
import { modelRequest } from '../../../support/messages.ts'

const refusals: [ReasoningRefusal, string][] = [
  [
    'missing',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  ],
  [
    'missing',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 108 (request id: 2026042308)',
  ],
  ['missing', 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
  ['missing', 'The `content[].thinking` in the thinking mode must be passed back to the API.'],
  ['missing', 'Missing `reasoning_content` field in the assistant message at message index 2.'],
  ['missing', 'messages[51]: assistant message with tool_calls must include reasoning_content.'],
  [
    'missing',
    'messages.129.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
  ],
  [
    'missing',
    '{"detail":[{"type":"missing","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Field required"}]}',
  ],
  [
    'unsigned',
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
  ],
  [
    'unaccepted',
    "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
  ],
  [
    'unaccepted',
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]",
  ],
  [
    'unaccepted',
    '{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning"],"msg":"Extra inputs are not permitted"}]}',
  ],
  ['unaccepted', 'messages.1.content.0.thinking: Extra inputs are not permitted'],
  [
    'unaccepted',
    'Invalid JSON payload received. Unknown name "reasoning_details" at \'messages[1]\': Cannot find field.',
  ],
  ['unaccepted', "Unknown parameter: 'input[2].phase'."],
  ['damaged', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ['damaged', 'messages.1.content.0.thinking.signature: Field required'],
  [
    'damaged',
    '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
  ],
  ['damaged', 'The encrypted content gAAA...DQ== could not be verified.'],
  [
    'damaged',
    'The encrypted content for item rs_0a1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
  ],
  ['damaged', "Item 'rs_1' of type 'reasoning' was provided without its required following item."],
  ['damaged', 'Corrupted thought signature.'],
]

describe('a refusal of reasoning', () => {
  it.each(refusals)('is %s: %s', (kind, statement) => {
    expect(reasoningRefusalIn({ status: 400, statement })).toBe(kind)
    expect(reasoningRefusalIn({ status: 422, statement })).toBe(kind)
    expect(reasoningRefusalIn({ status: undefined, statement })).toBe(kind)
    expect(reasoningRefusalIn({ status: 502, statement: `upstream: 400 ${statement}` })).toBe(kind)
    for (const status of [401, 403, 429, 529])
      expect(reasoningRefusalIn({ status, statement })).toBe('none')
  })

  it.each([
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "Unsupported parameter: 'reasoning_effort'.",
    'max_tokens: must be greater than thinking.budget_tokens',
    'messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01.',
    'prompt is too long: 213462 tokens > 200000 maximum',
    'tools.0: Extra inputs are not permitted',
    "Missing required parameter: 'messages[1].tool_calls[0].id'.",
    'no such model',
    "The validation phase found an unknown parameter: 'foo'.",
  ])('is no other refusal: %s', (statement) => {
    expect(reasoningRefusalIn({ status: 400, statement })).toBe('none')
  })

  it('is answered only if the request would change', () => {
    const silent = [userSays('hello')]
    const thought = [...silent, modelSays({ reasoning: '[{"model":"m"}]' })]
    for (const kind of ['missing', 'unsigned', 'unaccepted', 'damaged'] as const) {
      expect(isAnswerable(kind, silent)).toBe(false)
      expect(isAnswerable(kind, thought)).toBe(true)
    }
    expect(isAnswerable('unaccepted', [...silent, modelSays({ text: 'x' })])).toBe(false)
    expect(isAnswerable('missing', [...silent, modelSays({ text: 'x' })])).toBe(true)
    expect(isAnswerable('none', thought)).toBe(false)
  })
})

const failed = (attempt: string, fields: Partial<AttemptFailed> = {}): AttemptFailed => ({
  type: 'attempt-failed',
  conversation: 'c',
  turn: 0,
  round: 1,
  attempt,
  reason: 'refused',
  class: 'refused',
  retryable: false,
  retryAfterMs: 60_000,
  historyRefused: false,
  historyShortened: false,
  toolsRefused: false,
  reasoningRefused: 'none',
  ...fields,
})
const overloaded = { class: 'transient', retryable: true, retryAfterMs: 0 } as const

describe('a round whose reasoning the provider refuses', () => {
  const open = (attempts: number) =>
    given(llmGateway, at(100, modelRequest({ settings: { ...modelRequest().settings, attempts } })))
  const again = open(1).when(at(200, failed('a', { reasoningRefused: 'missing' })))

  it('wants an attempt at once that answers the refusal, even without tries left', () => {
    expect(again.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(again.wants).toMatchObject([
      { key: 'attempt 1', reasoningRefused: 'missing', rebuilt: false, plain: false },
    ])
  })

  it('keeps all its tries, because the refused request is none', () => {
    const refused = open(2).when(at(200, failed('a', { reasoningRefused: 'unaccepted' })))
    const once = refused.when(at(300, failed('b', overloaded)))
    expect(once.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(once.state).toMatchObject({ reasoningRefused: 'unaccepted' })
    expect(once.when(at(400, failed('c', overloaded))).to('response')).toMatchObject([
      { failure: { class: 'transient' } },
    ])
  })

  it('ends if the request is refused in that form, too', () => {
    expect(again.when(at(300, failed('b'))).to('response')).toMatchObject([
      { failure: { class: 'refused' } },
    ])
  })

  it('keeps the first answer when an earlier attempt reports another refusal late', () => {
    const late = again.when(at(300, failed('zombie', { reasoningRefused: 'unaccepted' })))
    expect(late.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(late.wants).toMatchObject([{ reasoningRefused: 'missing' }])
  })

  it('also rebuilds a refused history once', () => {
    const both = again.when(at(300, failed('b', { historyRefused: true })))
    expect(both.wants).toMatchObject([{ reasoningRefused: 'missing', rebuilt: true }])
    expect(both.when(at(400, failed('c'))).to('response')).toMatchObject([
      { failure: { class: 'refused' } },
    ])
  })
})
