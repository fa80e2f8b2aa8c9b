// Properties of every argument text that may run, with any text that a model can send. A second
// reader gets the same value, no two names merge, and a bounded number is no other number.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import type { RoundProposed } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callStart, event, finished, opened, part } from '../accumulator/stream.ts'
import { namesIn, numbersIn, parsedValue, readStrictly } from './reader.ts'
import { checked, tool } from './round.ts'

const object = (properties: Record<string, unknown>, more = {}) => ({
  type: 'object',
  properties,
  ...more,
})
const tools = [
  tool('any', {}),
  tool('list', object({ a: { type: 'array' }, b: { type: 'object' }, env: { type: 'string' } })),
  tool('bound', object({ a: { type: 'number', maximum: 100 }, n: { minimum: 0 } })),
]

function runs(name: string, sent: string, asText: boolean): string | undefined {
  const events = asText
    ? [event('text', `<tool_call>{"name":"${name}","arguments":${sent}}</tool_call>`)]
    : [callStart({ name }), event('call_arguments', sent), event('call_end')]
  const [record] = given(
    accumulator,
    opened({ offered: tools.map((offered) => offered.name) }),
    part(0, ...events),
    finished({ declarations: tools, stop: asText ? 'end' : 'calls' }),
  ).to('next')
  const { response, denials } = checked(record as RoundProposed)
  const [call] = response.calls
  return call === undefined || denials.length > 0 ? undefined : argumentText(call)
}

const name = fc.constantFrom(
  ...['a', 'A', 'b', 'env', 'ENV', 'n', 's', 'ſ', 'k', '\u212a', 'é', 'e\u0301', '\0', 'ß', 'ss'],
)
const number = fc.oneof(
  fc.constantFrom(
    ...['0.1', '1e23', '1e400', '1e-400', '-0', '100.00000000000000001', '9007199254740993'],
  ),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  fc.bigInt().map(String),
  fc
    .tuple(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n }))
    .map(([whole, fraction]) => `${whole}.${fraction}`),
)
const string = fc.oneof(
  fc.string().map((text) => JSON.stringify(text)),
  fc.constantFrom(
    ...['"it\\\'s"', '"\\x41"', '"\\0"', '"\\u{41}"', '"a\\\nb"', "'a\\/b'", "'a'", '"\\d"'],
    ...['"[1]"', '"{\\"a\\":1}"', '"null"', '""', '"\\ud800"', '"{\'a\':1}"'],
  ),
)
const scalar = fc.oneof(number, string, fc.constantFrom('true', 'null', 'None', 'True'))
const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  object: fc
    .array(
      fc.tuple(
        name.map((one) => JSON.stringify(one)),
        tie('value'),
      ),
      { maxLength: 4 },
    )
    .chain((members) =>
      fc.constantFrom('', ',').map((end) => {
        const inside = members.map(([key, member]) => `${key}:${member}`).join(',')
        return `{${inside}${inside === '' ? '' : end}}`
      }),
    ),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
}))
const sentText = fc.oneof(
  value,
  value.map((text) => JSON.stringify(text)),
)

/** Names that Go, Jackson, .NET or Swift may merge are equal in one of these forms. */
const forms: ((name: string) => string)[] = [
  (one) => one.toLowerCase(),
  (one) => one.toUpperCase(),
  (one) => one.normalize('NFC'),
  (one) => one.toLowerCase().toUpperCase(),
]

describe('argument texts that may run', () => {
  it('have one reading: JSON.parse and a strict reader agree on names, texts and numbers', () => {
    let accepted = 0
    fc.assert(
      fc.property(
        fc.constantFrom('any', 'list', 'bound'),
        sentText,
        fc.boolean(),
        (toolName, sent, asText) => {
          const text = runs(toolName, sent, asText)
          if (text === undefined) return
          accepted += 1
          const read = readStrictly(text)
          expect(read.kind).toBe('object')
          expect(parsedValue(read)).toEqual(JSON.parse(text))
          for (const names of namesIn(read)) {
            for (const form of forms) expect(new Set(names.map(form)).size).toBe(names.length)
            expect(names.some((one) => one.includes('\0'))).toBe(false)
          }
          if (toolName !== 'bound' || read.kind !== 'object') return
          for (const [field, member] of read.members.filter(([one]) => ['a', 'n'].includes(one)))
            for (const { text: digits, decimal } of member.kind === 'number'
              ? numbersIn(member)
              : []) {
              const double = Number(digits)
              const integer = decimal === '0' || !decimal.includes('e-')
              const held = integer ? BigInt(double).toString() : String(double)
              const [same] = numbersIn(readStrictly(held))
              expect([field, decimal]).toEqual([field, same?.decimal])
            }
        },
      ),
      { numRuns: 2_000 },
    )
    expect(accepted).toBeGreaterThan(300)
  })
})
