// The table of thresholds, as the default policy and the bounds of admission read it.

import { describe, expect, it } from '@jest/globals'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { countsAt, countThresholds, thresholds } from '../../../shared/contract/thresholds.ts'

describe('the thresholds', () => {
  it('keep the version of the default policy, which deployed logs carry', () => {
    expect(defaultPolicy.version).toBe('ed86c1879703fc2a')
  })

  it('have a default within their bounds', () => {
    const outside = countThresholds().filter(
      ({ min, max, valueIn }) => valueIn(defaultPolicy) < min || valueIn(defaultPolicy) > max,
    )
    expect(outside).toEqual([])
  })

  it('move together to one value, except those that are switches', () => {
    expect(countsAt(thresholds.loop, 7)).toEqual({
      identicalFailures: 7,
      identicalSuccesses: 7,
      cycleLaps: 7,
      schemaFailures: 7,
      schemaFailureEndsTurn: false,
      waitMinutes: 7,
    })
  })
})
