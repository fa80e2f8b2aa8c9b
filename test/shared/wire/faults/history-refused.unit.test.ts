import { describe, expect, it } from '@jest/globals'
import { llmGateway } from '../../../../services/llm-gateway/reducer.ts'
import type { AttemptFailed } from '../../../../shared/contract/messages.ts'
import { hasMeaning } from '../../../../shared/wire/faults/fault-table.ts'
import { at, given } from '../../../support/given.ts'
import { modelRequest } from '../../../support/messages.ts'

describe('a refusal of a history whose calls and results do not go together', () => {
  it.each([
    'messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    'messages.3.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_01',
    'messages: `tool_use` ids must be unique',
    'messages.54: Did not find 2 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.',
    'Expected toolResult blocks at messages.2.content for the following Ids: tooluse_abc',
    'The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.',
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1`,
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    'No tool output found for function call call_abc.',
    'No tool call found for function call output with call_id call_abc.',
    'Not the same number of function calls and responses',
    "Unexpected role 'user' after role 'tool'",
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    'Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.',
    'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    'Please ensure that function response turn comes immediately after a function call turn.',
  ])('is known by its words: %s', (said) => {
    expect(hasMeaning('history', { status: 400, statement: said })).toBe(true)
    expect(hasMeaning('history', { status: undefined, statement: said })).toBe(true)
    expect(hasMeaning('history', { status: 429, statement: said })).toBe(false)
  })

  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    'tools.0.custom.input_schema: JSON schema is invalid',
    'messages: text content blocks must be non-empty',
    'Invalid value for tool_choice',
    'max_tokens: must be greater than thinking.budget_tokens',
  ])('is no other refusal: %s', (said) =>
    expect(hasMeaning('history', { status: 400, statement: said })).toBe(false),
  )
})

const refused = (attempt: string, fields: Partial<AttemptFailed> = {}): AttemptFailed => ({
  type: 'attempt-failed',
  conversation: 'c',
  turn: 0,
  round: 1,
  attempt,
  reason: 'the history is refused',
  class: 'refused',
  retryable: false,
  retryAfterMs: 60_000,
  historyRefused: true,
  historyShortened: false,
  toolsRefused: false,
  reasoningRefused: 'none',
  ...fields,
})

describe('a history that the provider refuses', () => {
  const settings = { ...modelRequest().settings, attempts: 1 }
  const open = given(llmGateway, at(100, modelRequest({ settings })))
  const again = open.when(at(200, refused('a')))

  it('is rebuilt and sent again at once, even without attempts left', () => {
    expect(again.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(again.wants).toMatchObject([{ key: 'attempt 1', rebuilt: true }])
  })

  it('ends the round where it is refused rebuilt, too', () => {
    const ended = again.when(
      at(300, refused('b', { historyRefused: false, reason: 'also rebuilt' })),
    )
    expect(ended.to('response')).toMatchObject([
      { type: 'model-finished', failure: { class: 'refused', reason: 'also rebuilt' } },
    ])
  })

  it('is not given up for an attempt that was on its way before', () => {
    const late = again.when(at(300, refused('zombie')))
    expect(late.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(late.wants).toMatchObject([{ rebuilt: true }])
  })

  it('and that no tool may be called are two refusals: each is answered once', () => {
    const plain = again.when(at(300, refused('b', { historyRefused: false, toolsRefused: true })))
    expect(plain.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    expect(plain.wants).toMatchObject([{ key: 'attempt 2', rebuilt: true, plain: true }])
    expect(plain.when(at(400, refused('zombie', { toolsRefused: true }))).wants).toMatchObject([
      { key: 'attempt 3' },
    ])
    const ended = plain.when(
      at(400, refused('c', { historyRefused: false, reason: 'also in plain text' })),
    )
    expect(ended.to('response')).toMatchObject([
      { failure: { class: 'refused', reason: 'also in plain text' } },
    ])
  })

  it('costs no try, and neither does a refusal of the request without tools', () => {
    const three = given(
      llmGateway,
      at(100, modelRequest({ settings: { ...modelRequest().settings, attempts: 2 } })),
      at(200, refused('a')),
      at(300, refused('b', { historyRefused: false, toolsRefused: true })),
    )
    const overloaded = { historyRefused: false, retryable: true, retryAfterMs: 0 }
    const first = three.when(at(400, refused('c', { ...overloaded, class: 'provider' })))
    expect(first.records).toMatchObject([{ message: { type: 'model-retry', waitMs: 0 } }])
    const second = first.when(at(500, refused('d', { ...overloaded, class: 'provider' })))
    expect(second.to('response')).toMatchObject([{ failure: { class: 'provider' } }])
  })

  it('is not sent again after the turn has expired', () => {
    const expired = open.when(at(1_000_000, refused('a')))
    expect(expired.to('response')).toMatchObject([
      { type: 'model-finished', failure: { class: 'budget' } },
    ])
  })
})
