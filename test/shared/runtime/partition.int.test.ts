import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type FakeClock, fakeClock } from '../../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { Bus, Subscription } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  Cancel,
  Message,
  ModelRequest,
  Tick,
} from '../../../shared/contract/messages.ts'
import type { Performer, PerformerContext } from '../../../shared/contract/performer.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { closed, type Output, type Stage } from '../../../shared/contract/stage.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import { readPartition } from '../../../shared/runtime/partition.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { runStage } from '../../../shared/runtime/run-stage.ts'
import { appendInputs } from '../../support/inputs.ts'
import { cancel, modelRequest } from '../../support/messages.ts'

// A toy in the gateway's place. A request opens a unit with one task, due after a second. Each
// failed attempt changes the task, and a cancel closes the unit with a text.
type Open = { failed: number; due: number }
type In = ModelRequest | Cancel | AttemptFailed | Tick

const toy: Stage<Open, In, string> = {
  name: 'llm-gateway',
  unit: (message) => ('turn' in message ? `turn ${message.turn}` : ''),
  react(state, { message, time }) {
    switch (message.type) {
      case 'model-request':
        return { state: state ?? { failed: 0, due: time + 1_000 } }
      case 'attempt-failed':
        return state ? { state: { ...state, failed: state.failed + 1 } } : closed
      case 'tick':
        return state ? { state: { ...state, due: time + 1_000 } } : closed
      case 'cancel': {
        const { conversation, turn, round } = message
        return state
          ? {
              records: [
                {
                  to: 'response',
                  message: {
                    type: 'model-opened',
                    conversation,
                    turn,
                    round,
                    offered: [],
                    expiresAt: state.failed,
                  },
                },
              ],
            }
          : closed
      }
    }
  },
  wants: (state) => [`attempt ${state.failed}`],
  due: (state) => state.due,
  failed: () => closed,
}

type Reconciled = { unit: string; tasks: string[] }

class Harness {
  readonly folder = mkdtempSync(join(tmpdir(), 'weir-runtime-'))
  readonly clock: FakeClock = fakeClock(1_000_000)
  readonly reconciled: Reconciled[] = []
  readonly contexts: PerformerContext[] = []
  readonly closedHow: string[] = []
  bus!: Bus
  subscription: Subscription | undefined

  async open(): Promise<void> {
    this.bus = await openEmbeddedBus({ file: join(this.folder, 'weir.db'), clock: this.clock })
    await this.bus.ensureTopics(topicSpecs('', 1))
    await appendInputs(this.bus, 'conversation-events', 300)
  }

  async run(): Promise<void> {
    const startPerformer = (context: PerformerContext): Performer<string> => {
      this.contexts.push(context)
      return {
        reconcile: (unit, tasks) => this.reconciled.push({ unit, tasks }),
        close: async (how) => {
          this.closedHow.push(how)
        },
      }
    }
    this.subscription = await runStage(
      { stage: toy, startPerformer },
      { bus: this.bus, topicPrefix: '', log: pino({ level: 'silent' }) },
    )
    await settled()
  }

  async stop(): Promise<void> {
    await this.subscription?.close()
    this.subscription = undefined
    await this.bus.close()
  }

  async derived(offset: number, message: Message): Promise<void> {
    await this.bus.append([
      {
        topic: 'model-requests',
        partition: 0,
        key: keyOf(message),
        value: encode(message),
        id: `conversation/0/${offset}/0`,
      },
    ])
    await settled()
  }

  async observed(message: Message): Promise<void> {
    await this.bus.append([toRecord({ topic: 'model-requests', partition: 0, message })])
    await settled()
  }

  async read(topic: string): Promise<Message[]> {
    const records = await this.bus.read({ topic, partition: 0, from: 0, limit: 1_000 })
    return records.map((record) => decode(record.value as Uint8Array))
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

const attemptFailed: AttemptFailed = {
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

let harness: Harness

async function start(): Promise<Harness> {
  harness = new Harness()
  await harness.open()
  await harness.run()
  return harness
}

afterEach(async () => {
  await harness.stop()
  rmSync(harness.folder, { recursive: true })
})

describe('a partition', () => {
  it('whose log ends with invalid bytes has caught up when the bus is past them', async () => {
    const { bus, clock } = await start()
    const reconciled: string[] = []
    const reader = readPartition({
      bus,
      stage: toy,
      topicPrefix: '',
      observed: undefined,
      log: pino({ level: 'silent' }),
      assignment: {
        topic: 'model-requests',
        ends: { partition: 0, begin: 0, end: 2 },
        committed: undefined,
      },
      performer: { reconcile: (unit) => void reconciled.push(unit), close: async () => {} },
    })
    const opens = toRecord({ topic: 'model-requests', partition: 0, message: modelRequest() })
    await reader.read([{ ...opens, id: 'conversation/0/0/0', offset: 0, time: clock.now() }])
    reader.acknowledged()
    reader.passed?.(1)
    expect(reconciled).toEqual([])
    reader.passed?.(2)
    expect(reconciled).toHaveLength(1)
    await reader.close('shutdown')
  })
})

describe('a step', () => {
  /** A unit opens, with these outputs of the stage. */
  async function readerWith(records: Output[], actsAhead = false) {
    const { bus, clock } = await start()
    const reconciled: string[] = []
    const stage: Stage<Open, In, string> = {
      ...toy,
      actsAhead,
      react: (state, received) => ({ ...toy.react(state, received), records }),
    }
    const reader = readPartition({
      bus,
      stage,
      topicPrefix: '',
      observed: undefined,
      log: pino({ level: 'silent' }),
      assignment: {
        topic: 'model-requests',
        ends: { partition: 0, begin: 0, end: 0 },
        committed: undefined,
      },
      performer: {
        reconcile: (unit) => void reconciled.push(unit),
        acknowledged: () => void reconciled.push('acknowledged'),
        close: async () => {},
      },
    })
    const opens = toRecord({ topic: 'model-requests', partition: 0, message: modelRequest() })
    const step = await reader.read([
      { ...opens, id: 'conversation/0/0/0', offset: 0, time: clock.now() },
    ])
    return { reader, step, reconciled }
  }
  const line: Output = {
    to: 'activity',
    message: {
      type: 'model-retry',
      conversation: 'c',
      turn: 0,
      round: 1,
      attempt: 'a',
      next: 2,
      reason: 'x',
      waitMs: 0,
    },
  }
  const opened: Output = {
    to: 'response',
    message: {
      type: 'model-opened',
      conversation: 'c',
      turn: 0,
      round: 1,
      offered: [],
      expiresAt: 1,
    },
  }

  const caughtUp = ['acknowledged']

  it('with lines of activity only lets the performer act before they are acknowledged, and once', async () => {
    const { reader, step, reconciled } = await readerWith([line])
    expect(step.allowsAhead).toBe(true)
    reader.goAhead?.()
    expect(reconciled).toEqual([...caughtUp, 'turn 0'])
    reader.acknowledged()
    expect(reconciled).toEqual([...caughtUp, 'turn 0', 'acknowledged'])
    await reader.close('shutdown')
  })

  it('of a stage that acts ahead lets the performer act before any output is acknowledged', async () => {
    const { reader, step, reconciled } = await readerWith([opened], true)
    expect(step.allowsAhead).toBe(true)
    reader.goAhead?.()
    expect(reconciled).toEqual([...caughtUp, 'turn 0'])
    reader.acknowledged()
    expect(reconciled).toEqual([...caughtUp, 'turn 0', 'acknowledged'])
    await reader.close('shutdown')
  })

  it.each([
    ['with an output to another stage', [opened]],
    ['with both', [line, opened]],
    ['without an output', []],
  ])('%s does not', async (_, outputs) => {
    const { reader, step } = await readerWith(outputs)
    expect(step.allowsAhead).toBe(false)
    await reader.close('shutdown')
  })
})

describe('a performer', () => {
  it('gets the tasks of an open unit, and none after it closed', async () => {
    const { reconciled } = await start()
    await harness.derived(1, modelRequest())
    await harness.observed(attemptFailed)
    await harness.derived(2, cancel())
    expect(reconciled).toEqual([
      { unit: 'turn 0', tasks: ['attempt 0'] },
      { unit: 'turn 0', tasks: ['attempt 1'] },
      { unit: 'turn 0', tasks: [] },
    ])
  })

  it('acts after a restart only on the state at the end of the log', async () => {
    await start()
    await harness.derived(1, modelRequest())
    await harness.stop()
    await harness.open()
    await harness.observed(attemptFailed)
    await harness.derived(2, modelRequest({ turn: 7 }))
    harness.reconciled.length = 0
    await harness.run()
    expect(harness.reconciled).toEqual([
      { unit: 'turn 0', tasks: ['attempt 1'] },
      { unit: 'turn 7', tasks: ['attempt 0'] },
    ])
  })

  it('acts after a restart even without new records', async () => {
    await start()
    await harness.derived(1, modelRequest())
    await harness.stop()
    await harness.open()
    harness.reconciled.length = 0
    await harness.run()
    expect(harness.reconciled).toEqual([{ unit: 'turn 0', tasks: ['attempt 0'] }])
  })

  it('has a new owner for every assignment', async () => {
    await start()
    await harness.stop()
    await harness.open()
    await harness.run()
    const owners = harness.contexts.map((context) => context.owner)
    expect(new Set(owners).size).toBe(2)
    expect(owners.every((owner) => /^[0-9a-f]{32}$/.test(owner))).toBe(true)
  })

  it('is closed with the subscription', async () => {
    await start()
    await harness.subscription?.close()
    expect(harness.closedHow).toEqual(['shutdown'])
  })

  it('writes only to the ports of its stage', async () => {
    await start()
    const [context] = harness.contexts
    await context?.write('self', [attemptFailed])
    expect(await harness.read('model-requests')).toEqual([attemptFailed])
    await expect(context?.write('tools', [attemptFailed])).rejects.toMatchObject({
      code: 'runtime.assertion',
    })
  })

  it('reads history in order of turn and round, up to the entry that it waits for', async () => {
    await start()
    const [context] = harness.contexts
    const entry = (turn: number, round: number, conversation = 'c'): Message => ({
      type: 'history-entry',
      redact: [],
      conversation,
      turn,
      round,
      user: null,
      response: null,
      results: [],
      contents: [],
      afterTurn: null,
      nudge: null,
      note: null,
    })
    await harness.bus.append(
      [entry(2, 0), entry(10, 0), entry(2, 1), entry(9, 0), entry(9, 1, 'd')].map((message) =>
        toRecord({ topic: 'history', partition: 0, message }),
      ),
    )
    const waiting = context?.history({ conversation: 'c', turn: 9, round: 1 }, 5_000)
    await settled()
    await harness.bus.append([toRecord({ topic: 'history', partition: 0, message: entry(9, 1) })])
    expect(await waiting).toEqual([entry(2, 0), entry(2, 1), entry(9, 0), entry(9, 1)])
  })
})

describe('a restart', () => {
  it('writes nothing a second time', async () => {
    await start()
    await harness.derived(1, modelRequest({ turn: 3 }))
    await harness.derived(2, modelRequest())
    await harness.derived(3, cancel())
    await harness.stop()
    await harness.open()
    await harness.run()
    await harness.derived(3, cancel())
    expect(await harness.read('model-deltas')).toHaveLength(1)
  })

  it('restores the state of the unit', async () => {
    await start()
    await harness.derived(1, modelRequest())
    await harness.observed(attemptFailed)
    await harness.stop()
    await harness.open()
    await harness.observed(attemptFailed)
    await harness.run()
    await harness.derived(2, cancel())
    expect(await harness.read('model-deltas')).toMatchObject([
      { type: 'model-opened', expiresAt: 2 },
    ])
  })

  it('from a commit beyond the log stops the stage with the reason', async () => {
    await start()
    await harness.stop()
    const bus = await openEmbeddedBus({ file: ':memory:', clock: harness.clock })
    await bus.ensureTopics(topicSpecs('', 1))
    const assignment = {
      topic: 'model-requests',
      ends: { partition: 0, begin: 0, end: 3 },
      committed: { offset: 4, metadata: '{"from":2,"marks":{}}' },
    }
    const foreign: Bus = {
      ...bus,
      async subscribe({ assign }) {
        await assign(assignment)
        return { joined: true, failed: new Promise(() => {}), close: async () => {} }
      },
    }
    await expect(
      runStage({ stage: toy }, { bus: foreign, topicPrefix: '', log: pino({ level: 'silent' }) }),
    ).rejects.toMatchObject({
      code: 'bus.commit-outside-log',
    })
    await bus.close()
    await harness.open()
  })
})

describe('a tick', () => {
  const ticks = async () =>
    (await harness.read('model-requests')).filter((message) => message.type === 'tick')

  it('is written when a unit is due, and not earlier', async () => {
    await start()
    await harness.derived(1, modelRequest())
    harness.clock.advance(999)
    await settled()
    expect(await ticks()).toEqual([])
    harness.clock.advance(1)
    await settled()
    expect(await ticks()).toEqual([{ type: 'tick', conversation: 'c', unit: 'turn 0' }])
  })

  it('is written again when the unit is due again', async () => {
    await start()
    await harness.derived(1, modelRequest())
    for (let i = 0; i < 3; i++) {
      harness.clock.advance(1_000)
      await settled()
    }
    expect(await ticks()).toHaveLength(3)
  })

  it('waits until the bus has accepted or rejected the previous one, without a limit', async () => {
    harness = new Harness()
    await harness.open()
    await harness.derived(1, modelRequest())
    const { append } = harness.bus
    const refusal = Promise.withResolvers<never>()
    let appends = 0
    harness.bus = {
      ...harness.bus,
      async append(records) {
        appends += 1
        return appends === 1 ? refusal.promise : append(records)
      },
    }
    await harness.run()
    for (let i = 0; i < 5; i++) {
      harness.clock.advance(1_000)
      await settled()
    }
    expect(appends).toBe(1)
    expect(await ticks()).toEqual([])
    refusal.reject(new Error('the bus gave up'))
    await settled()
    expect(await ticks()).toHaveLength(1)
  })

  it('of one of many units may come a little later, which avoids a scan of all units', async () => {
    await start()
    const units = 200
    for (let turn = 0; turn < units; turn += 1) {
      await harness.derived(turn + 1, modelRequest({ turn }))
      harness.clock.advance(1)
    }
    harness.clock.advance(1_000 - units)
    const looks = new Set<number>()
    for (let passed = 0; passed < units + 2 * units * limits.tickLookMsPerUnit; passed += 1) {
      harness.clock.advance(1)
      await settled()
      looks.add((await harness.bus.ends('model-requests'))[0]?.end ?? 0)
    }
    expect(await ticks()).toHaveLength(units)
    expect(looks.size).toBeLessThan(units * 0.6)
  })

  it('of a unit that became overdue without a running stage is written after catching up', async () => {
    await start()
    await harness.derived(1, modelRequest())
    await harness.stop()
    harness.clock.advance(60_000)
    await harness.open()
    await harness.run()
    harness.clock.advance(0)
    await settled()
    expect(await ticks()).toHaveLength(1)
  })

  it('is not written after the stage closed', async () => {
    await start()
    await harness.derived(1, modelRequest())
    await harness.subscription?.close()
    harness.clock.advance(10_000)
    await settled()
    expect(await ticks()).toEqual([])
  })

  /**
   * Opens a bus whose log is `behindMs` after the machine's clock. `skew`: each append
   * measures it.
   */
  async function openLogBehind(
    behindMs: number,
    skew?: { measuredMs: number | undefined },
  ): Promise<void> {
    harness = new Harness()
    const machine = harness.clock
    machine.advance(36_000_000) // a log's times are not negative
    const clock = { ...machine, now: () => machine.now() - behindMs }
    const bus = await openEmbeddedBus({ file: join(harness.folder, 'weir.db'), clock })
    await bus.ensureTopics(topicSpecs('', 1))
    await appendInputs(bus, 'conversation-events', 300)
    harness.bus = {
      ...bus,
      clock: { ...machine, now: () => machine.now() + (skew?.measuredMs ?? 0) },
      ...(skew && { clockSkew: skew }),
      async append(records) {
        const appended = await bus.append(records)
        if (skew !== undefined && hasStarted) skew.measuredMs = -behindMs
        return appended
      },
    }
    let hasStarted = false
    const { subscribe } = harness.bus
    harness.bus.subscribe = (options) => {
      hasStarted = true
      return subscribe(options)
    }
  }

  it('that the log dates before the deadline is repeated when the rest has passed, and no sooner', async () => {
    await openLogBehind(400)
    await harness.derived(1, modelRequest())
    await harness.run()
    harness.clock.advance(600) // the machine reaches the deadline, and the log needs 400 more
    await settled()
    expect(await ticks()).toHaveLength(1)
    harness.clock.advance(399)
    await settled()
    expect(await ticks()).toHaveLength(1)
    harness.clock.advance(1)
    await settled()
    expect(await ticks()).toHaveLength(2)
  })

  it('is not repeated while its record waits to be read, and while other records arrive', async () => {
    harness = new Harness()
    await harness.open()
    await harness.derived(1, modelRequest())
    const { append } = harness.bus
    const written: unknown[] = []
    harness.bus = {
      ...harness.bus,
      /** Ticks are acknowledged, and reach the reader much later. */
      async append(records) {
        written.push(...records)
        return records.map((record) => ({
          partition: record.partition,
          offset: 0,
          time: harness.clock.now(),
        }))
      },
    }
    await harness.run()
    for (let n = 0; n < 5; n += 1) {
      harness.clock.advance(1_000)
      const value = encode(attemptFailed)
      await append([{ topic: 'model-requests', partition: 0, key: 'c', value }])
      await settled()
    }
    expect(written).toHaveLength(1)
  })

  it.each([
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ])('of the first due unit measures a clock %s the log at the start', async (_, behindMs) => {
    const skew: { measuredMs: number | undefined } = { measuredMs: undefined }
    await openLogBehind(behindMs, skew)
    for (let turn = 0; turn < 3; turn += 1) await harness.derived(turn + 1, modelRequest({ turn }))
    await harness.run()
    harness.clock.advance(0)
    await settled()
    expect(await ticks()).toEqual([{ type: 'tick', conversation: 'c', unit: 'turn 0' }])
    harness.clock.advance(998)
    await settled()
    expect(await ticks()).toHaveLength(1)
    harness.clock.advance(2)
    await settled()
    expect(await ticks()).toHaveLength(4)
    expect(skew.measuredMs).toBe(-behindMs)
  })
})
