// The time that a front adds to a guest's round on Kafka, in blocking mode, with the stages in another
// process. The baseline is a hop of the raw relay (kafka-relay.ts), made in turn with the rounds. Run
// alone: node test/bench/kafka-guests.ts
//
// Not measured: each stage in a process, several brokers and replicas, a network, HTTP, and latency
// under load.

import { frontsOn } from '../../client/guard/log/fronts.ts'
import { playGuest } from './guest-conversation.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { median } from './kafka-figures.ts'
import { layouts, withFleet } from './kafka-fleet.ts'
import { withHoppers } from './kafka-relay.ts'
import { errorLog, openBus, partitions } from './kafka-topics.ts'
import type { Row } from './row.ts'

const rounds = 20
const conversations = { warm: 10, counted: 10 }

export async function benchKafkaGuests({ bootstrapServers }: BenchBroker): Promise<Row[]> {
  return withFleet(bootstrapServers, layouts.together, ({ topicPrefix }) =>
    withHoppers(bootstrapServers, ['kafkajs'], async (hop) => {
      const bus = await openBus(bootstrapServers)
      const fronts = frontsOn({ bus, topicPrefix, partitions, log: errorLog })
      try {
        const front = fronts.front({ agent: 'bench' })
        for (let n = 0; n < conversations.warm; n += 1) {
          await playGuest(front, `warm-${n}`, rounds)
          for (let i = 0; i < rounds; i += 1) await hop()
        }
        const [before, after, hops]: [number[], number[], number[]] = [[], [], []]
        for (let n = 0; n < conversations.counted; n += 1) {
          const times = await playGuest(front, `counted-${n}`, rounds)
          before.push(...times.before)
          after.push(...times.after)
          for (let i = 0; i < rounds; i += 1) hops.push(await hop())
        }
        const one = median(hops)
        const row = (name: string, times: readonly number[]): Row => ({
          name: `guest on Kafka: ${name}, p50 (goal <= 6 x)`,
          value: median([...times]),
          unit: 'ms',
          baseline: 'a hop of the raw relay',
          ratio: median([...times]) / one,
        })
        return [
          { name: 'guest on Kafka: a hop of the raw relay, p50', value: one, unit: 'ms' },
          row('beforeModel', before),
          row('afterModel', after),
        ]
      } finally {
        fronts.close()
        await bus.close()
      }
    }),
  )
}

if (import.meta.main) console.table(await withBroker(benchKafkaGuests))
