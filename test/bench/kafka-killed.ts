// The worker of a fleet is killed and started again: the conversation of agent-loop.ts, 64 at once,
// with all stages in one process of `weir up`. The process gets SIGKILL after half of the calls of the
// first 64 have begun, and starts again at once, in the same data folder. Measured: from the kill until
// the last of 128 conversations is answered, calls that started twice, and calls whose outcome is
// unknown. The tool has the default timeout, and runs for 20 ms. Run alone: node
// test/bench/kafka-killed.ts
//
// Not measured: a worker that starts on another machine, and a fleet of several workers.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Starts } from './agent-loop-server.ts'
import { openClient } from './kafka-agent-loop-client.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { median } from './kafka-figures.ts'
import { layouts, withFleet } from './kafka-fleet.ts'
import type { Row } from './row.ts'

const [conversations, atOnce, runs] = [128, 64, 3]
const toolMs = 20
const toolTimeoutMs = 30_000

type Measured = { seconds: number; upSeconds: number; twice: number; unknown: number }

export async function benchKafkaKilled(broker: BenchBroker): Promise<Row[]> {
  const all: Measured[] = []
  for (let run = 0; run < runs; run += 1) all.push(await killed(broker))
  const row = (name: string, unit: string, pick: (one: Measured) => number): Row => ({
    name: `worker killed, ${atOnce} in progress: ${name}`,
    value: median(all.map(pick)),
    unit,
  })
  return [
    row(`until the last of ${conversations} is answered (goal <= 12)`, 's', (one) => one.seconds),
    row('until the next process is ready', 's', (one) => one.upSeconds),
    row('calls that started twice (goal 0)', 'calls', (one) => one.twice),
    row('calls with an unknown outcome', 'calls', (one) => one.unknown),
  ]
}

async function killed({ bootstrapServers }: BenchBroker): Promise<Measured> {
  const options = { toolMs, keepsStarts: true, toolTimeoutMs }
  return withFleet(
    bootstrapServers,
    layouts.together,
    async (fleet) => {
      const client = await openClient({ bootstrapServers, ...fleet })
      const starts = async () =>
        (await fetch(`${fleet.serverUrl}/starts`)).json() as Promise<Starts>
      const left = Array.from({ length: conversations }, (_, i) => `c-${i}`).values()
      const work = async () => {
        for (const conversation of left) await client.converse(conversation)
      }
      const answered = Promise.all(Array.from({ length: atOnce }, work))
      while ((await starts()).starts < atOnce * 2) await sleep(2)
      const began = performance.now()
      const since = () => (performance.now() - began) / 1e3
      const up = fleet.restart(0).then(since)
      await answered
      const seconds = since()
      const { twice } = await starts()
      const unknown = await client.unknownCalls()
      await client.close()
      return { seconds, upSeconds: await up, twice, unknown }
    },
    options,
  )
}

if (import.meta.main) console.table(await withBroker(benchKafkaKilled))
