// The Kafka bus keeps the contract, on a real broker.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll } from '@jest/globals'
import { pino } from 'pino'
import { openKafkaBus } from '../../../shared/bus/kafka/bus.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { brokerStartMs, sharedBroker } from '../../support/kafka/broker.ts'
import { busContract } from './contract.ts'
import { sealedBus } from './encryption/sealed-bus.ts'

let brokers: string[] = []
beforeAll(async () => {
  brokers = (await sharedBroker()).bootstrapServers.split(',')
}, brokerStartMs)

busContract('kafka', async () => {
  const tablesFolder = mkdtempSync(join(tmpdir(), 'weir-tables-'))
  const log = pino({ level: 'fatal' })
  const open = () =>
    openKafkaBus({
      client: { brokers, clientId: 'contract' },
      clock: systemClock,
      log,
      tablesFolder,
    })
  let bus = await open()
  return {
    bus,
    async reopen() {
      await bus.close()
      bus = await open()
      return bus
    },
    async dispose() {
      await bus.close()
      rmSync(tablesFolder, { recursive: true })
    },
  }
})

busContract(
  'kafka, with a key of the conversation',
  async () => {
    const log = pino({ level: 'fatal' })
    const client = { brokers, clientId: 'contract' }
    const bus = await openKafkaBus({ client, clock: systemClock, log })
    return { bus: await sealedBus(bus), dispose: () => bus.close() }
  },
  { keeps: false },
)
