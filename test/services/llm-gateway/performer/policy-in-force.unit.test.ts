import { describe, expect, it } from '@jest/globals'
import { policyInForce } from '../../../../services/llm-gateway/performer/policy-in-force.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/policy/policy.ts'
import type {
  AgentPolicy,
  GuardRegistration,
  Message,
  OperatorLimits,
  Policy,
} from '../../../../shared/contract/messages.ts'
import { keyOf } from '../../../../shared/contract/topology.ts'

const set = (agent: string, entries: Record<string, string>): AgentPolicy => ({
  type: 'agent-policy',
  agent,
  setBy: 'anna',
  setAt: 1,
  entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
})

/** The policy in force for agent `coder` with these records in the table, and the logged lines. */
async function inForce(
  table: Message[],
  own: Policy = defaultPolicy,
): Promise<{ policy: Policy | string; logged: unknown[] }> {
  const logged: unknown[] = []
  const context = {
    policy: async (key: string) => table.find((message) => keyOf(message) === key),
    policies: async (...prefixes: string[]) =>
      table
        .map((message) => ({ key: keyOf(message), message, time: 0 }))
        .filter(({ key }) => prefixes.some((prefix) => key.startsWith(prefix))),
  }
  const policy = await policyInForce(context, {
    agent: 'coder',
    conversation: 'c',
    own,
    log: { warn: (fields: unknown) => logged.push(fields) },
  })
  return { policy, logged }
}

const { version: _, ...content } = defaultPolicy

describe('the policy in force', () => {
  it("is the agent's, under its version, if nothing is set or nothing differs", async () => {
    expect((await inForce([])).policy).toBe(defaultPolicy)
    expect(
      (
        await inForce([
          set('coder', {
            'loop.identicalFailures': '3',
            'rule.cycle': 'enforce',
            'caps.rounds': '99',
          }),
        ])
      ).policy,
    ).toBe(defaultPolicy)
  })

  it("uses the operator's settings for the agent, then those for all agents, then the agent file", async () => {
    const own = policyOf({
      ...content,
      loop: { ...content.loop, cycleLaps: 9 },
      shadowed: ['cycle', 'sweep'],
    })
    const { policy, logged } = await inForce(
      [
        set('*', {
          'loop.identicalFailures': '5',
          'loop.cycleLaps': '2',
          'rule.monologue': 'shadow',
          'rule.cycle': 'enforce',
        }),
        set('coder', {
          'loop.identicalFailures': '2',
          'empty.perTurn': '0',
          'loop.schemaFailureEndsTurn': 'true',
        }),
        set('other', { 'loop.identicalFailures': '7' }),
      ],
      own,
    )
    expect(policy).toEqual(
      policyOf({
        ...content,
        loop: { ...content.loop, identicalFailures: 2, cycleLaps: 2, schemaFailureEndsTurn: true },
        empty: { ...content.empty, perTurn: 0 },
        shadowed: ['monologue', 'sweep'],
      }),
    )
    expect(logged).toEqual([])
  })

  it('has one version for each content, from any source', async () => {
    const versions = await Promise.all(
      [
        set('coder', { 'rule.cycle': 'shadow' }),
        set('*', { 'rule.cycle': 'shadow' }),
        set('*', { 'rule.sweep': 'shadow' }),
      ].map(async (record) => ((await inForce([record])).policy as Policy).version),
    )
    expect(versions[0]).toBe(versions[1])
    expect(new Set([...versions, defaultPolicy.version]).size).toBe(3)
  })

  it('never has a higher cap than the agent or the operator allows', async () => {
    const operator: OperatorLimits = {
      type: 'operator-limits',
      caps: { ...defaultPolicy.caps, calls: 7 },
    }
    const { policy } = await inForce([
      operator,
      set('coder', { 'caps.rounds': '100', 'caps.calls': '9', 'caps.tokens': '500' }),
    ])
    expect((policy as Policy).caps).toEqual({
      ...defaultPolicy.caps,
      rounds: 25,
      calls: 7,
      tokens: 500,
    })
  })

  it('ignores unknown and out-of-bounds entries with a line in the log, and applies the rest', async () => {
    const { policy, logged } = await inForce([
      set('coder', {
        'loop.identicalFailures': '0',
        'loop.cycleLaps': '4',
        'rule.cycel': 'shadow',
        'rule.sweep': 'off',
        'caps.wallMs': '-1',
      }),
    ])
    expect(policy).toEqual(policyOf({ ...content, loop: { ...content.loop, cycleLaps: 4 } }))
    expect(logged).toEqual([
      {
        policy: 'policy:coder',
        faults: expect.arrayContaining([
          expect.stringMatching(/^rule\.cycel names no rule; did you mean rule\.cycle\?/),
          expect.stringMatching(
            /^loop\.identicalFailures is 0; must be a whole number from 1 to 1000/,
          ),
          expect.stringMatching(/^rule\.sweep is "off"; must be enforce or shadow/),
          expect.stringMatching(/^caps\.wallMs is "-1"; must be a whole number/),
        ]),
        more: 0,
      },
    ])
  })

  it('keeps the guards next to rules in shadow mode', async () => {
    const guard: GuardRegistration = {
      type: 'guard-registration',
      name: 'shell',
      version: '1',
      tools: [{ pattern: '*', mode: 'enforce' }],
      deadlineMs: 5,
      onTimeout: 'deny',
      registeredAt: 1,
      setBy: '',
      firstAt: null,
      replaced: [],
      rules: null,
    }
    const { policy } = await inForce([guard, set('coder', { 'rule.cycle': 'shadow' })])
    expect(policy).toMatchObject({ shadowed: ['cycle'], guards: [{ name: 'shell' }] })
  })

  it('cannot be known if another record is in its place, so no round runs', async () => {
    const limits = { type: 'operator-limits' as const, caps: defaultPolicy.caps }
    const strange = { policy: async () => limits, policies: async () => [] }
    const options = {
      agent: 'coder',
      conversation: 'c',
      own: defaultPolicy,
      log: { warn: () => {} },
    }
    expect(await policyInForce(strange, options)).toMatch(
      /the policy 'policy:\*' is a operator-limits; remove it/,
    )
  })
})
