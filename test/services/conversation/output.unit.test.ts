// A reply that must fit a schema.

import { describe, expect, it } from '@jest/globals'
import { judgedOutput } from '../../../services/conversation/output.ts'
import { conversation } from '../../../services/conversation/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { outputNudge } from '../../../shared/model-texts/requests.ts'
import { at, given } from '../../support/given.ts'
import { fallback, intervention, only, outcome, says, settingsWith } from './samples.ts'

const schema = JSON.stringify({
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
})
const settings = settingsWith({}, { output: schema })
const opened = given(conversation, at(1_000, says('m', { settings })))
const replies = (...texts: string[]) =>
  texts.reduce((folded, text, n) => folded.when(at(2_000 + n, outcome(0, n + 1, { text }))), opened)

describe('a judged output', () => {
  it.each([
    ['JSON that fits', '{"city":"Ulm"}', '{"city":"Ulm"}'],
    ['JSON in a code fence', '```json\n{"city":"Ulm"}\n```', '{"city":"Ulm"}'],
    ['JSON between blanks', ' \n{"city":"Ulm"}\n', '{"city":"Ulm"}'],
  ])('accepts %s', (_, reply, text) => {
    expect(judgedOutput(reply, schema)).toEqual({ text })
  })

  it.each([
    ['prose', 'Ulm is nice.', 'it is not one JSON value'],
    ['prose beside JSON', 'Here: {"city":"Ulm"}', 'it is not one JSON value'],
    ['a missing field', '{}', "missing required field 'city'"],
    [
      'two mistakes',
      '{"days":"two"}',
      "missing required field 'city'; field 'days' must be integer",
    ],
  ])('refuses %s and names the problem', (_, reply, problem) => {
    expect(judgedOutput(reply, schema)).toEqual({ problem })
  })
})

describe('a turn with an output', () => {
  it('ends with the JSON of the first reply that fits', () => {
    const { records } = replies('```\n{"city":"Ulm"}\n```')
    expect(only(records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: '{"city":"Ulm"}',
    })
  })

  it('requests the answer again with the problem, and keeps the wrong one in the history', () => {
    const { records } = replies('Ulm!')
    expect(only(records, 'model-request')).toMatchObject({
      round: 2,
      nudge: outputNudge('it is not one JSON value'),
      settings: { output: schema },
    })
    expect(only(records, 'history-entry')).toMatchObject({ response: { text: 'Ulm!' } })
    expect(only(replies('Ulm!', '{"city":"Ulm"}').records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: '{"city":"Ulm"}',
    })
  })

  it('fails with the fallback after two further answers that do not fit', () => {
    expect(limits.outputRetriesMax).toBe(2)
    const { records } = replies('a', '{}', '{"days":1}')
    expect(only(records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
      reply: fallback,
      reason: "the reply is not the required output: missing required field 'city'",
    })
  })

  it('judges a reply even if the loop-detector intervenes, and passes its text on', () => {
    const found = intervention('nudge')
    const { records } = opened.when(at(2_000, outcome(0, 1, { text: 'Ulm!', intervention: found })))
    expect(only(records, 'model-request').nudge).toBe(
      `${found.text}\n\n${outputNudge('it is not one JSON value')}`,
    )
    const fits = opened.when(
      at(2_000, outcome(0, 1, { text: '{"city":"Ulm"}', intervention: found })),
    )
    expect(only(fits.records, 'turn-finished')).toMatchObject({ outcome: 'answered' })
  })

  it('names the cap if it leaves no further round', () => {
    const few = settingsWith({ rounds: 1 }, { output: schema })
    const folded = given(conversation, at(1_000, says('m', { settings: few })))
    const { records } = folded.when(at(2_000, outcome(0, 1, { text: 'Ulm!', caps: { rounds: 1 } })))
    expect(only(records, 'turn-finished')).toMatchObject({ outcome: 'capped', cap: 'rounds' })
  })

  it('calls tools before its answer like any turn', () => {
    const { records } = opened.when(at(2_000, outcome(0, 1, { calls: 1 })))
    expect(only(records, 'model-request')).toMatchObject({ round: 2, nudge: null })
  })
})

describe('a message', () => {
  it.each([
    [
      'an output that is no schema',
      { output: '{"type":"obj"}' },
      /settings\.output is an unusable/,
    ],
    [
      'an output that is too large',
      { output: ' '.repeat(limits.schemaBytesMax + 1) },
      /settings\.output has/,
    ],
    [
      'a context that is too large',
      { context: 'x'.repeat(limits.recordedContextBytesMax + 1) },
      /settings\.context has/,
    ],
    [
      'too many instructions',
      { system: 'x'.repeat(limits.questionSystemBytesMax + 1) },
      /settings\.system has/,
    ],
  ])('with %s is refused', (_, others, reason) => {
    const { records } = given(
      conversation,
      at(1_000, says('m', { settings: settingsWith({}, others) })),
    )
    expect(only(records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'deterministic',
      reason: expect.stringMatching(reason),
    })
  })
})
