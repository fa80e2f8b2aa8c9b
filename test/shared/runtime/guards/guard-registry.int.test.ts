// Registers guards and runs them, on an embedded bus in memory.

import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { absentGuardDenial } from '../../../../services/executor/performer/absent-guards.ts'
import { guardsInForce } from '../../../../services/llm-gateway/performer/guards-in-force.ts'
import { defaultPolicy } from '../../../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { decode, encode } from '../../../../shared/codec/codec.ts'
import type { Bus } from '../../../../shared/contract/bus.ts'
import type { Guard } from '../../../../shared/contract/guard/guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  GuardInForce,
  GuardVerdict,
  RoundCleared,
} from '../../../../shared/contract/messages.ts'
import { guardTopicSpec, topicSpecs } from '../../../../shared/contract/retention.ts'
import { guardKeyPrefix } from '../../../../shared/contract/topology.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import {
  guardSetting,
  guardsReplacedMax,
  type RegisterOptions,
  registeredGuardNames,
  registeredGuards,
  registerGuard,
  switchGuard,
} from '../../../../shared/runtime/guards/guard-registry.ts'
import { runGuard } from '../../../../shared/runtime/guards/run-guard.ts'
import { removeStored } from '../../../../shared/runtime/settings/operator-setting.ts'
import { policyReader } from '../../../../shared/runtime/settings/policy-reader.ts'
import { until } from '../../../support/inbox.ts'
import { appendInputs } from '../../../support/inputs.ts'
import { callWith, declarationWith } from '../../../support/messages.ts'
import { handClock } from '../../bus/hand-clock.ts'

const log = createLog({ level: 'silent' })
const guard = {
  name: 'shell',
  version: '1',
  tools: ['bash', 'mail_*'],
  deadlineMs: 500,
  onTimeout: 'deny' as const,
}
let bus: Bus
beforeEach(async () => {
  bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await bus.ensureTopics(topicSpecs('weir.', 1))
  await appendInputs(bus, 'weir.rounds-checked')
})
afterEach(() => bus.close())

const registry = () => ({ bus, topicPrefix: 'weir.' })
const register = (fields: Partial<RegisterOptions> = {}) =>
  registerGuard({
    ...registry(),
    partitions: 1,
    retentionMs: 1_000,
    guard,
    replace: false,
    ...fields,
  })
const written = async () => (await bus.ends('weir.policies'))[0]?.end

describe('registering a guard', () => {
  it("writes one record for any number of registrations, and creates the guard's topic", async () => {
    for (let n = 0; n < 3; n += 1) await register()
    expect(await written()).toBe(1)
    expect(await bus.ends('weir.guard-verdicts.shell')).toHaveLength(1)
  })

  it("prefers a pattern's mode to the mode for all, and keeps earlier modes by default", async () => {
    const modes = new Map([['bash', 'enforce' as const]])
    expect((await register({ modes })).tools).toEqual([
      { pattern: 'bash', mode: 'enforce' },
      { pattern: 'mail_*', mode: 'shadow' },
    ])
    expect((await register({ modes: new Map([['bash', undefined]]) })).tools[0]?.mode).toBe(
      'enforce',
    )
    await switchGuard(registry(), 'shell', { mode: 'shadow', by: 'test' })
    expect((await register()).tools[0]?.mode).toBe('shadow')
    expect(
      (
        await register({ mode: 'enforce', modes: new Map([['bash', 'shadow' as const]]) })
      ).tools.map(({ mode }) => mode),
    ).toEqual(['shadow', 'enforce'])
  })

  it('refuses a registered name, unless it replaces that guard', async () => {
    await register()
    for (const other of [
      { version: '2' },
      { tools: ['*'] },
      { deadlineMs: 1 },
      { onTimeout: 'allow' as const },
    ])
      await expect(register({ guard: { ...guard, ...other } })).rejects.toMatchObject({
        code: 'guard.taken',
      })
    await register({ guard: { ...guard, version: '2' }, replace: true })
    expect(await registeredGuards(registry())).toMatchObject([{ version: '2' }])
  })

  it.each([
    ['name', { name: 'No!' }],
    ['version', { version: '' }],
    ['tools', { tools: [] }],
    ['a pattern with a blank', { tools: ['bash', 'deploy '] }],
    ['a pattern with =', { tools: ['pay=Enforce'] }],
    ['deadline', { deadlineMs: 0.5 }],
  ])('refuses an invalid registration, and writes nothing: %s', async (_, fields) => {
    await expect(register({ guard: { ...guard, ...fields } })).rejects.toMatchObject({
      code: 'guard.invalid',
    })
    expect(await written()).toBe(0)
  })

  it('refuses a guard beyond the limit of guards in force', async () => {
    for (let n = 0; n < limits.guardsMax; n += 1)
      await register({ guard: { ...guard, name: `g${n}` } })
    await expect(register()).rejects.toMatchObject({
      code: 'guard.invalid',
      message: expect.stringContaining('which is the limit'),
    })
    await register({ guard: { ...guard, name: 'g0' } })
    expect(await registeredGuardNames(registry())).toHaveLength(limits.guardsMax)
  })
})

describe('a guard that is changed again and again', () => {
  const minute = 60_000

  it('has each round stamped with one of its registrations, and no call without it starts', async () => {
    const clock = handClock()
    const own = await openEmbeddedBus({ file: ':memory:', clock })
    await own.ensureTopics(topicSpecs('weir.', 1))
    const place = { bus: own, topicPrefix: 'weir.' }
    const { policies } = policyReader(place)
    const registered = () => policies(guardKeyPrefix)
    const refused: unknown[] = []
    const started: unknown[] = []
    const stamps: { at: number; guards: GuardInForce[] }[] = []
    for (let change = 0; change < 12; change += 1) {
      const version = `${change}`
      const changed = { ...guard, version }
      await register({ ...place, guard: changed, mode: 'enforce', replace: true })
      const guards = guardsInForce((await registered()).map(({ message }) => message))
      if (typeof guards === 'string') throw new Error(guards)
      stamps.push({ at: clock.now(), guards })
      for (const later of [0, 4 * minute]) {
        clock.advance(later)
        const records = await registered()
        const clearedAt = clock.now()
        const isDenied = (inRound: GuardInForce[]) =>
          absentGuardDenial(records, { tool: 'bash', clearedAt, guards: inRound }) !== undefined
        for (const stamp of stamps)
          if (clearedAt - stamp.at < limits.guardStampedMs && isDenied(stamp.guards))
            refused.push([change, later, stamp])
        const isOld = clearedAt - (stamps[0]?.at ?? 0) >= limits.guardStampedMs
        if (isOld && !isDenied([])) started.push([change, later])
      }
    }
    expect({ refused, started }).toEqual({ refused: [], started: [] })
    const [record] = await registeredGuards(place)
    await own.close()
    expect(record?.firstAt).toBe(stamps[0]?.at)
    expect(record?.replaced.map(({ guard: one }) => one.version)).toEqual(
      Array.from({ length: guardsReplacedMax }, (_, place) => `${place + 3}`),
    )
  })

  it.each([
    ['starts', limits.turnWallMsMax],
    ['has no turn any more', limits.turnWallMsMax + 3 * limits.guardStampedMs],
  ])('%s: a call that has waited for a person since before the changes', async (name, waitedMs) => {
    const clock = handClock()
    const own = await openEmbeddedBus({ file: ':memory:', clock })
    await own.ensureTopics(topicSpecs('weir.', 1))
    const place = { bus: own, topicPrefix: 'weir.' }
    const { policies } = policyReader(place)
    const change = (version: string) =>
      register({ ...place, guard: { ...guard, version }, mode: 'enforce', replace: true })
    await change('1')
    clock.advance(limits.turnWallMsMax)
    const registered = async () => policies(guardKeyPrefix)
    const stamped = guardsInForce((await registered()).map(({ message }) => message))
    if (typeof stamped === 'string') throw new Error(stamped)
    const clearedAt = clock.now()
    await change('2')
    clock.advance(waitedMs)
    await change('3')
    const call = { tool: 'bash', clearedAt, guards: stamped }
    const denial = absentGuardDenial(await registered(), call)
    await own.close()
    expect(denial === undefined).toBe(name === 'starts')
  })

  it('keeps a bounded number of earlier registrations', async () => {
    for (let version = 0; version < guardsReplacedMax + 3; version += 1)
      await register({ guard: { ...guard, version: `${version}` }, replace: true })
    const [record] = await registeredGuards(registry())
    expect(record?.replaced.map(({ guard: one }) => one.version)).toEqual(
      Array.from({ length: guardsReplacedMax }, (_, place) => `${place + 2}`),
    )
  })

  it('begins anew after its removal', async () => {
    await register()
    await removeStored(guardSetting, registry(), { id: 'shell', by: 'test' })
    await register()
    expect(await registeredGuards(registry())).toMatchObject([{ firstAt: null, replaced: [] }])
  })
})

describe('running a guard', () => {
  const inForce = { ...guard, rules: null, tools: [{ pattern: 'bash', mode: 'enforce' as const }] }
  const round = (number: number): RoundCleared => ({
    type: 'round-cleared',
    conversation: 'c',
    turn: 0,
    round: number,
    agent: 'a',
    policy: { ...defaultPolicy, guards: [inForce] },
    calls: [callWith({ id: '', name: 'bash' })],
    declarations: [declarationWith({ name: 'bash', timeoutMs: 1 })],
    decided: [],
    expiresAt: 1e15,
    extendedTo: null,
  })
  const clear = (number: number) =>
    bus.append([
      {
        topic: 'weir.rounds-cleared',
        partition: 0,
        key: 'c',
        value: encode(round(number)),
        id: `loop-detector/0/${number}/0`,
      },
    ])
  const answers = async () => (await bus.ends('weir.guard-verdicts.shell'))[0]?.end

  it('gives the same answers under the same ids from two instances', async () => {
    await bus.ensureTopics([guardTopicSpec('weir.', 'shell', 1)])
    const rejecting: Guard = {
      ...guard,
      judge: (_, { calls }) => ({
        state: undefined,
        verdicts: calls.map(({ ordinal }) => ({
          ordinal,
          verdict: 'deny',
          code: 'no',
          text: 'No.',
        })),
      }),
    }
    const apart: Bus = {
      ...bus,
      subscribe: (options) => bus.subscribe({ ...options, group: randomUUID() }),
    }
    const both = await Promise.all(
      [1, 2].map(() => runGuard(rejecting, { bus: apart, topicPrefix: 'weir.', log })),
    )
    await clear(1)
    await until(async () => (await answers()) === 2)
    for (const one of both) await one.close()
    const [first, second] = (
      await bus.read({ topic: 'weir.guard-verdicts.shell', partition: 0, from: 0, limit: 9 })
    ).map((record) => ({
      id: record.id,
      verdicts: (decode(record.value as Uint8Array) as GuardVerdict).verdicts,
    }))
    expect(first).toEqual(second)
    expect(first?.id).toBe('guard.shell/0/0/0')
  })

  it('continues after its own answers with its memory, if the bus keeps no commit for it', async () => {
    const seen: unknown[] = []
    const counting: Guard<number> = {
      ...guard,
      judge(state = 0, { calls }) {
        seen.push(state)
        return {
          state: state + 1,
          verdicts: calls.map(({ ordinal }) => ({ ordinal, verdict: 'allow' })),
        }
      },
    }
    await bus.ensureTopics([guardTopicSpec('weir.', 'shell', 1)])
    /** Each subscription begins without a commit, as next to the owner of a data folder. */
    const forgetful: Bus = {
      ...bus,
      subscribe: (options) => bus.subscribe({ ...options, group: randomUUID() }),
    }
    const run = () => runGuard(counting as Guard, { bus: forgetful, topicPrefix: 'weir.', log })
    const first = await run()
    await clear(1)
    await clear(2)
    await until(async () => (await answers()) === 2)
    await first.close()
    const second = await run()
    await clear(3)
    await until(async () => (await answers()) === 3)
    await second.close()
    expect(seen).toEqual([0, 1, 0, 1, 2])
  })
})
