// Buses and topics for the Kafka benches. Each measurement has its own topics, removed afterwards:
// it must not read another one's records.

import kafkajs, { type Kafka } from 'kafkajs'
import { type Logger, pino } from 'pino'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { readKeys } from '../../shared/bus/signing/keys.ts'
import { signedBus } from '../../shared/bus/signing/signed-bus.ts'
import { createSigning } from '../../shared/bus/signing/signing.ts'
import type { Bus, RecordToAppend } from '../../shared/contract/bus.ts'
import { topicSpecs } from '../../shared/contract/retention.ts'
import { systemClock } from '../../shared/lib/clock.ts'

export const partitions = 4

export const errorLog = pino({ level: 'error' }, process.stderr)

export function openBus(bootstrapServers: string, log: Logger = errorLog): Promise<Bus> {
  const client = { brokers: bootstrapServers.split(','), clientId: 'weir-bench' }
  return openKafkaBus({ client, clock: systemClock, log })
}

/** The bus with all keys of a folder. */
export function signed(bus: Bus, keys: string, topicPrefix: string): Bus {
  return signedBus(bus, createSigning(readKeys(keys), topicPrefix), errorLog)
}

export function openKafka(bootstrapServers: string): Kafka {
  return new kafkajs.Kafka({
    brokers: bootstrapServers.split(','),
    clientId: 'kafkajs-bench',
    logLevel: kafkajs.logLevel.NOTHING,
  })
}

let prefixes = 0

/** The input that the ids of the bench's records name: an id counts only if its input exists. */
function firstInputs(topicPrefix: string): RecordToAppend[] {
  return ['model-deltas', 'rounds-checked', 'model-requests'].flatMap((name) =>
    Array.from({ length: partitions }, (_, partition) => ({
      topic: topicPrefix + name,
      partition,
      key: '',
      value: new Uint8Array(),
    })),
  )
}

/** All of Weir's topics under a unique prefix, and a bus to them. */
export async function withTopics<T>(
  bootstrapServers: string,
  use: (bus: Bus, topicPrefix: string) => Promise<T>,
): Promise<T> {
  prefixes += 1
  const topicPrefix = `bench-${process.pid}-${prefixes}.`
  const specs = topicSpecs(topicPrefix, partitions)
  const bus = await openBus(bootstrapServers)
  try {
    await bus.ensureTopics(specs)
    await bus.append(firstInputs(topicPrefix))
    return await use(bus, topicPrefix)
  } finally {
    await bus.close()
    const admin = openKafka(bootstrapServers).admin()
    await admin.connect()
    await admin.deleteTopics({ topics: specs.map(({ name }) => name) })
    await admin.disconnect()
  }
}
