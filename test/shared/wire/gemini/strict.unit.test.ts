// The strict reading of Gemini's answers, and their printing.

import { describe, expect, it, jest } from '@jest/globals'
import { ownAnswer } from '../../../../apps/http/fronts/proxy/sent-request.ts'
import { foldResponse } from '../../../../services/accumulator/response.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { callsOfAnswer, textOfAnswer } from '../../../../shared/wire/exchange.ts'
import { geminiAnswers } from '../../../../shared/wire/gemini/events.ts'
import { geminiModel } from '../../../../shared/wire/gemini/model.ts'
import { geminiStrict } from '../../../../shared/wire/gemini/strict.ts'
import { ownAttempt } from '../../../../shared/wire/strict/own-attempt.ts'
import { type StrictAnswer, StrictFault } from '../../../../shared/wire/strict/strict.ts'
import { answers, call, chunk, text } from './answers.ts'

type Json = Record<string, unknown>

/** The events that the client may have at once, and the answer. */
function streamed(chunks: Json[]): { shown: Json[]; answer: StrictAnswer } {
  const reader = geminiStrict.stream()
  const shown = chunks.flatMap((one) => reader.read(one))
  return { shown, answer: reader.end() }
}

/** The response that the lenient reader makes of these chunks. */
function lenient(chunks: unknown[]) {
  const stream = geminiAnswers.begin({ secret: [], model: 'm' })
  const events: PartEvent[] = chunks.flatMap((one) =>
    readSent(geminiAnswers, stream, null, JSON.stringify(one)),
  )
  const { finish, usage } = stream
  const end = { attempt: '', stop: 'end' as const, finish, usage }
  return foldResponse([[...events, ...geminiAnswers.end(stream)]], end, []).response
}

describe('an answer of Gemini under the veto', () => {
  it.each(Object.entries(answers))('means the same once it is printed: %s', (_, chunks) => {
    const { shown, answer } = streamed(chunks)
    const client = geminiStrict.client()
    const printed = [...client.shown(shown), ...client.rest(answer)]
    expect(lenient(printed)).toEqual(lenient(chunks))
    expect(client.text()).toBe(lenient(chunks).text)
    expect(textOfAnswer(answer)).toBe(lenient(chunks).text)
  })

  it('is whole too, with the usage of all attempts', () => {
    const body = chunk([text('Let me look.'), call('read', { path: 'a' }, { sign: 'S' })], 'STOP')
    const answer = geminiStrict.whole(body)
    expect(answer).toMatchObject({ stop: 'calls', finish: 'STOP', shown: 1 })
    expect(geminiStrict.body(answer, undefined)).toEqual(body)
    const usageMetadata = { totalTokenCount: 7 }
    expect(geminiStrict.body(answer, usageMetadata)).toEqual({ ...body, usageMetadata })
  })

  it('shows nothing after its first call before the verdict', () => {
    const { shown, answer } = streamed([
      chunk([text('one')]),
      chunk([call('read', {})]),
      chunk([text('two')]),
      chunk([], 'STOP'),
    ])
    expect(shown).toHaveLength(1)
    expect(callsOfAnswer(answer)).toMatchObject([{ id: '', name: 'read', arguments: '{}' }])
  })

  it('of a blocked prompt has no call', () => {
    const body = { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'm' }
    const answer = geminiStrict.whole(body)
    expect(answer).toMatchObject({ items: [], stop: 'refusal' })
    expect(geminiStrict.body(answer, undefined)).toEqual(body)
  })

  it('goes back to the model with its signatures and the results of its calls', () => {
    const parts = [call('read', { path: 'a' }, { id: 'c1', sign: 'S' }), call('list', {})]
    const { answer } = streamed([chunk(parts, 'STOP')])
    const results = [
      { callId: 'c1', name: 'read', text: 'no' },
      { callId: '', name: 'list', text: 'not run' },
    ]
    expect(geminiStrict.repeated(answer, results, {})).toEqual([
      { role: 'model', parts },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'read', response: { error: 'no' } } },
          { functionResponse: { name: 'list', response: { error: 'not run' } } },
        ],
      },
    ])
  })
})

const candidate = (more: Json) => ({
  candidates: [{ content: { parts: [call('rm', {})] }, finishReason: 'STOP', index: 0, ...more }],
})
const part = (given: unknown) => candidate({ content: { role: 'model', parts: [given] } })
const [first] = chunk([text('x')], 'STOP').candidates as Json[]

describe('an answer that two clients could read differently', () => {
  it.each<[string, unknown]>([
    ['two candidates', { candidates: [first, first] }],
    ['a candidate at another place', candidate({ index: 1 })],
    ['candidates that are no list', { candidates: first }],
    ['a candidate that is no object', { candidates: ['x'] }],
    ['a message of the user', candidate({ content: { role: 'user', parts: [] } })],
    ['parts that are no list', candidate({ content: { parts: { 0: call('rm', {}) } } })],
    ['a part that is no object', part('x')],
    ['a text beside a call', part({ ...call('rm', {}), text: 'x' })],
    ['a call in the other spelling', part({ function_call: { name: 'rm', args: {} } })],
    ['a call in other capitals', part({ FunctionCall: { name: 'rm', args: {} } })],
    ['two calls in one part', part({ ...call('rm', {}), function_call: { name: 'ls' } })],
    ['a call without a name', part({ functionCall: { args: {} } })],
    ['a call with a text as arguments', part({ functionCall: { name: 'rm', args: '{}' } })],
    ['a call with an id that is no text', part({ functionCall: { name: 'rm', id: 7 } })],
    ['a call in pieces', part({ functionCall: { name: 'rm', willContinue: true } })],
    ['arguments in pieces', part({ functionCall: { name: 'rm', partialArgs: [] } })],
    ['a call with a second name', part({ functionCall: { name: 'ls', Name: 'rm' } })],
    ['a call beside its content', candidate({ functionCall: { name: 'rm' } })],
    ['a call beside its candidates', { ...part({ text: 'x' }), functionCalls: [{ name: 'rm' }] }],
    ['no end', candidate({ finishReason: undefined })],
    ['no candidate', {}],
    ['an error', { error: { code: 500 } }],
  ])('is refused: %s', (_, body) => {
    expect(() => geminiStrict.whole(body as Json)).toThrow(StrictFault)
    expect(() => streamed([body as Json])).toThrow(StrictFault)
  })

  it.each<[string, (Json | '[DONE]')[]]>([
    ['a call after its end', [chunk([text('x')], 'STOP'), chunk([call('rm', {})])]],
    ['a text after its end', [chunk([text('x')], 'STOP'), chunk([text('y')])]],
    ['two ends', [chunk([text('x')], 'STOP'), chunk([], 'MAX_TOKENS')]],
    ['the mark of another API', [chunk([text('x')], 'STOP'), '[DONE]']],
    ['a chunk after an error', [{ error: { code: 500 } }, chunk([call('rm', {})], 'STOP')]],
  ])('is refused in a stream: %s', (_, chunks) => {
    const reader = geminiStrict.stream()
    expect(() => {
      for (const one of chunks) reader.read(one)
      reader.end()
    }).toThrow(StrictFault)
  })
})

it('is read in a stream without a search of the earlier chunks for each chunk', () => {
  const searched = (count: number) => {
    const chunks = Array.from({ length: count }, (_, place) => chunk([text(`${place}`)]))
    let visits = 0
    const spies = (['find', 'findLast', 'some', 'filter', 'flatMap'] as const).map((name) => {
      const real = Array.prototype[name]
      return jest.spyOn(Array.prototype, name).mockImplementation(function (
        this: unknown[],
        ...given: unknown[]
      ) {
        visits += this.length
        return Reflect.apply(real, this, given)
      })
    })
    streamed([...chunks, chunk([], 'STOP')])
    for (const spy of spies) spy.mockRestore()
    return visits
  }
  expect(searched(400)).toBeLessThan(5 * searched(100))
})

it('shows no part that stands next to an error', () => {
  const reader = geminiStrict.stream()
  const parts = [call('rm', {})]
  expect(() => reader.read(chunk(parts, 'STOP', { error: { code: 500 } }))).toThrow(StrictFault)
})

describe('the stream of a client', () => {
  it('is one answer for all attempts', () => {
    const client = geminiStrict.client()
    const refused = streamed([chunk([text('First. ')]), chunk([call('rm', {})], 'STOP')])
    const shown = client.shown(refused.shown)
    client.denied(refused.answer)
    const allowed = streamed([
      chunk([text('Second.')], undefined, { responseId: 'r2' }),
      chunk([], 'STOP'),
    ])
    shown.push(...client.shown(allowed.shown))
    const rest = client.rest(allowed.answer) as Json[]
    const all = [...shown, ...rest]
    expect(lenient(all).text).toBe('First. \n\nSecond.')
    expect(client.text()).toBe('First. Second.')
    expect(new Set(all.map(({ responseId }) => responseId)).size).toBe(1)
    expect(rest.at(-1)?.usageMetadata).toMatchObject({ totalTokenCount: 250 })
  })

  it('ends with a text of Weir, or with an error that the SDK throws', () => {
    const client = geminiStrict.client()
    expect(
      lenient(ownAttempt(geminiModel, client, ownAnswer('w', 'm', 'Weir ended it.')) as Json[]),
    ).toMatchObject({
      text: 'Weir ended it.',
      finish: 'STOP',
    })
    expect(client.failed('proxy.answer', 'no')).toMatchObject({
      error: { code: 502, message: 'no' },
    })
  })
})
