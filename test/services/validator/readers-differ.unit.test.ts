// The texts that a model reads about arguments that readers read differently.

import { describe, expect, it } from '@jest/globals'
import { callOf, rejectionOf, tool } from './round.ts'

const linesOf = (raw: string, schema: object, problem: 'invalid_json' | null = null) =>
  rejectionOf(callOf(raw, { problem }), [tool('exec', schema)])?.text.split('\n')

describe('the text for the model', () => {
  it('names both fields that differ only in case', () => {
    expect(linesOf('{"env":"staging","ENV":"production"}', {})).toEqual([
      "Tool call rejected before execution: fields 'env' and 'ENV' differ only in their letters' case or form.",
      'You sent: {"env":"staging","ENV":"production"}',
      'Do not retry with the same arguments. If you do not know what values',
      "to use for 'env' and 'ENV', respond in text and ask the user for clarification.",
      'Some readers take them for one field. Give the one that you mean, once.',
    ])
  })

  it('names the declared field', () => {
    const schema = { properties: { env: { type: 'string' } } }
    expect(linesOf('{"ENV":"production"}', schema)).toEqual([
      "Tool call rejected before execution: unknown field 'ENV': it differs from the field 'env' only in its letters' case or form.",
      'You sent: {"ENV":"production"}',
      'Do not retry with the same arguments. If you do not know what env',
      'to use, respond in text and ask the user for clarification.',
      "If you mean 'env', write exactly that name.",
    ])
  })

  it('names a number that has two values', () => {
    const schema = { properties: { amount: { maximum: 100 } } }
    expect(linesOf('{"amount":100.00000000000000001}', schema)).toEqual([
      "Tool call rejected before execution: the number in field 'amount' cannot be read exactly: some readers take 100.00000000000000001 for 100.",
      'You sent: {"amount":100.00000000000000001}',
      'Do not retry with the same arguments. If you do not know what amount',
      'to use, respond in text and ask the user for clarification.',
      'Send a number with at most 15 significant digits.',
    ])
    expect(linesOf('{"other":1}', schema)).toBeUndefined()
  })

  it.each([
    ['takes strings too', { id: { type: ['integer', 'string'], minimum: 1 } }, true],
    ['takes strings in a choice', { id: { anyOf: [{ minimum: 1 }, { type: 'string' }] } }, true],
    ['takes whole numbers only', { id: { type: 'integer', minimum: 1 } }, false],
    ['names no type', { id: { minimum: 1 } }, false],
    [
      'has a type that its list of values excludes',
      { id: { type: ['string', 'integer'], minimum: 1, allOf: [{ type: 'integer' }] } },
      false,
    ],
  ])('advises a string for a long number if the field %s', (_, properties, isString) => {
    expect(linesOf('{"id":9007199254740993}', { properties })?.at(-1)).toBe(
      isString
        ? 'Send it as a string: this field accepts one.'
        : 'Send a number with at most 15 significant digits.',
    )
  })

  it('shows an invisible name as an escape', () => {
    expect(linesOf('{"env\\u0000":1}', {})?.[0]).toBe(
      "Tool call rejected before execution: the name of field 'env\\u0000' has U+0000.",
    )
  })

  it('names an escape that JSON does not have', () => {
    expect(linesOf('{"v":"a\\x41"}', {}, 'invalid_json')?.slice(-2)).toEqual([
      'Arguments have to be the text of one JSON object and nothing else.',
      "'\\x' is no escape of JSON, and readers differ in its meaning. Write \\\\ for a backslash, \\n for a line end, \\u and four digits for another character.",
    ])
    expect(linesOf('{"v":"a\\\n"}', {}, 'invalid_json')?.at(-1)).toMatch(
      /^'\\\\u000a' is no escape/,
    )
    expect(linesOf('{"v":"\\u{41}"}', {}, 'invalid_json')?.at(-1)).toMatch(/^'\\u' is no escape/)
    expect(linesOf(`{'v':'it\\'s \\\\ \\u0041'`, {}, 'invalid_json')?.at(-1)).toBe(
      'Arguments have to be the text of one JSON object and nothing else.',
    )
  })

  it('says in which spelling no arguments came', () => {
    const call = callOf('', {
      problem: 'no_arguments',
      source: 'deltas',
      repair: { sent: 'null', how: ['no-arguments'] },
    })
    expect(rejectionOf(call)?.text.split('\n').at(-1)).toBe(
      'The argument text was null, which means no arguments.',
    )
  })
})
