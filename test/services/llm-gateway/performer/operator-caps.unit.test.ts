import { describe, expect, it } from '@jest/globals'
import { withOperatorCaps } from '../../../../services/llm-gateway/performer/operator-caps.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/policy/policy.ts'
import type { Caps, OperatorLimits } from '../../../../shared/contract/messages.ts'

const operator = (caps: Partial<Caps>): OperatorLimits => ({
  type: 'operator-limits',
  caps: { ...defaultPolicy.caps, ...caps },
})
const { version: _, ...content } = defaultPolicy

describe("the operator's caps", () => {
  it('apply if they are lower, under a new version of the policy', () => {
    const caps = { ...defaultPolicy.caps, rounds: 5, tokens: 100 }
    const policy = withOperatorCaps(
      defaultPolicy,
      operator({ rounds: 5, calls: 1_000_000, tokens: 100 }),
    )
    expect(policy).toEqual(policyOf({ ...content, caps }))
    expect(policy.version).not.toBe(defaultPolicy.version)
  })

  it('never raise a cap of the agent', () => {
    const strict = policyOf({ ...content, caps: { rounds: 1, calls: 2, wallMs: 3, tokens: 4 } })
    expect(withOperatorCaps(strict, operator({ tokens: null }))).toBe(strict)
    expect(withOperatorCaps(strict, operator({ tokens: 1000 }))).toBe(strict)
  })

  it('leave the policy unchanged if there are none', () => {
    expect(withOperatorCaps(defaultPolicy, undefined)).toBe(defaultPolicy)
  })
})
