// Buses, topics and an admin client on the broker of the test run, for tests of the Kafka bus
// beyond the contract.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { pino } from 'pino'
import { type KafkaBusOptions, openKafkaBus } from '../../../../shared/bus/kafka/bus.ts'
import type { Bus, TopicKind } from '../../../../shared/contract/bus.ts'
import { type Clock, systemClock } from '../../../../shared/lib/clock.ts'
import { brokerStartMs, sharedBroker } from '../../../support/kafka/broker.ts'

export type KafkaWorld = {
  brokers: string[]
  kafka: Kafka
  admin: Admin
  /**
   * A bus that is closed after the test. It sees changes of its groups soon, and its sessions last
   * on a busy machine too.
   */
  open(options?: Partial<KafkaBusOptions>): Promise<Bus>
  topic(bus: Bus, kind?: TopicKind, partitions?: number): Promise<string>
}

/** Call it once in a test file, outside of tests. `broker`: another than the shared one. */
export function kafkaWorld(
  broker: () => Promise<{ bootstrapServers: string }> = sharedBroker,
): KafkaWorld {
  const world = {} as KafkaWorld
  const opened: Bus[] = []

  beforeAll(async () => {
    world.brokers = (await broker()).bootstrapServers.split(',')
    world.kafka = new kafkajs.Kafka({ brokers: world.brokers, logLevel: kafkajs.logLevel.NOTHING })
    world.admin = world.kafka.admin()
    await world.admin.connect()
  }, brokerStartMs)
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((bus) => bus.close()))
  })
  afterAll(() => world.admin?.disconnect())

  world.open = async (options = {}) => {
    const bus = await openKafkaBus({
      client: { brokers: world.brokers, clientId: 'test' },
      clock: systemClock,
      log: pino({ level: process.env.WEIR_TEST_LOG ?? 'silent' }),
      ...options,
      times: {
        sessionMs: 60_000,
        heartbeatMs: 100,
        rebalanceMs: 60_000,
        commitMs: 50,
        ...options.times,
      },
    })
    opened.push(bus)
    return bus
  }
  world.topic = async (bus, kind = 'log', partitions = 1) => {
    const name = `${kind}-${randomUUID()}`
    await bus.ensureTopics([{ name, kind, partitions }])
    return name
  }
  return world
}

/** A clock with timers that can be held back, as in a stalled process. */
export function stoppableClock(): Clock & { stop(): void; go(): void } {
  let held: (() => void)[] | undefined
  return {
    ...systemClock,
    after: (delayMs, fire) =>
      systemClock.after(delayMs, () => (held === undefined ? fire() : void held.push(fire))),
    stop() {
      held ??= []
    },
    go() {
      const late = held ?? []
      held = undefined
      for (const fire of late) fire()
    },
  }
}
