import { describe, expect, it } from '@jest/globals'
import {
  absentGuardDenial,
  type GuardedCall,
} from '../../../../services/executor/performer/absent-guards.ts'
import { startExecutor } from '../../../../services/executor/performer/performer.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  GuardInForce,
  GuardRegistration,
  Message,
} from '../../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../../shared/contract/performer.ts'
import { agents, fakeTools, inbox, settled, testClock } from '../performer-world.ts'
import { callOf, cancel, policy, roundCleared } from '../samples.ts'

const shell: GuardInForce = {
  name: 'shell',
  version: '1',
  deadlineMs: 1_000,
  onTimeout: 'deny',
  rules: null,
  tools: [{ pattern: 'mail', mode: 'enforce' }],
}
const clearedAt = 100 * limits.guardStampedMs
const longAgo = clearedAt - limits.guardStampedMs
const registration = (fields: Partial<GuardRegistration> = {}): GuardRegistration => ({
  type: 'guard-registration',
  ...shell,
  registeredAt: 0,
  setBy: '',
  firstAt: null,
  replaced: [],
  ...fields,
})

function vetoed(
  message: Message,
  { time = longAgo, ...call }: Partial<GuardedCall> & { time?: number } = {},
): boolean {
  const guarded = { tool: 'mail', clearedAt, guards: [], ...call }
  return absentGuardDenial([{ message, time }], guarded) !== undefined
}

describe('a guard that enforces for the tool', () => {
  it.each<[string, boolean, boolean]>([
    ['and is absent from the round vetoes', vetoed(registration()), true],
    ['and is in the round vetoes nothing', vetoed(registration(), { guards: [shell] }), false],
    [
      'but whose first registration is younger than the stamp can be vetoes nothing',
      vetoed(registration(), { time: longAgo + 1 }),
      false,
    ],
    ['for other tools only vetoes nothing', vetoed(registration(), { tool: 'look' }), false],
    [
      'in shadow only vetoes nothing',
      vetoed(registration({ tools: [{ pattern: '*', mode: 'shadow' }] })),
      false,
    ],
    [
      'but is in shadow in the round vetoes',
      vetoed(registration(), {
        guards: [{ ...shell, tools: [{ pattern: 'mail', mode: 'shadow' }] }],
      }),
      true,
    ],
    [
      'but whose silence allows in the round vetoes',
      vetoed(registration(), { guards: [{ ...shell, onTimeout: 'allow' }] }),
      true,
    ],
    [
      'but has another deadline in the round vetoes',
      vetoed(registration(), { guards: [{ ...shell, deadlineMs: 1 }] }),
      true,
    ],
    [
      'but has other rules in the round vetoes',
      vetoed(registration({ rules: '[1]' }), { guards: [shell] }),
      true,
    ],
  ])('%s', (_, found, expected) => expect(found).toBe(expected))

  const changed = registration({
    version: '2',
    firstAt: longAgo,
    replaced: [{ since: longAgo, guard: shell }],
  })
  const now = { ...shell, version: '2' }
  const toShadow: GuardInForce = { ...shell, tools: [{ pattern: 'mail', mode: 'shadow' }] }
  it.each<[string, boolean, boolean]>([
    ['and is absent from the round vetoes', vetoed(changed, { time: clearedAt - 1 }), true],
    [
      'and is in the round as it was vetoes nothing',
      vetoed(changed, { time: clearedAt - 1, guards: [shell] }),
      false,
    ],
    [
      'and is in the round as it is vetoes nothing',
      vetoed(changed, { time: clearedAt - 1, guards: [now] }),
      false,
    ],
    [
      'and is in the round as it never was vetoes',
      vetoed(changed, { time: clearedAt - 1, guards: [{ ...shell, onTimeout: 'allow' }] }),
      true,
    ],
    [
      'and is in the round as it was too long ago vetoes',
      vetoed(changed, { time: longAgo, guards: [shell] }),
      true,
    ],
    [
      'and was in shadow may be absent',
      vetoed(
        { ...changed, replaced: [{ since: longAgo, guard: toShadow }] },
        { time: clearedAt - 1 },
      ),
      false,
    ],
    [
      'more often than a registration keeps, and is in the round as it is not kept, vetoes',
      vetoed({ ...changed, replaced: [] }, { time: clearedAt - 1, guards: [shell] }),
      true,
    ],
  ])('that was changed after the round could be stamped %s', (_, found, expected) =>
    expect(found).toBe(expected),
  )

  it('vetoes if its registration is a record of another type', () => {
    const strange: Message = { type: 'operator-limits', caps: policy.caps }
    expect(vetoed(strange)).toBe(true)
  })

  it('gives the model the reason', () => {
    const veto = absentGuardDenial([{ message: registration(), time: longAgo }], {
      tool: 'mail',
      clearedAt,
      guards: [],
    })
    expect(veto).toEqual({
      status: 'denied',
      text: 'Tool call vetoed before execution: the guard "shell" is in force and did not get this call.',
      reason: 'vetoed by guard shell: guard.absent',
      guard: 'shell',
    })
  })
})

describe('a round that lacks a registered guard', () => {
  function world(policies: PerformerContext['policies']) {
    const clock = testClock()
    clock.pass(clearedAt)
    const tools = fakeTools({ startable: true })
    const { append, own, outputs } = inbox(clock)
    const owner = own('a', startExecutor({ agents, run: tools.run }), { policies })
    return { append, owner, outputs, tools, clock }
  }
  const forged = roundCleared({
    expiresAt: 2 * clearedAt,
    calls: [callOf(0), callOf(1, { name: 'look' })],
  })
  const results = (outputs: Message[]) =>
    outputs.flatMap((message) =>
      message.type === 'round-executed' ? message.results.map(({ status }) => status) : [],
    )

  it('starts no tool that the guard judges, and the others start', async () => {
    const { append, owner, outputs, tools } = world(async () => [
      { key: 'guard:mail', message: registration(), time: 0 },
    ])
    append(forged)
    await settled()
    expect(tools.started.map(({ call }) => call.idempotencyKey)).toEqual(['["c",7,1,1]'])
    await tools.started[0]?.end()
    expect(results(outputs)).toEqual(['denied', 'ok'])
    expect(owner.lines.join('')).toContain('a call was denied before its start')
  })

  it('starts no tool while the registrations cannot be read', async () => {
    const { append, outputs, tools } = world(() => Promise.reject(new Error('no message')))
    append(forged)
    await settled()
    expect(tools.started).toEqual([])
    expect(results(outputs)).toEqual(['denied', 'denied'])
  })

  it('gives the claim back if the turn is cancelled while the registrations are read', async () => {
    const { promise, resolve } = Promise.withResolvers<[]>()
    const { append, outputs, tools } = world(() => promise)
    append(forged)
    await settled()
    append({ ...cancel, expiresAt: 2 * clearedAt })
    resolve([])
    await settled()
    expect(tools.started).toEqual([])
    expect(results(outputs)).toEqual(['skipped', 'skipped'])
  })

  it('gives the claim back if the registrations come too late for a start', async () => {
    const { promise, resolve } = Promise.withResolvers<[]>()
    let reads = 0
    const { append, tools, clock, owner } = world(() =>
      reads++ < 2 ? promise : new Promise(() => {}),
    )
    append(forged)
    await settled()
    clock.pass(policy.startWithinMs)
    resolve([])
    await settled()
    expect(tools.started).toEqual([])
    expect(owner.written.filter(({ type }) => type === 'outcome')).toMatchObject([
      { result: null },
      { result: null },
    ])
  })
})
