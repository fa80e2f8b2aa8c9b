// The runtime's reports to its instruments: once for each step, on its acknowledgement, and none
// for work before the assignment.

import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type FakeClock, fakeClock } from '../../../client/testing/fake-clock.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { Bus, Subscription } from '../../../shared/contract/bus.ts'
import type { Cancel, Message, ModelRequest, Tick } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { closed, type Stage } from '../../../shared/contract/stage.ts'
import { keyOf } from '../../../shared/contract/topology.ts'
import type { Instruments, MeasuredPartition } from '../../../shared/runtime/instruments.ts'
import { runStage } from '../../../shared/runtime/run-stage.ts'
import { appendInputs } from '../../support/inputs.ts'
import { cancel, modelRequest } from '../../support/messages.ts'

/**
 * A request opens a unit and reports it; a cancel closes it. It is due a second after it opened,
 * and then every ten seconds.
 */
const toy: Stage<{ due: number }, ModelRequest | Cancel | Tick, string> = {
  name: 'llm-gateway',
  unit: ({ conversation }) => conversation,
  react(state, { message, time }) {
    if (message.type === 'tick') return { state: { due: time + 10_000 } }
    if (message.type === 'cancel' || state !== undefined) return closed
    const opened: Message = {
      type: 'model-opened',
      conversation: message.conversation,
      turn: 0,
      round: 1,
      offered: [],
      expiresAt: 1,
    }
    return { state: { due: time + 1_000 }, records: [{ to: 'response', message: opened }] }
  },
  wants: () => [],
  due: ({ due }) => due,
  failed: () => closed,
}

type Step = { read: number[]; outputs: string[]; written: number }

let clock: FakeClock
let bus: Bus
let subscription: Subscription | undefined
let context: PerformerContext | undefined
let partition: MeasuredPartition | undefined
let steps: Step[]
let observed: string[]
let closings: number
/** While it is set, appends wait for it. */
let held: Promise<void> | undefined

const instruments: Instruments = {
  assigned(given) {
    partition = given
    return {
      acknowledged: ({ read, outputs, written }) =>
        steps.push({
          read: read.map(({ offset }) => offset),
          outputs: outputs.map(({ message }) => message.type),
          written: written.length,
        }),
      closed() {
        closings += 1
      },
    }
  },
  observed(stage, { messages, written }) {
    for (const { type } of messages) observed.push(`${stage} ${type} of ${written.length}`)
  },
}

beforeEach(async () => {
  clock = fakeClock(1_000_000)
  bus = await openEmbeddedBus({ file: ':memory:', clock })
  await bus.ensureTopics(topicSpecs('', 1))
  await appendInputs(bus, 'conversation-events')
  steps = []
  observed = []
  closings = 0
  held = undefined
})

afterEach(async () => {
  await subscription?.close()
  subscription = undefined
  await bus.close()
})

async function start({ measured = true } = {}): Promise<void> {
  const startPerformer = (given: PerformerContext) => {
    context = given
    return { reconcile: () => {}, close: async () => {} }
  }
  const slow: Bus = {
    ...bus,
    async append(records) {
      await held
      return bus.append(records)
    },
  }
  const options = {
    bus: slow,
    topicPrefix: '',
    log: pino({ level: 'silent' }),
    ...(measured && { instruments }),
  }
  subscription = await runStage({ stage: toy, startPerformer }, options)
  await settled()
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

async function derived(offset: number, message: Message): Promise<void> {
  const id = `conversation/0/${offset}/0`
  await bus.append([
    { topic: 'model-requests', partition: 0, key: keyOf(message), value: encode(message), id },
  ])
  await settled()
}

describe('instruments', () => {
  it('get each step with its input and its outputs', async () => {
    await start()
    await derived(1, modelRequest())
    await derived(2, cancel())
    expect(steps).toEqual([
      { read: [0], outputs: ['model-opened'], written: 1 },
      { read: [1], outputs: [], written: 0 },
    ])
  })

  it('get only the reads of records from before the assignment', async () => {
    await start({ measured: false })
    await derived(1, modelRequest())
    await subscription?.close()
    await start()
    expect(partition).toMatchObject({
      from: 0,
      done: 1,
      end: 1,
      stage: 'llm-gateway',
      topic: 'model-requests',
      partition: 0,
    })
    expect(steps).toEqual([{ read: [0], outputs: [], written: 0 }])
  })

  it('see the open units, the oldest first with its time, and the restored state', async () => {
    await derived(1, modelRequest({ conversation: 'c' }))
    clock.advance(500)
    await start()
    await derived(2, modelRequest({ conversation: 'd' }))
    expect([...(partition?.units.values() ?? [])].map(({ since }) => since)).toEqual([
      1_000_000, 1_000_500,
    ])
    expect(partition?.hasCaughtUp()).toBe(true)
    await derived(3, cancel({ conversation: 'c' }))
    expect(partition?.units.size).toBe(1)
  })

  it("get ticks and a performer's records when they are acknowledged", async () => {
    await start()
    await derived(1, modelRequest())
    const release = Promise.withResolvers<void>()
    held = release.promise
    const writing = context?.write('self', [cancel(), cancel({ round: 2 })])
    clock.advance(1_000)
    await settled()
    expect(observed).toEqual([])
    release.resolve()
    await writing
    await settled()
    expect(observed.toSorted()).toEqual([
      'llm-gateway cancel of 2',
      'llm-gateway cancel of 2',
      'llm-gateway tick of 1',
    ])
  })

  it('get the end of an assignment', async () => {
    await start()
    expect(closings).toBe(0)
    await subscription?.close()
    expect(closings).toBe(1)
  })
})
