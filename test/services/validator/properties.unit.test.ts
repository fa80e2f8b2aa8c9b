import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { limits } from '../../../shared/contract/limits.ts'
import type { Call, CallProblem } from '../../../shared/contract/messages.ts'
import { callOf, checked, proposed, rejectionOf, tool } from './round.ts'

const problems: (CallProblem | null)[] = [
  null,
  'truncated',
  'stream_error',
  'no_arguments',
  'invalid_json',
  'not_an_object',
]
const keywords = fc.constantFrom(
  ...[
    'type',
    'properties',
    'required',
    'items',
    'enum',
    'const',
    'pattern',
    'format',
    'anyOf',
    'allOf',
    'not',
    'if',
    'then',
    '$ref',
    '$id',
  ],
  ...[
    '$defs',
    '$schema',
    '$anchor',
    'additionalProperties',
    'minimum',
    'minLength',
    'uniqueItems',
    'dependentRequired',
    '__proto__',
  ],
)
const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(
      'string',
      'object',
      ['string', 'null'],
      '#',
      '#/$defs/a',
      true,
      false,
      1,
      null,
      'a',
      [],
      {},
      '^a+$',
      'date',
    ),
    fc.dictionary(fc.oneof(keywords, fc.constantFrom('a', 'b')), tie('schema'), { maxKeys: 4 }),
    fc.array(tie('schema'), { maxLength: 3 }),
  ),
}))
const anyText = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc
    .dictionary(fc.constantFrom('a', 'b', '__proto__', 'command'), fc.jsonValue())
    .map((value) => JSON.stringify(value)),
)

describe('any declaration and any arguments', () => {
  it('never make the validator throw, and each call passes unchanged or gets a bounded refusal', () => {
    const anyCall = fc.record({
      raw: anyText,
      problem: fc.constantFrom(...problems),
      name: fc.constantFrom('exec', 'other', '', 'a\u0000'),
    })
    const schemaText = fc.oneof(
      anySchema.map((schema) => JSON.stringify(schema)),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 3 }), schemaText, (sent, schema) => {
        const calls: Call[] = sent.map((fields, ordinal) =>
          callOf(fields.raw, { ...fields, ordinal }),
        )
        const round = checked(proposed(calls, [tool('exec', schema)]))
        const refused = new Set(round.denials.map(({ ordinal }) => ordinal))
        for (const [ordinal, call] of round.response.calls.entries()) {
          const { problem, ...same } = calls[ordinal] as Call
          expect(call).toMatchObject(same)
          expect(refused.has(ordinal) || call.problem === null).toBe(true)
          if (!refused.has(ordinal)) expect([null, 'no_arguments']).toContain(problem)
        }
        for (const { reason, text } of round.denials) {
          expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(limits.reasonBytesMax)
          expect(reason.includes('\n')).toBe(false)
          expect(text).toMatch(/^Tool call rejected before execution: .+\.\nYou sent: /)
          expect(text).toContain('\nDo not retry with the same arguments. If you do not know what ')
        }
      }),
      { numRuns: 300 },
    )
  })

  it('pass in any spelling if the schema allows them, and keep that spelling', () => {
    const exec = tool('exec', {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'string' } },
      required: ['a'],
    })
    fc.assert(
      fc.property(
        fc.integer(),
        fc.string(),
        fc.constantFrom(0, 1, 2, '\t'),
        fc.boolean(),
        (a, b, space, turned) => {
          const raw = JSON.stringify(turned ? { b, a } : { a, b }, null, space)
          const round = checked(proposed([callOf(raw)], [exec]))
          expect(round.denials).toEqual([])
          expect(round.response.calls[0]?.raw).toBe(raw)
        },
      ),
    )
  })

  it('are refused for a repeated member at any level, and only for a real one', () => {
    const anyJson = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
    const anything = [tool('exec', {})]
    fc.assert(
      fc.property(anyJson, fc.string({ unit: 'binary' }), (value, name) => {
        fc.pre(!name.includes('\0'))
        const text = JSON.stringify({ inside: [value] })
        expect(rejectionOf(callOf(text), anything)?.reason ?? '').not.toContain('is given twice')
        const twice = `{"inside":[${JSON.stringify(value)}],${JSON.stringify(name)}:1,"x":{},${JSON.stringify(name)}:2}`
        expect(rejectionOf(callOf(twice), anything)?.reason).toMatch(
          /is given twice|differ only in/,
        )
      }),
    )
  })
})
