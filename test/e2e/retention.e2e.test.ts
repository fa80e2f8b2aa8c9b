// An old log: after a week its records and the histories of its conversations are gone, and
// everything goes on. The clock is the real one plus some days.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type AnthropicServer, startAnthropicServer } from '../../apps/demo/anthropic-server.ts'
import { openEdge } from '../../client/edge/edge.ts'
import { startStages } from '../../services/stages.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { keptForever, retentionMsOf, topicSpecs } from '../../shared/contract/retention.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { askEdge } from '../support/asked-turn.ts'
import { until } from '../support/inbox.ts'
import { testAgent } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'
import { waitMaxMs } from '../support/wait-limit.ts'

const wiring = { topicPrefix: 'weir.', partitions: 1 }
const silent = pino({ level: 'silent' })

let folder: string
let server: AnthropicServer
let daysLater: number
const dayMs = 24 * 3_600_000
const clock: Clock = { ...systemClock, now: () => Date.now() + daysLater * dayMs }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-retention-'))
  daysLater = 0
})

afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

/**
 * A bus that closes runs retention for a moment, and on a busy machine as long as it takes.
 */
const patient: Clock = { ...clock, monotonic: () => clock.monotonic() / 20 }

const openBus = () =>
  openEmbeddedBus({
    file: join(folder, 'weir.db'),
    clock: patient,
    synchronous: 'off',
    keepFrom: foldFrom,
  })

type Running = { bus: Bus; ask(message: string): Promise<TurnFinished> }

/** The lifetime of one process. */
async function weir(
  retentionDays: number,
  live: (running: Running) => Promise<void>,
): Promise<void> {
  const bus = await openBus()
  const agent = testAgent(server.url, {}, join(folder, 'starts'))
  const retentionMs = retentionMsOf(retentionDays)
  const running = await startStages({
    bus,
    ...wiring,
    retentionMs,
    agents: new Map([[agent.name, agent]]),
    log: silent,
  })
  const edge = openEdge({ bus, ...wiring })
  try {
    await live({
      bus,
      async ask(message) {
        const question = { agent, conversation: 'c', messageId: message, text: message }
        for await (const event of askEdge(edge, question, AbortSignal.timeout(waitMaxMs)))
          if (event.type === 'turn-finished' && event.messageId === message) return event
        throw new Error('the turn did not end')
      },
    })
  } finally {
    await running.close()
    edge.close()
    await bus.close()
  }
}

const twoTurns = () =>
  script(
    says(call('exec', { command: 'ls' })),
    says(text('There are three files.')),
    says(text('Still three.')),
  )

/**
 * The number of remaining records of each topic, without topics that never had one.
 */
async function records(bus: Bus): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name } of topicSpecs('weir.', 1)) {
    const [ends] = await bus.ends(name)
    const found = await bus.read({ topic: name, partition: 0, from: 0, limit: 10_000 })
    if (ends !== undefined && ends.end > 0) counts[name] = found.length
  }
  return counts
}

describe('a log', () => {
  it('loses records older than its retention, and Weir continues the same conversation from there', async () => {
    server = await startAnthropicServer(twoTurns())
    await weir(7, async ({ ask }) =>
      expect(await ask('list the files')).toMatchObject({ outcome: 'answered' }),
    )

    daysLater = 8
    await weir(7, async ({ bus }) => {
      // The gateway reads the log's time from any record. By its own clock alone it forgets no
      // conversation.
      const message = { type: 'tick', conversation: 'another', unit: 'another' } as const
      await bus.append([toRecord({ topic: 'weir.model-requests', partition: 0, message })])
      await until(
        async () =>
          (await bus.list({ topic: 'weir.history', partition: 0, prefix: '' })).length === 0,
      )
    })
    const bus = await openBus()
    const { 'weir.history': tombstones = 0, ...logs } = await records(bus)
    await bus.close()
    expect(tombstones).toBeGreaterThan(0)
    expect(Object.keys(logs).length).toBeGreaterThan(5)
    // The conversation was idle and kept its message when the first process ended. It is folded from
    // there, and then closed.
    expect(Object.values(logs).reduce((sum, count) => sum + count, 0)).toBeLessThan(10)

    await weir(7, async ({ ask }) =>
      expect(await ask('and now?')).toMatchObject({ outcome: 'answered', reply: 'Still three.' }),
    )
    expect(JSON.stringify(server.requests.at(-1))).not.toContain('list the files')
  })

  it('keeps all records and conversations while nobody deletes them, and a later retention holds for them too', async () => {
    server = await startAnthropicServer(twoTurns())
    await weir(keptForever, async ({ ask }) => void (await ask('list the files')))

    daysLater = 400
    await weir(keptForever, async ({ ask }) => {
      expect(await ask('and now?')).toMatchObject({ reply: 'Still three.' })
    })
    expect(JSON.stringify(server.requests.at(-1))).toContain('list the files')
    const read = await openBus()
    expect(
      (await read.read({ topic: 'weir.activity', partition: 0, from: 0, limit: 1 }))[0]?.offset,
    ).toBe(0)
    await read.close()

    daysLater = 408
    await weir(7, async () => {})
    const after = await openBus()
    expect(await after.read({ topic: 'weir.activity', partition: 0, from: 0, limit: 1 })).toEqual(
      [],
    )
    await after.close()
  })
})
