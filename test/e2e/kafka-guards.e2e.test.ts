// Guards over a real broker: registered, answering from a client of their own, switched and removed, while the stages run on.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import type { Bus } from '../../shared/bus/port.ts'
import { systemClock } from '../../shared/clock.ts'
import type { Guard } from '../../shared/guard.ts'
import { registeredGuards, removeGuard, switchGuard } from '../../shared/guards/register.ts'
import { startGuards } from '../../shared/guards/start-guards.ts'
import { createLog } from '../../shared/log.ts'
import { brokerStartMs, sharedBroker } from '../support/kafka/broker.ts'
import { withPipeline } from '../support/pipeline.ts'
import { call, says, script, text } from '../support/script.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

const openClient = (tablesFolder?: string): Promise<Bus> =>
  openKafkaBus({
    client: { brokers, clientId: 'kafka-guards' },
    clock: systemClock,
    log: pino({ level: process.env.WEIR_TEST_LOG ?? 'fatal' }),
    tablesFolder,
  })

const noRemoval: Guard = {
  ...{ name: 'no-removal', version: '1', tools: ['exec'], deadlineMs: 20_000, onTimeout: 'reject' },
  judge: (state, { calls }) => ({
    state,
    verdicts: calls.map(({ ordinal, arguments: { command } }) =>
      String(command).startsWith('rm')
        ? { ordinal, verdict: 'reject', code: 'removes', text: 'Nothing may be removed.' }
        : { ordinal, verdict: 'pass' },
    ),
  }),
}

describe('a guard over Kafka', () => {
  it('stops calls from a client of its own, only watches as a shadow, and is nobody once it is removed', async () => {
    const removes = (command = 'rm x') => [says(call('exec', { command })), says(text('Done.'))]
    const model = script(...removes(), ...removes('ls'), ...removes(), ...removes())
    const topicPrefix = `guards-${randomUUID()}.`
    await withPipeline({ model, topicPrefix, openBus: (folder) => openClient(join(folder, 'tables')) }, async ({ ask, starts, wiring }) => {
      const bus = await openClient()
      const place = { ...wiring, bus }
      const guards = await startGuards({
        ...{ ...place, retentionMs: 7 * 24 * 3_600_000, guards: [noRemoval], mode: 'enforce' },
        log: createLog({ level: 'silent' }),
      })
      try {
        const statuses = async (message: string) =>
          (await ask(message)).activity.flatMap((one) => (one.type === 'call-finished' ? [one.status] : []))
        expect(await statuses('first')).toEqual(['vetoed'])
        expect(await statuses('second')).toEqual(['ok'])
        await switchGuard(place, 'no-removal', 'shadow')
        expect(await statuses('third')).toEqual(['ok'])
        expect(await starts()).toHaveLength(2)
        await removeGuard(place, 'no-removal')
        expect(await registeredGuards(place)).toEqual([])
        expect(await statuses('fourth')).toEqual(['ok'])
      } finally {
        await guards.close()
        await bus.close()
      }
    })
  }, 120_000)
})
