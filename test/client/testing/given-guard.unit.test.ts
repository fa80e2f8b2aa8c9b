// A guard judged without a pipeline.

import { describe, expect, it } from '@jest/globals'
import { given } from '../../../client/testing/testing.ts'
import type { Guard } from '../../../client/weir.ts'
import noFridayDeploys from '../../examples/no-friday-deploys.ts'

const friday = '2026-11-20T09:00:00Z'
const monday = '2026-11-23T09:00:00Z'

/** Rejects the second call for the same amount, and counts in its memory. */
const counting: Guard<{ seen: number }> = {
  name: 'counting',
  version: '1',
  tools: ['pay_*'],
  deadlineMs: 500,
  onTimeout: 'deny',
  judge: (state, { calls }) => ({
    state: { seen: (state?.seen ?? 0) + calls.length },
    verdicts: calls.map(({ ordinal }) =>
      (state?.seen ?? 0) > 0
        ? { ordinal, verdict: 'deny', code: 'again', text: 'Paid already.', evidence: 'seen' }
        : { ordinal, verdict: 'allow' },
    ),
  }),
}

describe('given(guard, ...rounds)', () => {
  it('passes a deploy on Monday and denies one on Friday', () => {
    const deploy = [{ name: 'deploy' }]
    expect(given(noFridayDeploys, { calls: deploy, at: monday }).verdicts).toEqual([
      { ordinal: 0, verdict: 'allow' },
    ])
    expect(given(noFridayDeploys, { calls: deploy, at: friday }).verdicts).toEqual([
      {
        ordinal: 0,
        verdict: 'deny',
        code: 'friday',
        text: 'No deploys on Friday. Deploy on Monday.',
      },
    ])
  })

  it('keeps the memory of the rounds before, and one history can continue in two ways', () => {
    const once = given(counting, [{ name: 'pay_invoice', arguments: { amount: 5 } }])
    expect(once).toMatchObject({ verdicts: [{ verdict: 'allow' }], state: { seen: 1 } })
    const again = once.when([{ name: 'list' }, { name: 'pay_invoice' }])
    expect(again.verdicts).toEqual([
      { ordinal: 1, verdict: 'deny', code: 'again', text: 'Paid already.', evidence: 'seen' },
    ])
    expect(once.when([{ name: 'pay_rent' }]).state).toEqual({ seen: 2 })
  })

  it('refuses a round without a call of its tools, and names both', () => {
    expect(() => given(counting, [{ name: 'list' }])).toThrow(
      'no call is for this guard: it judges pay_*, and the round calls list',
    )
  })

  it('refuses an answer that Weir would refuse, with the reason', () => {
    const careless: Guard = {
      ...noFridayDeploys,
      judge: () => ({ state: undefined, verdicts: [] }),
    }
    expect(() => given(careless, [{ name: 'deploy' }])).toThrow(
      'Weir would not accept the answer: it has no verdict for call 0',
    )
  })

  it('refuses a guard that cannot be registered', () => {
    expect(() => given({ ...noFridayDeploys, name: 'No Deploys' })).toThrow(
      /its name is "No Deploys"/,
    )
  })

  it.each([
    [undefined, 'the guard is missing'],
    [
      { ...counting, judge: undefined, tools: 'pay_*' },
      'tools is "pay_*"; must be a list of patterns; judge is missing',
    ],
    [{ ...counting, external: true }, 'given judges no external guard'],
  ])('refuses the guard %j', (guard, message) => {
    expect(() => given(guard as unknown as Guard, [{ name: 'pay_rent' }])).toThrow(message)
  })

  it('refuses a time that is none', () => {
    expect(() => given(counting, { calls: [{ name: 'pay_rent' }], at: 'Friday' })).toThrow(
      'Friday is no time; write an ISO date or milliseconds',
    )
  })
})
