// The cost of judging a log again: all stages, the two with every rule, and what-if. The log has
// 1,000 conversations of 11 rounds, written by the pipeline into a file of the embedded bus. The
// baseline is reading that file and decoding each record once. Run alone: node test/bench/replay.ts
//
// Not measured: Kafka, a cold start, long arguments and results (model and tools are those of the
// bench of the pipeline), and printing. Rates are by CPU seconds of this one process, so other work
// of the machine costs only time.

import { replayLog } from '../../apps/replay/replay-log.ts'
import { contentOf, contentsOf, sweepOf } from '../../apps/replay/what-if/policy-flags.ts'
import { whatIf } from '../../apps/replay/what-if/what-if.ts'
import { reducers } from '../../services/reducers.ts'
import { batchesOf } from '../../shared/bus/range.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { topics } from '../../shared/contract/topology.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { converse, withStages } from './pipeline.ts'
import type { Row } from './row.ts'

const [conversations, atOnce, rounds, partitions] = [1_000, 50, 10, 4]
const always = { since: undefined, until: undefined }

export function benchReplay(): Promise<Row[]> {
  return withStages(rounds, systemClock, async ({ bus, edge, agent }) => {
    for (let i = 0; i < conversations; i += atOnce)
      await Promise.all(
        Array.from({ length: atOnce }, (_, k) => converse(edge, agent, `conversation ${i + k}`)),
      )
    const log = { bus, topicPrefix: '', partitions }
    const again = (stages = Object.values(reducers)) =>
      replayLog({ log, stages, ...always, grows: false, now: 0 })

    const plain = await rate(() => decodeAll(bus))
    const all = await rate(async () => sound(await again()))
    const two = await rate(async () =>
      sound(await again([reducers.validator, reducers['loop-detector']])),
    )
    const one = await seconds(() =>
      whatIf({
        log,
        contents: [contentOf({ set: ['loop.identicalFailures=2'] })],
        only: undefined,
        ...always,
      }),
    )
    const swept = await seconds(() =>
      whatIf({
        log,
        contents: contentsOf(sweepOf('loop.identicalFailures=2..6')),
        only: undefined,
        ...always,
      }),
    )
    return [
      {
        name: 'replay: reading the file and decoding each record',
        value: plain,
        unit: 'records/CPU s',
      },
      {
        name: 'replay: all stages',
        value: all,
        unit: 'records/CPU s',
        baseline: 'reading and decoding',
        ratio: all / plain,
      },
      { name: 'replay: validator and loop-detector', value: two, unit: 'records/CPU s' },
      { name: `replay: what-if over ${conversations} conversations`, value: one, unit: 'CPU s' },
      {
        name: `replay: a sweep of 5 values over ${conversations} conversations`,
        value: swept,
        unit: 'CPU s',
      },
    ]
  })
}

async function decodeAll(bus: Bus): Promise<number> {
  let count = 0
  for (const topic of Object.keys(topics))
    for (const { partition, begin, end } of await bus.ends(topic))
      for await (const records of batchesOf(bus, { topic, partition, from: begin, to: end }))
        for (const { value } of records) {
          if (value !== null) decode(value)
          count += 1
        }
  return count
}

function sound({ tally, differences }: Awaited<ReturnType<typeof replayLog>>): number {
  if (differences > 0) throw new Error(`the bench found ${differences} differences`)
  return tally.records
}

/** Records for each second of CPU, in the better of two runs after one to warm up. */
async function rate(run: () => Promise<number>): Promise<number> {
  await run()
  const rates: number[] = []
  for (let i = 0; i < 2; i += 1) {
    const cpu = process.cpuUsage()
    const records = await run()
    const { user, system } = process.cpuUsage(cpu)
    rates.push((records * 1e6) / (user + system))
  }
  return Math.max(...rates)
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  await run()
  const cpu = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / 1e6
}

if (import.meta.main) console.table(await benchReplay())
