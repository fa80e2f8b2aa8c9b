// Questions of servers to a person: hostile texts and schemas, and the values of the answer.

import { describe, expect, it } from '@jest/globals'
import {
  type InputQuestion,
  inputFields,
  inputQuestionBytesMax,
  inputValuesBytesMax,
  questionFault,
  questionIn,
  valuesFor,
} from '../../../../shared/contract/call/input-question.ts'

type Schema = Extract<InputQuestion, { mode: 'form' }>['schema']
const form = (schema: Schema, message = 'm'): InputQuestion => ({
  server: 's',
  message,
  mode: 'form',
  schema,
})
const page = (url: string): InputQuestion => ({ server: 's', message: 'm', mode: 'url', url })
const properties = { name: { type: 'string', maxLength: 5 } }

describe('a question', () => {
  it('is read from its record, and from nothing else', () => {
    const text = JSON.stringify(form({ properties }))
    expect(questionIn(text)).toEqual(form({ properties }))
    for (const other of ['', '{}', 'null', '{"server":"s","message":"m"}', `[${text}]`])
      expect(questionIn(other)).toBeUndefined()
  })

  it.each([
    [form({ properties }), undefined],
    [page('https://bank.example/x'), undefined],
    [page('javascript:alert(1)'), 'its address is none of http or https'],
    [page('file:///etc/passwd'), 'its address is none of http or https'],
    [page('not an address'), 'its address is none of http or https'],
    [form({ type: 'object' }), 'its schema has no properties'],
    [form({ properties, $ref: 'https://other.example/s' }), 'its schema is unusable'],
    [form({ properties, type: 'nonsense' }), 'its schema is unusable'],
    [form({ properties }, 'x'.repeat(inputQuestionBytesMax)), 'bytes; at most'],
  ])('%# can be shown, or has a fault', (question, fault) => {
    if (fault === undefined) expect(questionFault(question)).toBeUndefined()
    else expect(questionFault(question)).toContain(fault)
  })

  it('shows its fields with their types, choices and defaults', () => {
    const schema = {
      required: ['size'],
      properties: {
        size: { enum: ['S', 'L'], title: 'Size', description: 'Of the shirt' },
        colour: { oneOf: [{ const: 'r', title: 'Red' }], default: 'r' },
        days: { type: 'array', items: { anyOf: [{ const: 'mo' }, { const: 'tu' }] } },
        odd: true,
      },
    }
    expect(inputFields(form(schema))).toEqual([
      {
        name: 'size',
        type: 'one of "S", "L"',
        description: 'Size: Of the shirt',
        isRequired: true,
        default: undefined,
      },
      { name: 'colour', type: 'one of "r"', description: '', isRequired: false, default: 'r' },
      {
        name: 'days',
        type: 'list of "mo", "tu"',
        description: '',
        isRequired: false,
        default: undefined,
      },
      { name: 'odd', type: 'value', description: '', isRequired: false, default: undefined },
    ])
  })
})

describe('the values of an answer', () => {
  const text = JSON.stringify(
    form({ properties: { ...properties, n: { type: 'integer' } }, required: ['name'] }),
  )

  it.each([
    ['{"name":"Ada"}', { values: '{"name":"Ada"}' }],
    [null, { fault: "must have required property 'name'." }],
    ['{"name":"Ada Lovelace"}', { fault: 'name must NOT have more than 5 characters.' }],
    ['{"name":7}', { fault: 'name must be string.' }],
    ['{"name":"Ada","__proto__":{}}', { fault: 'there is no field "__proto__"' }],
    ['{"name":"Ada","n":9007199254740993}', { fault: expect.stringContaining('exactly') }],
    ['"Ada"', { fault: 'the values are no JSON object' }],
    [`{"name":"${'x'.repeat(inputValuesBytesMax)}"}`, { fault: expect.stringContaining('bytes') }],
    ['['.repeat(100_000), { fault: expect.stringContaining('bytes') }],
  ])('%# count only if they fit', (given, expected) => {
    expect(valuesFor(text, given)).toEqual(expected)
  })

  it('for a page are none', () => {
    const url = JSON.stringify(page('https://x'))
    expect(valuesFor(url, null)).toEqual({ values: '{}' })
    expect(valuesFor(url, '{"pin":1}')).toEqual({ fault: 'a page takes its values itself' })
  })
})
