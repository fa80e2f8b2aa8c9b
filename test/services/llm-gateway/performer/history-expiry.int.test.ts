// The gateway on an in-memory bus, with a table of histories and a clock that the test moves.

import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type FakeClock, fakeClock } from '../../../../client/testing/fake-clock.ts'
import {
  historySweepEveryMs as everyMs,
  historySweepKeysMax as keysMax,
  historySweepStepMs as stepMs,
} from '../../../../services/llm-gateway/performer/history-expiry.ts'
import { startGateway } from '../../../../services/llm-gateway/performer/performer.ts'
import { llmGateway } from '../../../../services/llm-gateway/reducer.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import type { Bus, Subscription } from '../../../../shared/contract/bus.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { topicSpecs, turnLongestMs } from '../../../../shared/contract/retention.ts'
import { historyKey, originKey } from '../../../../shared/contract/topology.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { toRecord } from '../../../../shared/runtime/record.ts'
import { runStage } from '../../../../shared/runtime/run-stage.ts'

const dayMs = 24 * 3_600_000
const idleMs = 7 * dayMs

let clock: FakeClock
let bus: Bus
let stage: Subscription | undefined
let logged: string[]

beforeEach(async () => {
  clock = fakeClock(1_700_000_000_000)
  logged = []
  bus = await openEmbeddedBus({ file: ':memory:', clock })
  await bus.ensureTopics(topicSpecs('', 1))
})

afterEach(async () => {
  await stage?.close()
  stage = undefined
  await bus.close()
})

/** `over`: replacements for parts of the bus. `owner`: the place where its first pass begins. */
async function start({
  over = {},
  owner = '0',
}: {
  over?: Partial<Bus>
  owner?: string
} = {}): Promise<void> {
  const startPerformer = startGateway({
    echoOf: () => null,
    agents: new Map(),
    connect: () => Promise.reject(new Error('no model')),
    historyIdleMs: idleMs,
  })
  const log = createLog({
    level: 'trace',
    destination: { write: (line) => void logged.push(line) },
  })
  stage = await runStage(
    { stage: llmGateway, startPerformer },
    { bus: { ...bus, ...over }, topicPrefix: '', log, randomId: () => owner },
  )
  await settled()
}

async function settled(): Promise<void> {
  for (let n = 0; n < 30; n += 1) await turn()
}

/** Moves the clock and writes a record, from which the gateway learns the log's time. */
async function pass(ms: number): Promise<void> {
  clock.advance(ms)
  await learnLogTime()
  await settled()
}

async function learnLogTime(): Promise<void> {
  await bus.append([
    toRecord({
      topic: 'model-requests',
      partition: 0,
      message: { type: 'tick', conversation: 'x', unit: 'x' },
    }),
  ])
}

/** The partial first pass and a whole one, if the table fits into one step. */
async function twoPasses(): Promise<void> {
  await pass(stepMs)
  await pass(stepMs)
}

type Entry = [conversation: string, turn: number, round: number]

async function put(...entries: Entry[]): Promise<void> {
  const records = entries.map(([conversation, at, round]) => ({
    topic: 'history',
    partition: 0,
    key: historyKey({ conversation, turn: at, round }),
    value: Buffer.from('an entry'),
  }))
  await bus.append(records)
}

async function left(): Promise<Entry[]> {
  const keys = (await bus.list({ topic: 'history', partition: 0, prefix: '' })).map(({ key }) =>
    JSON.parse(key),
  )
  return keys.sort(([a, b, c], [d, e, f]) => (a < d ? -1 : a > d ? 1 : b - e || c - f))
}

describe('the history of a conversation', () => {
  it("is kept while only this machine's clock makes it old", async () => {
    await put(['young', 1, 0])
    const now = () => clock.now() + 10 * idleMs
    await start({ over: { clock: { ...clock, now } } })
    await twoPasses()
    expect(await left()).toEqual([['young', 1, 0]])
  })

  it('is removed as a whole after it was idle for long enough', async () => {
    await put(['old', 9, 0], ['old', 9, 1], ['old', 10, 0], ['b', 1, 0])
    await pass(idleMs - 1000)
    await put(['b', 2, 0], ['new', 3, 0])
    await start()
    await pass(stepMs - 1)
    expect(await left()).toHaveLength(6)
    await pass(1001)
    await pass(stepMs)
    await pass(everyMs)
    expect(await left()).toEqual([
      ['b', 1, 0],
      ['b', 2, 0],
      ['new', 3, 0],
    ])
    expect(
      logged.filter(
        (line) => line.includes('"conversation":"old"') && line.includes('"entries":3'),
      ),
    ).toHaveLength(1)
  })

  it('stays as long as a conversation that was forked from it, and no longer', async () => {
    await put(['a', 1, 0], ['a', 2, 0], ['b', 3, 0])
    await pass(idleMs + 1)
    const origins = [{ conversation: 'a', turn: 1, entries: 1 }]
    const fork = { type: 'conversation-forked', conversation: 'f', origins } as const
    await bus.append([toRecord({ topic: 'history', partition: 0, message: fork })])
    const key = originKey('unreadable')
    await bus.append([{ topic: 'history', partition: 0, key, value: Buffer.from([0xff]) }])
    await start()
    await twoPasses()
    expect(await left()).toEqual([
      ['a', 1, 0],
      ['a', 2, 0],
      ['f', 'origin', 0],
      ['unreadable', 'origin', 0],
    ])
    await pass(idleMs + 1)
    await pass(stepMs)
    await pass(everyMs)
    await pass(everyMs)
    expect(await left()).toEqual([])
  })

  it('is found anywhere, even if a pass began after it and its entries take several steps', async () => {
    const long = Array.from({ length: 2 * keysMax }, (_, round): Entry => ['long', 1, round])
    await put(['a', 1, 0], ...long, ['z', 1, 0])
    await pass(idleMs + 1)
    await put(['m', 1, 0])
    await start({ owner: 'y' })
    for (let step = 0; step < 6; step += 1) await pass(stepMs)
    expect(await left()).toEqual([['m', 1, 0]])
  })

  it('stays if the user comes back at the last moment', async () => {
    await put(['c', 1, 0], ['c', 1, 1])
    await pass(idleMs + 1)
    let calls = 0
    const keys: Bus['keys'] = async (table) => {
      calls += 1
      if (calls === 2) await put(['c', 2, 0])
      return bus.keys(table)
    }
    await start({ over: { keys } })
    await twoPasses()
    expect(await left()).toHaveLength(3)
  })

  it('is read a bounded number of keys at a time, and again only an hour after a pass', async () => {
    const reads: { after?: string | undefined; limit: number }[] = []
    const keys: Bus['keys'] = (table) => {
      reads.push({ after: table.after, limit: table.limit })
      return bus.keys(table)
    }
    await put(
      ...Array.from(
        { length: keysMax + 1 },
        (_, n): Entry => [`c${String(n).padStart(5, '0')}`, 1, 0],
      ),
    )
    await start({ over: { keys } })
    for (let step = 0; step < 20; step += 1) await pass(stepMs)
    expect(reads.map(({ limit }) => limit)).toEqual([keysMax, keysMax, keysMax, keysMax])
    await pass(everyMs - 20 * stepMs)
    expect(reads).toHaveLength(4)
    await pass(20 * stepMs)
    expect(reads).toHaveLength(5)
  })

  it('stays for now if the table cannot be read or written, and the gateway continues', async () => {
    await put(['old', 1, 0])
    await pass(idleMs + 1)
    let isBroken = true
    const append: Bus['append'] = (records) =>
      isBroken ? Promise.reject(new Error('the disk is full')) : bus.append(records)
    await start({ over: { append } })
    await twoPasses()
    expect(await left()).toHaveLength(1)
    expect(logged.join('')).toContain('the disk is full')
    isBroken = false
    await pass(everyMs)
    await pass(stepMs)
    expect(await left()).toEqual([])
  })

  it('is no longer touched once the partition is revoked', async () => {
    await put(['old', 1, 0])
    await pass(idleMs + 1)
    await start()
    await stage?.close()
    stage = undefined
    await pass(everyMs)
    expect(await left()).toHaveLength(1)
  })

  it('does not delay a stop while a read waits for an unreachable broker', async () => {
    await start({ over: { keys: () => new Promise(() => {}) } })
    await pass(stepMs)
    await stage?.close()
    stage = undefined
  })

  it('outlives the longest turn, with any settings that Weir accepts', () => {
    // The shortest allowed retention is longer than the longest turn: shared/contract/retention.ts.
    expect(3 * dayMs).toBeGreaterThan(turnLongestMs)
    expect(turnLongestMs).toBeGreaterThan(limits.turnWallMsMax)
  })
})

it('stays apart from foreign keys in the table, which are left alone', async () => {
  await bus.append([
    { topic: 'history', partition: 0, key: 'not one of ours', value: Buffer.from('x') },
  ])
  await put(['old', 1, 0])
  await pass(idleMs + 1)
  await start()
  await twoPasses()
  expect(
    (await bus.keys({ topic: 'history', partition: 0, limit: 9 })).map(({ key }) => key),
  ).toEqual(['not one of ours'])
})
