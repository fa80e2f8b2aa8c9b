// The effect of verdicts on waiting calls, where the protocol differs between guards.

import { expect, it } from '@jest/globals'
import type { GuardVerdict } from '../../../../shared/contract/messages.ts'
import { applyAnswer, type Waiting } from './waits.ts'

const awaited = ['approval', 'ledger'].map((name) => ({
  name,
  onTimeout: 'deny' as const,
  due: 100,
}))
const call = (ordinal: number): Waiting => ({
  ordinal,
  expiresAt: 1_000,
  guards: awaited,
  counted: [],
  awaited,
})
const answer = (guard: string, verdicts: [ordinal: number, verdict: 'allow' | 'deny'][]) =>
  ({
    guard,
    verdicts: verdicts.map(([ordinal, verdict]) => ({ ordinal, verdict })),
  }) as GuardVerdict

it.each([
  ['approval, which gets the calls that still wait', ['ledger', 'approval'], 'verdicts'],
  ['another guard, which gets all calls', ['approval', 'ledger'], 'unusable'],
] as const)('an answer without a vetoed call: %s', (_, [first, second], expected) => {
  const calls = [call(1), call(2)]
  applyAnswer(
    calls,
    answer(first, [
      [1, 'deny'],
      [2, 'allow'],
    ]),
    10,
    'a',
    () => {},
  )
  applyAnswer(calls, answer(second, [[2, 'allow']]), 20, 'b', () => {})
  expect(calls[1]?.counted.map((one) => one.answer)).toEqual(['verdicts', expected])
})
