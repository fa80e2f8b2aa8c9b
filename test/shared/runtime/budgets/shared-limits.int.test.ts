// 200 conversations with a provider with 20 requests a minute.

import { expect, it } from '@jest/globals'
import { type LimitsCase, limitsFigures, refusedShare } from '../../../support/limited-provider.ts'

it.each<[LimitsCase, number]>([
  ['limits', 0],
  ['learned', 0.03],
])(
  'the provider refuses few requests, and nearly all of its limit is used: %s',
  async (how, refusedMax) => {
    const figures = await limitsFigures(how, 20)
    expect(refusedShare(figures, how)).toBeLessThanOrEqual(refusedMax)
    expect(figures.accepted / figures.possible).toBeGreaterThanOrEqual(0.95)
  },
)

it('most requests are refused if each conversation waits alone', async () => {
  expect(refusedShare(await limitsFigures('alone', 5), 'alone')).toBeGreaterThan(0.5)
})
