// The duration of one conversation of agent-loop.ts on Kafka, one at a time. The baseline is its
// hops, made by the raw relay (kafka-relay.ts). Plain loop, Weir and a chain of as many hops run in
// turns, so a disturbance affects all. A ratio is the median of the turns' ratios. The plain loop's
// time, which is the same HTTP, is subtracted first. Run alone: node
// test/bench/kafka-agent-loop-latency.ts
//
// Not measured: latency under load, several brokers and replicas, a network, TLS, and a model's
// pace.

import { setTimeout as sleep } from 'node:timers/promises'
import { callRounds } from './agent-loop-conversation.ts'
import { openFloor } from './agent-loop-floor.ts'
import { openClient } from './kafka-agent-loop-client.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { median, medianRatio, quantile } from './kafka-figures.ts'
import { layouts, withFleet } from './kafka-fleet.ts'
import { type Hop, withHoppers } from './kafka-relay.ts'
import type { Row } from './row.ts'

/** Records that must be written and read by another process before the conversation continues. */
const hopsOf = {
  /** The user's message, its copy by intake, and turn-finished to the client. */
  turn: 3,
  /**
   * model-request, attempt-finished, model-finished, round-proposed, round-checked, round-cleared,
   * claim, outcome, round-executed, round-outcome.
   */
  callRound: 10,
  /** The first five of them and round-outcome. */
  textRound: 6,
}
const conversationHops = hopsOf.turn + callRounds * hopsOf.callRound + hopsOf.textRound

export async function benchKafkaLatency({ bootstrapServers }: BenchBroker): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, layout] of [
    ['one process', layouts.together],
    ['one for each stage', layouts.apart],
  ] as const)
    await withFleet(bootstrapServers, layout, (fleet) =>
      withHoppers(bootstrapServers, ['kafkajs'], async (hop) => {
        const client = await openClient({ bootstrapServers, ...fleet })
        const floor = openFloor(fleet.serverUrl)
        const [plain, weir, relay]: [number[], number[], number[]] = [[], [], []]
        for (let i = 0; i < latencyWarmUp; i += 20)
          await Promise.all(
            Array.from({ length: 20 }, (_, n) =>
              Promise.all([floor.converse(''), client.converse(`warm-${i + n}`)]),
            ),
          )
        for (let i = 0; i < latencyWarmUp; i += 1) await hop()
        for (let i = 0; i < latencyTurns; i += 1) {
          plain.push(await timed(() => floor.converse('')))
          weir.push(await timed(() => client.converse(`c-${i}`)))
          relay.push(await chain(hop))
        }
        await client.close()
        rows.push(...latencyRows(name, plain, weir, relay))
      }),
    )
  return rows
}

/** Enough to compile the code of each process. */
const latencyWarmUp = 240
const latencyTurns = 50
/** About the pause of a stage's own process between two records of a round. */
const restMs = 8

/**
 * The milliseconds of as many hops. Before each hop the relay may pause, which does not count. A stage
 * gets a record now and then in this conversation, and a process that slept is slower.
 */
async function chain(hop: Hop): Promise<number> {
  let hopsMs = 0
  for (let n = 0; n < conversationHops; n += 2) {
    await sleep(restMs)
    hopsMs += 2 * (await hop()) // there and back are two
  }
  return hopsMs
}

function latencyRows(layout: string, plain: number[], weir: number[], hops: number[]): Row[] {
  const over = weir.map((ms, i) => ms - (plain[i] ?? Number.NaN))
  const row = (
    measure: string,
    value: number,
    compared: Pick<Row, 'baseline' | 'ratio'> = {},
  ): Row => {
    return { name: `one at a time, ${layout}: ${measure}`, value, unit: 'ms', ...compared }
  }
  const conversation = 'a conversation beyond the plain loop'
  return [
    row('plain loop, p50 of a conversation', median(plain)),
    row(`${conversationHops} hops of the raw relay, p50`, median(hops)),
    row(`${conversation}, p50 (goal <= 1.2 x)`, median(over), {
      baseline: 'those hops',
      ratio: medianRatio(over, hops),
    }),
    row(`${conversationHops} hops of the raw relay, p95`, quantile(hops, 0.95)),
    row(`${conversation}, p95`, quantile(over, 0.95), {
      baseline: 'those hops',
      ratio: quantile(over, 0.95) / quantile(hops, 0.95),
    }),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

if (import.meta.main) console.table(await withBroker(benchKafkaLatency))
