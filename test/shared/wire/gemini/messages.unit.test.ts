import { describe, expect, it } from '@jest/globals'
import { foldResponse } from '../../../../services/accumulator/response.ts'
import type { HistoryEntry, Response } from '../../../../shared/contract/messages.ts'
import { readSent } from '../../../../shared/wire/answer-reader.ts'
import { geminiAnswers } from '../../../../shared/wire/gemini/events.ts'
import { geminiContents, type HowSaid } from '../../../../shared/wire/gemini/messages.ts'
import { geminiRequest } from '../../../../shared/wire/gemini/request.ts'
import { agentOf, modelSays, result, userSays } from '../../../services/llm-gateway/samples.ts'
import { answers, call, chunk, model, text } from './answers.ts'

type Json = Record<string, unknown>

const plain: HowSaid = { model, refused: 'none', rebuilt: false, contents: undefined }

/** The response in the log that these chunks make. */
function recorded(chunks: Json[]): Response {
  const stream = geminiAnswers.begin({ secret: [], model })
  const events = chunks.flatMap((one) => readSent(geminiAnswers, stream, null, JSON.stringify(one)))
  const { finish, usage } = stream
  const end = { attempt: 'a', stop: 'calls' as const, finish, usage }
  return foldResponse([[...events, ...geminiAnswers.end(stream)]], end, []).response
}

function historyWith(response: Response): HistoryEntry[] {
  const results = response.calls.map(({ ordinal }) => result({ ordinal, text: `done ${ordinal}` }))
  return [userSays('go'), modelSays(response, { results }), userSays('and now?', { turn: 1 })]
}

/** The content of the model in the next request. */
function sentBack(chunks: Json[], how: Partial<HowSaid> = {}): unknown {
  return geminiContents(historyWith(recorded(chunks)), { ...plain, ...how })[1]
}

describe('a conversation with Gemini', () => {
  it('has the texts, the calls and their results in turns', () => {
    const chunks = answers['a call with an id and a signature'] ?? []
    expect(geminiContents(historyWith(recorded(chunks)), plain)).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [call('check_flight', { flight: 'AA100' }, { id: 'fc_1', sign: 'U2lnIEE=' })],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'fc_1',
              name: 'check_flight',
              response: { output: 'done 0' },
            },
          },
        ],
      },
      { role: 'user', parts: [{ text: 'and now?' }] },
    ])
  })

  it('pairs calls without ids by name and order', () => {
    const chunks = answers['two calls without ids, of which the first is signed'] ?? []
    const [, said, results] = geminiContents(historyWith(recorded(chunks)), plain)
    expect(said?.parts).toEqual([
      call('get_weather', { city: 'Paris' }, { sign: 'U2lnIEI=' }),
      call('get_weather', { city: 'London' }),
    ])
    expect(results?.parts).toEqual([
      { functionResponse: { name: 'get_weather', response: { output: 'done 0' } } },
      { functionResponse: { name: 'get_weather', response: { output: 'done 1' } } },
    ])
  })

  it('has a failed result as an error', () => {
    const failed = result({ status: 'error', text: 'no such file' })
    const response = recorded([chunk([call('read', { path: 'a' })], 'STOP')])
    const contents = geminiContents(
      [userSays('go'), modelSays(response, { results: [failed] })],
      plain,
    )
    expect(contents.at(-1)?.parts).toEqual([
      { functionResponse: { name: 'read', response: { error: 'no such file' } } },
    ])
  })
})

describe('the signatures of thoughts', () => {
  it.each(
    Object.entries(answers).filter(([, chunks]) => JSON.stringify(chunks).includes('thoughtSig')),
  )('return in their parts: %s', (_, chunks) => {
    const signed = (parts: Json[]) => parts.filter((part) => 'thoughtSignature' in part)
    const came = chunks.flatMap(({ candidates }) => {
      const [{ content }] = candidates as [{ content: { parts: Json[] } }]
      return signed(content.parts)
    })
    const { parts } = sentBack(chunks) as { parts: Json[] }
    expect(signed(parts)).toEqual(came)
  })

  it('never join a signed text and another one', () => {
    const chunks = [
      chunk([text('one ')]),
      chunk([text('two ', { thoughtSignature: 'A' })]),
      chunk([text('three')], 'STOP'),
    ]
    expect(sentBack(chunks)).toEqual({
      role: 'model',
      parts: [{ text: 'one ' }, { text: 'two ', thoughtSignature: 'A' }, { text: 'three' }],
    })
  })

  it('stand with the recorded text if that differs from the sent one', () => {
    const response = recorded([
      chunk([text('one ', { thoughtSignature: 'A' }), text('two')]),
      chunk([call('read', {}, { sign: 'B' })], 'STOP'),
    ])
    const [, said] = geminiContents(historyWith({ ...response, text: 'other' }), plain)
    expect(said?.parts).toEqual([
      { text: 'other', thoughtSignature: 'A' },
      { functionCall: { name: 'read', args: {} }, thoughtSignature: 'B' },
    ])
  })

  const chunks = answers['two calls without ids, of which the first is signed'] ?? []
  const unverified = 'skip_thought_signature_validator'
  it.each([
    ['of another model are left out', { model: 'gemini-2.5-pro' }, [undefined, undefined]],
    [
      'that Google misses are a documented value',
      { model: 'x', refused: 'unsigned' },
      [unverified, undefined],
    ],
    ['stay where Google misses others', { refused: 'unsigned' }, ['U2lnIEI=', undefined]],
    ['that are damaged are a documented value', { refused: 'damaged' }, [unverified, undefined]],
    ['that a server does not know are left out', { refused: 'unaccepted' }, [undefined, undefined]],
  ] as const)('%s', (_, how, expected) => {
    const { parts } = sentBack(chunks, how) as { parts: Json[] }
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual(expected)
  })
})

describe('a request to Gemini', () => {
  const request = {
    nudge: 'Try another way.',
    tools: agentOf().tools.map(({ declaration }) => declaration),
    textOnly: true,
    history: [userSays('go')],
    rebuilt: false,
  }

  it('has the instructions, the tools, the limits and the contents', () => {
    const agent = agentOf({}, { name: model, temperature: 0.2, reasoningEffort: 'low', seed: 7 })
    expect(geminiRequest(agent, request)).toEqual({
      systemInstruction: { parts: [{ text: 'You are helpful.' }, { text: 'Try another way.' }] },
      tools: [
        {
          functionDeclarations: request.tools.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: JSON.parse(schema),
          })),
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      contents: [{ role: 'user', parts: [{ text: 'go' }] }],
      generationConfig: {
        maxOutputTokens: 1000,
        temperature: 0.2,
        seed: 7,
        thinkingConfig: { thinkingLevel: 'LOW' },
      },
    })
  })

  it('grows at its end only, for the prompt cache', () => {
    const history = historyWith(recorded(chunksOf('a call with an id and a signature')))
    const earlier = geminiContents(history.slice(0, 2), plain)
    expect(geminiContents(history, plain).slice(0, earlier.length)).toEqual(earlier)
  })
})

function chunksOf(name: string): Json[] {
  return answers[name] ?? []
}
