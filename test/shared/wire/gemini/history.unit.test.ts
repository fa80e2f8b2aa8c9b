import { describe, expect, it } from '@jest/globals'
import { turnsOf } from '../../../../shared/transcript/transcript.ts'
import { answerOfGemini, readGemini } from '../../../../shared/wire/gemini/history.ts'
import { parametersOf } from '../../../../shared/wire/gemini/schema.ts'
import { answers, call, chunk, text } from './answers.ts'

const read = (request: unknown) => readGemini({ request, answer: undefined }, 'body')
const turnsIn = (contents: unknown) =>
  turnsOf('body', read({ contents }).pieces, { leave: () => {} }).map(({ user, responses }) => ({
    user,
    responses: responses.map(({ text: said, calls }) => ({
      said,
      calls: calls.map(({ id, name, arguments: args, result }) => [id, name, args, result]),
    })),
  }))

const response = (name: string, given: unknown, id?: string) => ({
  functionResponse: { ...(id !== undefined && { id }), name, response: given },
})

describe('the contents of a request to Gemini', () => {
  it('are turns with calls, and with results by id, or by name and order', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'weather?' }, { text: 'in two cities' }] },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { text: 'Let me look.' },
          call('weather', { city: 'Paris' }, { sign: 'A' }),
          call('time', {}),
          call('weather', { city: 'London' }),
        ],
      },
      {
        role: 'user',
        parts: [
          response('time', { error: 'no clock' }),
          response('weather', { output: 'rain' }),
          response('weather', { result: { celsius: 9 } }),
        ],
      },
      { role: 'model', parts: [call('rain', { on: true }, { id: 'fc_1' })] },
      { role: 'function', parts: [response('rain', { dry: false, wet: true }, 'fc_1')] },
    ]
    expect(turnsIn(contents)).toEqual([
      {
        user: 'weather?\n\nin two cities',
        responses: [
          {
            said: 'Let me look.',
            calls: [
              ['', 'weather', '{"city":"Paris"}', { text: 'rain', isError: false }],
              ['', 'time', '{}', { text: 'no clock', isError: true }],
              ['', 'weather', '{"city":"London"}', { text: '{"celsius":9}', isError: false }],
            ],
          },
          {
            said: '',
            calls: [
              ['fc_1', 'rain', '{"on":true}', { text: '{"dry":false,"wet":true}', isError: false }],
            ],
          },
        ],
      },
    ])
  })

  it('are read in both spellings', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ function_call: { name: 'ls', args: {} } }] },
      { role: 'user', parts: [{ function_response: { name: 'ls', response: { output: 'a' } } }] },
    ]
    const tools = [{ function_declarations: [{ name: 'ls', description: 'lists' }] }]
    expect(turnsIn(contents)[0]?.responses[0]?.calls).toEqual([
      ['', 'ls', '{}', { text: 'a', isError: false }],
    ])
    expect(read({ contents, tools }).tools).toMatchObject([{ name: 'ls', description: 'lists' }])
  })

  it('are also a text, a list of texts, or parts', () => {
    expect(read({ contents: 'go' }).pieces).toEqual([{ kind: 'user', text: 'go' }])
    expect(read({ contents: ['go', { text: 'on' }] }).pieces).toEqual([
      { kind: 'user', text: 'go' },
      { kind: 'user', text: 'on' },
    ])
  })

  it('are no new question next to results', () => {
    const parts = [response('ls', { output: 'a' }), { text: 'a note of the runtime' }]
    expect(
      turnsIn([{ parts: [{ text: 'go' }] }, { role: 'model', parts: [call('ls', {})] }, { parts }]),
    ).toHaveLength(1)
  })

  it.each([
    [{}, /body: has no contents/],
    [{ contents: [{ role: 'assistant', parts: [] }] }, /contents\[0\]\.role: is "assistant"/],
    [{ contents: [{ role: 'model', parts: [{ functionCall: {} }] }] }, /name: is missing/],
    [{ contents: [7] }, /contents\[0\]: is 7; must be an object/],
  ])('that cannot be read name the place: %j', (body, message) => {
    expect(() => read(body)).toThrow(message)
  })
})

describe('an answer of Gemini in a log', () => {
  it.each(Object.entries(answers))('is read from its chunks: %s', (_, chunks) => {
    const { responses } = turnsOf(
      'log',
      [{ kind: 'user', text: 'go' }, ...answerOfGemini(chunks, 'answer')],
      { leave: () => {} },
    )[0] ?? { responses: [] }
    expect(responses).toHaveLength(1)
    expect(responses[0]?.finish).toBe('STOP')
    expect(responses[0]?.usage.outputTokens).toBe(25)
  })

  it('that is an error, a further candidate or of another format is left out', () => {
    const left = (value: unknown) =>
      answerOfGemini(value, 'answer').flatMap((piece) =>
        piece.kind === 'left-out' ? [piece.what] : [],
      )
    const [first] = chunk([text('one')], 'STOP').candidates as [object]
    expect(left({ candidates: [first, first] })).toEqual(['a further choice of an answer'])
    expect(left({ error: { code: 500 } })).toEqual(['an answer that is an error'])
    expect(left({ choices: [] })[0]).toMatch(/^an answer in a form/)
  })
})

describe('the parameters of a function', () => {
  it('are JSON Schema, also in the form of OpenAPI', () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true, enum: ['a', 'b'], format: 'enum' },
        list: { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' }, min_items: '2' },
        any: { anyOf: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }], nullable: true },
      },
      required: ['type'],
      propertyOrdering: ['type', 'list'],
    }
    expect(parametersOf({ parameters })).toEqual({
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['a', 'b', null] },
        list: { type: 'array', items: { type: 'integer' }, minItems: 2 },
        any: { anyOf: [{ anyOf: [{ type: 'number' }, { type: 'boolean' }] }, { type: 'null' }] },
      },
      required: ['type'],
    })
    const schema = { type: 'object', properties: {} }
    expect(parametersOf({ parametersJsonSchema: schema })).toEqual(schema)
    expect(parametersOf({})).toBeUndefined()
  })
})
