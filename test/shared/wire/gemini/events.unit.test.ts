import { describe, expect, it } from '@jest/globals'
import { foldResponse } from '../../../../services/accumulator/response.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { answerReader, readSent } from '../../../../shared/wire/answer-reader.ts'
import { geminiAnswers } from '../../../../shared/wire/gemini/events.ts'
import { receivedAnswer } from '../../../../shared/wire/streamed-answer.ts'
import { apiKey } from '../../../services/llm-gateway/samples.ts'
import { answers, call, chunk, model, sse, text } from './answers.ts'

type Json = Record<string, unknown>

/** The response that the accumulator makes of these chunks. A string is sent as it is. */
function read(...chunks: (Json | string)[]) {
  const stream = geminiAnswers.begin({ secret: apiKey, model })
  const events = chunks.flatMap((one) =>
    readSent(geminiAnswers, stream, null, typeof one === 'string' ? one : JSON.stringify(one)),
  )
  events.push(...geminiAnswers.end(stream))
  const { finish, usage } = stream
  const end = { attempt: 'a', stop: geminiAnswers.stop(stream), finish, usage }
  return { ...foldResponse([events], end, []), fault: stream.fault, events }
}

const callsIn = (...chunks: (Json | string)[]) =>
  read(...chunks).response.calls.map(({ id, name, raw, problem }) => ({ id, name, raw, problem }))

describe('an answer of Gemini', () => {
  it('is the text of all chunks, without the thoughts', () => {
    const { response } = read(...(answers['a summary of thoughts before a text with a call'] ?? []))
    expect([response.text, response.stop, response.finish]).toEqual([
      'Let me look.',
      'calls',
      'STOP',
    ])
  })

  it('counts cached tokens apart, and thoughts as output', () => {
    expect(read(chunk([text('x')], 'STOP')).response.usage).toEqual({
      inputTokens: 40,
      outputTokens: 25,
      cacheReadTokens: 60,
      cacheWriteTokens: 0,
    })
  })

  it('has its calls with ids and without, each with the bytes of its arguments', () => {
    const exact = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"pay","args":{ "id" :12345678901234567890}}}]},"finishReason":"STOP"}]}`
    expect(callsIn(exact)).toEqual([
      { id: '', name: 'pay', raw: '{ "id" :12345678901234567890}', problem: null },
    ])
    expect(callsIn(...(answers['a call with an id and a signature'] ?? []))).toMatchObject([
      { id: 'fc_1', name: 'check_flight', raw: '{"flight":"AA100"}' },
    ])
  })

  it('has a call without arguments, which means none', () => {
    expect(callsIn(...(answers['a call without arguments'] ?? []))).toEqual([
      { id: '', name: 'list_files', raw: '', problem: 'no_arguments' },
    ])
  })

  it('has two equal calls in one chunk as two', () => {
    const both = [call('read', { path: 'a' }), call('read', { path: 'a' })]
    expect(callsIn(chunk(both, 'STOP'))).toHaveLength(2)
  })

  it.each([
    ['STOP', 'end'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['LANGUAGE', 'refusal'],
    ['OTHER', 'other'],
  ])('that ends with %s has the stop %s', (finish, stop) => {
    expect(read(chunk([text('x')], finish)).response.stop).toBe(stop)
  })

  it('without a finish reason is cut, and its calls cannot run', () => {
    const cut = read(chunk([call('read', { path: 'a' })]))
    expect(cut.response.stop).toBe('cut')
    expect(cut.response.calls).toMatchObject([{ problem: 'truncated' }])
  })

  it('to a prompt that Google blocks is a refusal', () => {
    const { response } = read({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })
    expect([response.stop, response.finish]).toEqual([
      'refusal',
      'PROMPT_BLOCKED_PROHIBITED_CONTENT',
    ])
  })

  it.each([
    ['a malformed call', chunk([], 'MALFORMED_FUNCTION_CALL'), /MALFORMED_FUNCTION_CALL/],
    ['an event that is no object', '{"candidates":[', /no JSON object/],
    [
      'a call in pieces',
      chunk([{ functionCall: { name: 'read', willContinue: true } }]),
      /in pieces/,
    ],
    ['a call that is no object', chunk([{ functionCall: 'read' }], 'STOP'), /no object/],
    [
      'an error in the stream',
      { error: { code: 503, message: `overloaded ${apiKey}`, status: 'UNAVAILABLE' } },
      /UNAVAILABLE|overloaded/,
    ],
  ])('with %s fails, and a retry may help', (_, sent, reason) => {
    const { fault, events } = read(chunk([text('x')]), sent)
    expect(fault).toMatchObject({ reason: expect.stringMatching(reason), retryable: true })
    expect(JSON.stringify(events)).not.toContain(apiKey)
  })

  it('with an error about the request fails without a retry', () => {
    const error = { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' }
    expect(read({ error }).fault).toMatchObject({ class: 'refused', retryable: false })
  })

  it('has the first candidate only', () => {
    const [first] = chunk([text('one')], 'STOP').candidates as Json[]
    const other = { content: { parts: [call('rm', { path: '/' })] }, index: 1 }
    const { response } = read({ candidates: [first, other] })
    expect([response.text, response.calls]).toEqual(['one', []])
  })

  it('keeps parts of other kinds apart', () => {
    const { events } = read(chunk([{ executableCode: { code: 'print(1)' } }], 'STOP'))
    expect(events).toContainEqual(expect.objectContaining({ kind: 'kept_apart' }))
  })

  it('with unreadable counts counts nothing', () => {
    const usageMetadata = { promptTokenCount: -1, candidatesTokenCount: 20 }
    expect(read(chunk([text('x')], 'STOP', { usageMetadata })).response.usage).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    })
  })

  it('keeps no signatures above the limit, because a part of them is worth nothing', () => {
    const sign = 'x'.repeat(limits.reasoningDetailsBytesMax)
    const parts = [call('a', {}, { sign }), call('b', {}, { sign: 'y' })]
    expect(read(chunk(parts, 'STOP')).response.reasoning).toBe('')
  })
})

describe('the forms of an answer', () => {
  const chunks = answers['two calls without ids, of which the first is signed'] ?? []
  const whole = chunk(
    [
      call('get_weather', { city: 'Paris' }, { sign: 'U2lnIEI=' }),
      call('get_weather', { city: 'London' }),
    ],
    'STOP',
  )

  it.each([
    ['events', 'text/event-stream', sse(chunks)],
    ['a list of chunks', 'application/json; charset=UTF-8', JSON.stringify(chunks)],
    ['one response', 'application/json', JSON.stringify(whole)],
  ])('are read alike: %s', async (_, contentType, body) => {
    const answer = new Response(body, { headers: { 'content-type': contentType } })
    const parts: PartEvent[][] = []
    let end: unknown
    for await (const one of receivedAnswer(
      answerReader(geminiAnswers)({ secret: [], model }),
      answer,
    ))
      if (one.kind === 'events') parts.push(one.events)
      else end = one
    expect(end).toMatchObject({ kind: 'finished', stop: 'calls', finish: 'STOP' })
    const { response } = foldResponse(
      parts,
      { attempt: '', stop: 'calls', finish: 'STOP', usage: whole.usageMetadata as never },
      [],
    )
    expect(response.calls.map(({ raw }) => raw)).toEqual(['{"city":"Paris"}', '{"city":"London"}'])
    expect(JSON.parse(response.reasoning)).toMatchObject([
      { model, gemini_parts: [{ call: 0, thoughtSignature: 'U2lnIEI=' }, { call: 1 }] },
    ])
  })
})
