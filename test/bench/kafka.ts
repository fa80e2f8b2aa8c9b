// The benches on Kafka, one after the other on one separate broker. The broker has then compiled
// its code before the agent loop. Without a broker there are no values, and a row with the reason
// replaces them.

import { benchKafkaAgentLoop } from './kafka-agent-loop.ts'
import { benchKafkaLatency } from './kafka-agent-loop-latency.ts'
import { type BenchBroker, openBroker } from './kafka-broker.ts'
import { benchKafkaGuards } from './kafka-guards.ts'
import { benchKafkaGuests } from './kafka-guests.ts'
import { benchKafkaIdle } from './kafka-idle.ts'
import { benchKafkaKilled } from './kafka-killed.ts'
import { benchKafkaRelay } from './kafka-relay.ts'
import { benchKafkaRestart } from './kafka-restart.ts'
import { benchKafkaWire } from './kafka-wire.ts'
import type { Row } from './row.ts'

export async function benchKafka(): Promise<Row[]> {
  let broker: BenchBroker
  try {
    broker = await openBroker()
  } catch (error) {
    return [
      {
        name: 'Kafka',
        value: Number.NaN,
        unit: '',
        notMeasured: (error as Error).message.replaceAll('\n', ' '),
      },
    ]
  }
  try {
    const rows: Row[] = []
    for (const bench of [
      benchKafkaRelay,
      benchKafkaRestart,
      benchKafkaKilled,
      benchKafkaGuards,
      benchKafkaGuests,
      benchKafkaLatency,
      benchKafkaAgentLoop,
      benchKafkaIdle,
      benchKafkaWire,
    ])
      rows.push(...(await bench(broker)))
    return rows
  } finally {
    await broker.stop()
  }
}

if (import.meta.main) console.table(await benchKafka())
