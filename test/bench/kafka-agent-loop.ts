// The cost of Weir on Kafka in use: the conversation of agent-loop.ts (five model calls, four tool
// calls). The stages are processes of `weir up`: all in one, one for each stage, and two for each
// stage. The client is a separate process, with one broker. CPU time is the sum of stages, client
// and broker. The server of model and tool does not count, as in agent-loop.ts. Run alone: node
// test/bench/kafka-agent-loop.ts. WEIR_BENCH_KAFKA_CONVERSATIONS: how many count at 64 at once
// (default 256). WEIR_BENCH_KAFKA_RUNS: the runs of each measurement (default 1; layouts
// alternate).
//
// Not measured: several brokers and replicas, a network, TLS, a real model's pace, long histories,
// tools that are programs, many clients, and hours. On two CPUs two processes for each stage cannot
// be faster than one. Their rows show the cost of a second instance, not its gain.

import { benchKafkaLatency } from './kafka-agent-loop-latency.ts'
import type { LoopOptions, MeasuredLoop } from './kafka-agent-loop-runner.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { startChild } from './kafka-child.ts'
import { median, medianRatio } from './kafka-figures.ts'
import { type Layout, layouts, withFleet } from './kafka-fleet.ts'
import type { Row } from './row.ts'

const counted = Number(process.env.WEIR_BENCH_KAFKA_CONVERSATIONS ?? 256)
const runs = Number(process.env.WEIR_BENCH_KAFKA_RUNS ?? 1)
const perCpuSecondGoal = 25

export async function benchKafkaAgentLoop(broker: BenchBroker): Promise<Row[]> {
  const { pid } = broker
  if (pid === undefined)
    return [
      {
        ...empty,
        name: 'agent loop on Kafka',
        notMeasured: "the broker's process, whose CPU time counts, is not known",
      },
    ]
  return throughput({ ...broker, pid })
}

const empty = { value: Number.NaN, unit: '' }

type Case = { name: string; layout: Layout; atOnce: number }

const cases: Case[] = [
  { name: 'all in one process, 64 at once', layout: layouts.together, atOnce: 64 },
  { name: 'one process for each stage, 64 at once', layout: layouts.apart, atOnce: 64 },
  { name: 'two processes for each stage, 64 at once', layout: layouts.doubled, atOnce: 64 },
  { name: 'all in one process, 512 at once', layout: layouts.together, atOnce: 512 },
  { name: 'one process for each stage, 512 at once', layout: layouts.apart, atOnce: 512 },
]

async function throughput(broker: BenchBroker & { pid: number }): Promise<Row[]> {
  const measured = new Map<Case, MeasuredLoop[]>(cases.map((one) => [one, []]))
  for (let run = 0; run < runs; run += 1)
    for (const [{ layout, atOnce }, taken] of measured) {
      const { pid: brokerPid, bootstrapServers } = broker
      const one = await withFleet(
        bootstrapServers,
        layout,
        async ({ topicPrefix, agentFile, pids: stagePids, serverPid }) => {
          const conversations = Math.max(counted, atOnce)
          const options: LoopOptions = {
            bootstrapServers,
            topicPrefix,
            agentFile,
            conversations,
            atOnce,
            warmUp: 128,
            stagePids,
            brokerPid,
            serverPid,
          }
          const child = startChild(
            new URL('./kafka-agent-loop-runner.ts', import.meta.url),
            options,
          )
          const measured = await child.message<MeasuredLoop>()
          await child.end()
          return measured
        },
      )
      taken.push(one)
    }
  const single = measured.get(cases[1] as Case) ?? []
  return [...measured].flatMap(([{ name, layout }, all]) => {
    const of = (pick: (one: MeasuredLoop) => number): number => median(all.map(pick))
    const goal = layout === layouts.doubled ? '' : ` (goal >= ${perCpuSecondGoal})`
    const compared = (pick: (one: MeasuredLoop) => number) =>
      layout === layouts.doubled
        ? { baseline: 'one for each', ratio: medianRatio(all.map(pick), single.map(pick)) }
        : {}
    const row = (measure: string, unit: string, pick: (one: MeasuredLoop) => number): Row => ({
      name: `${name}: ${measure}`,
      value: of(pick),
      unit,
    })
    return [
      {
        ...row(`conversations per CPU second${goal}`, '/CPU s', (one) => one.perCpuSecond),
        ...compared((one) => one.perCpuSecond),
      },
      {
        ...row('conversations per second', '/s', (one) => one.perSecond),
        ...compared((one) => one.perSecond),
      },
      row("a conversation's CPU time: stages", 'ms', (one) => one.stagesMs),
      row("a conversation's CPU time: broker", 'ms', (one) => one.brokerMs),
      row("a conversation's CPU time: client", 'ms', (one) => one.clientMs),
      row('CPU of other programs', '%', (one) => one.othersShare * 100),
    ]
  })
}

if (import.meta.main)
  console.table(
    await withBroker(async (broker) => {
      // by its end the broker has compiled most of its code, whose time would count otherwise
      await benchKafkaLatency(broker)
      return benchKafkaAgentLoop(broker)
    }),
  )
