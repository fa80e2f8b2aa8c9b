// The topics that the configuration in force needs, on a log in memory.

import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { createNeededTopics } from '../../../shared/bus/fleet/needed-topics.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { guardSetting, registerGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import { removeStored } from '../../../shared/runtime/settings/operator-setting.ts'
import { until } from '../../support/inbox.ts'

let bus: Bus

beforeEach(async () => {
  bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await bus.ensureTopics(topicSpecs('w.', 1))
})
afterEach(() => bus.close())

it('the topic of a guard is needed only while the guard is registered', async () => {
  const log = { bus, topicPrefix: 'w.' }
  const guard = { name: 'bank', version: '1', tools: ['*'], deadlineMs: 1_000, onTimeout: 'deny' }
  const register = () =>
    registerGuard({
      ...log,
      partitions: 1,
      retentionMs: undefined,
      guard: { ...guard, onTimeout: 'deny' },
      replace: false,
    })
  await register()
  const needOf = createNeededTopics(() => bus, 'w.')
  const topic = 'w.guard-verdicts.bank'
  expect(needOf(topic)).toBe('while-registered')
  await removeStored(guardSetting, log, { id: 'bank', by: 'anna' })
  await until(async () => needOf(topic) === 'none')
  await register()
  await until(async () => needOf(topic) === 'while-registered')
})

it('a topic of Weir itself is always needed, and the topic of a guard also while policies cannot be read', async () => {
  const needOf = createNeededTopics(() => bus, 'w.')
  for (const topic of ['w.rounds-checked', 'w.guard-verdicts.approval', 'other.guard-verdicts.x'])
    expect([topic, needOf(topic)]).toEqual([topic, 'always'])
  let looks = 0
  const list = () => {
    looks += 1
    return Promise.reject(new Error('no broker answers'))
  }
  const needWithout = createNeededTopics(() => ({ list }), 'w.')
  await until(async () => needWithout('w.guard-verdicts.bank') === 'while-registered' && looks > 2)
})
