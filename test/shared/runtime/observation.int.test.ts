// A performer's observation that cannot be written: it is retried while that can help. Then the
// stage reports that it cannot continue.

import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type FakeClock, fakeClock } from '../../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { Bus, Subscription } from '../../../shared/contract/bus.ts'
import type { AttemptFailed, ModelRequest, Tick } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { closed, type Stage } from '../../../shared/contract/stage.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { observationTriesMax } from '../../../shared/runtime/observation.ts'
import { runStage } from '../../../shared/runtime/run-stage.ts'

/** Has no effect. */
const idle: Stage<never, ModelRequest | Tick, string> = {
  name: 'llm-gateway',
  unit: () => '',
  react: () => closed,
  wants: () => [],
  due: () => undefined,
  failed: () => closed,
}

const observation: AttemptFailed = {
  type: 'attempt-failed',
  conversation: 'c',
  turn: 0,
  round: 1,
  attempt: 'a',
  reason: 'x',
  class: 'transient',
  retryable: true,
  retryAfterMs: 0,
  historyRefused: false,
  historyShortened: false,
  toolsRefused: false,
  reasoningRefused: 'none',
}

const full = new WeirError('bus.full', 'no space left', { retryable: true })

let clock: FakeClock
let bus: Bus
let subscription: Subscription
let context: PerformerContext
/** Errors of the next appends, in order. */
let errors: Error[]
let appends: number

beforeEach(async () => {
  clock = fakeClock(1_000_000)
  errors = []
  appends = 0
  bus = await openEmbeddedBus({ file: ':memory:', clock })
  await bus.ensureTopics(topicSpecs('', 1))
  const failing: Bus = {
    ...bus,
    async append(records) {
      appends += 1
      const error = errors.shift()
      if (error !== undefined) throw error
      return bus.append(records)
    },
  }
  const startPerformer = (given: PerformerContext) => {
    context = given
    return { reconcile: () => {}, close: async () => {} }
  }
  subscription = await runStage(
    { stage: idle, startPerformer },
    { bus: failing, topicPrefix: '', log: pino({ level: 'silent' }) },
  )
})

afterEach(async () => {
  await subscription.close()
  await bus.close()
})

/** Advances time until no wait is pending, and returns the waits. */
async function passTime(): Promise<number[]> {
  const waits: number[] = []
  let since = clock.now()
  await turn()
  for (let passed = 0; passed < 4_000; passed += 1) {
    const before = appends
    clock.advance(1)
    await turn()
    if (appends === before) continue
    waits.push(clock.now() - since)
    since = clock.now()
  }
  return waits
}

describe('an observation that cannot be written', () => {
  it('is retried after waits that double, and is written once when there is room again', async () => {
    errors = [full, full, full]
    const writing = context.write('self', [observation])
    expect(await passTime()).toEqual([200, 400, 800])
    expect(await writing).toHaveLength(1)
    expect(await bus.ends('model-requests')).toMatchObject([{ end: 1 }])
  })

  it('fails after the last retry: the write is rejected, and the stage cannot continue', async () => {
    errors = new Array(observationTriesMax).fill(full)
    const refused = expect(context.write('self', [observation])).rejects.toBe(full)
    await passTime()
    await refused
    await expect(subscription.failed).rejects.toBe(full)
    expect(appends).toBe(observationTriesMax)
  })

  it('fails at once if no retry can help', async () => {
    const hopeless = new WeirError('bus.not-a-database', 'it is damaged')
    errors = [hopeless]
    await expect(context.write('self', [observation])).rejects.toBe(hopeless)
    await expect(subscription.failed).rejects.toBe(hopeless)
    expect(appends).toBe(1)
  })
})
