import { describe, expect, it } from '@jest/globals'
import {
  guardsInForce,
  withGuards,
} from '../../../../services/llm-gateway/performer/guards-in-force.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/policy/policy.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { GuardInForce, GuardRegistration } from '../../../../shared/contract/messages.ts'

const guard = (fields: Partial<GuardInForce> = {}): GuardInForce => ({
  name: 'shell',
  version: '1',
  tools: [{ pattern: 'exec*', mode: 'enforce' }],
  deadlineMs: 5_000,
  onTimeout: 'deny',
  rules: null,
  ...fields,
})
const registered = (fields: Partial<GuardInForce> = {}): GuardRegistration => ({
  type: 'guard-registration',
  ...guard(fields),
  registeredAt: 1,
  setBy: '',
  firstAt: null,
  replaced: [],
})

describe('the guards in force', () => {
  it('are stamped on the round by name, under a new version of the policy', () => {
    const guards = guardsInForce([registered({ name: 'spend' }), registered()]) as GuardInForce[]
    expect(guards).toEqual([guard(), guard({ name: 'spend' })])
    const policy = withGuards(defaultPolicy, guards)
    expect(policy.guards).toEqual(guards)
    expect(policy.version).not.toBe(defaultPolicy.version)
    expect(policy.version).not.toBe(withGuards(defaultPolicy, [guard()]).version)
  })

  it('leave the policy unchanged if there are none', () => {
    expect(withGuards(defaultPolicy, [])).toBe(defaultPolicy)
  })

  it('come from the table alone: guards in a message have no effect', () => {
    const claimed = policyOf({ ...defaultPolicy, guards: [guard({ onTimeout: 'allow' })] })
    expect(withGuards(claimed, []).guards).toEqual([])
    expect(withGuards(claimed, [guard({ name: 'spend' })]).guards).toEqual([
      guard({ name: 'spend' }),
    ])
  })

  it.each<[string, Partial<GuardInForce>, RegExp]>([
    ['a name that is none', { name: 'Shell!' }, /its name is "Shell!"/],
    ['no version', { version: '' }, /its version is ""/],
    ['no tools', { tools: [] }, /it names 0 patterns/],
    ['an empty pattern', { tools: [{ pattern: '', mode: 'shadow' }] }, /a pattern of tools is ""/],
    ['no deadline', { deadlineMs: 0 }, /its deadline is 0 ms/],
    [
      'the name of the approval guard, and no rules',
      { name: 'approval' },
      /are reserved for Weir's own guard/,
    ],
    ['rules that are not for it', { rules: '[]' }, /are reserved for Weir's own guard/],
    [
      'rules that are too long',
      { name: 'approval', rules: ' '.repeat(20_000) },
      /its rules have 20000 bytes; at most 16384/,
    ],
    ['an endless deadline', { deadlineMs: 1e12 }, /its deadline is 1000000000000 ms/],
  ])('cannot be known with %s, so no round runs', (_, fields, reason) => {
    expect(guardsInForce([registered(), registered(fields)])).toMatch(reason)
  })

  it('cannot be known if a registration is another record, or if there are too many', () => {
    expect(guardsInForce([{ type: 'operator-limits', caps: defaultPolicy.caps }])).toMatch(
      /is a operator-limits/,
    )
    const many = Array.from({ length: limits.guardsMax + 1 }, (_, n) =>
      registered({ name: `g${n}` }),
    )
    expect(guardsInForce(many)).toMatch(/33 guards are registered; at most 32 are taken/)
  })
})
