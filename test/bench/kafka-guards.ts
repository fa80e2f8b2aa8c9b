// The extra time of guards in a round at low load: the conversation of agent-loop.ts (four rounds
// with a call) one at a time. The stages run in one process of `weir up`, without a guard, with one
// that enforces, and with ten. The three cases exist at once, each with its own topics and
// processes, in turns with hops of the raw relay. A value is the median of the turns' values. The
// guards pass every call, so only the protocol counts. All guards of a case run in one process,
// each as its own consumer group, like the guards of one team. Run alone: node
// test/bench/kafka-guards.ts. kafka-relay.ts measures the records/s of a guard's runtime.
//
// Not measured: guards that compute, latency under load, guards in many processes, several brokers
// and replicas, a network, and TLS.

import { setTimeout as sleep } from 'node:timers/promises'
import { guardTopicName } from '../../shared/contract/topology.ts'
import { callRounds } from './agent-loop-conversation.ts'
import { openClient } from './kafka-agent-loop-client.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { startChild } from './kafka-child.ts'
import { median } from './kafka-figures.ts'
import { layouts, withFleet } from './kafka-fleet.ts'
import type { GuardsOptions } from './kafka-guards-runner.ts'
import { type Hop, withHoppers } from './kafka-relay.ts'
import { openBus } from './kafka-topics.ts'
import type { Loop } from './measured-loop.ts'
import type { Row } from './row.ts'

/** The number of guards in each case. */
const cases = [0, 1, 10]
/** Enough to compile the code of the stages. */
const warmUp = 240
const turns = 60
const hopsInTurn = 6
/** About the pause of a stage between two records of a round. */
const restMs = 8

/** One turn: the milliseconds of a conversation in each case, and of a hop. */
type Turn = { conversations: number[]; hopMs: number }

export async function benchKafkaGuards({ bootstrapServers }: BenchBroker): Promise<Row[]> {
  const measured = await withCases(bootstrapServers, cases, (...loops) =>
    withHoppers(bootstrapServers, ['kafkajs'], async (hop) => {
      for (const loop of loops)
        for (let i = 0; i < warmUp; i += 20)
          await Promise.all(Array.from({ length: 20 }, (_, n) => loop.converse(`warm-${i + n}`)))
      for (let i = 0; i < warmUp; i += 1) await hop()
      const all: Turn[] = []
      for (let i = 0; i < turns; i += 1) all.push(await turn(i, loops, hop))
      return all
    }),
  )
  return rowsOf(measured)
}

async function turn(i: number, loops: Loop[], hop: Hop): Promise<Turn> {
  const conversations: number[] = []
  for (const loop of loops) {
    const began = performance.now()
    await loop.converse(`c-${i}`)
    conversations.push(performance.now() - began)
  }
  const hops: number[] = []
  for (let n = 0; n < hopsInTurn; n += 1) {
    await sleep(restMs)
    hops.push(await hop())
  }
  return { conversations, hopMs: median(hops) }
}

function rowsOf(all: Turn[]): Row[] {
  const hopMs = median(all.map((one) => one.hopMs))
  /** Of one round, beyond the case without guards. */
  const added = (i: number) =>
    median(
      all.map(
        ({ conversations }) => ((conversations[i] ?? 0) - (conversations[0] ?? 0)) / callRounds,
      ),
    )
  const [one, ten] = [added(1), added(2)]
  const row = (
    name: string,
    value: number,
    compared: Pick<Row, 'baseline' | 'ratio'> = {},
  ): Row => ({
    name,
    value,
    unit: 'ms',
    ...compared,
  })
  return [
    ...cases.map((guards, i) =>
      row(
        `guards, one at a time: a conversation with ${guards}, p50`,
        median(all.map(({ conversations }) => conversations[i] ?? Number.NaN)),
      ),
    ),
    row('guards: a hop of the raw relay, p50', hopMs),
    row('guards: one that enforces adds to a round, p50 (goal <= 3 x)', one, {
      baseline: 'a hop',
      ratio: one / hopMs,
    }),
    row('guards: ten that enforce add to a round, p50', ten, {
      baseline: 'one guard',
      ratio: ten / one,
    }),
  ]
}

/** One set of stages for each number of guards, all at once. */
async function withCases<T>(
  bootstrapServers: string,
  [count, ...rest]: number[],
  use: (...loops: Loop[]) => Promise<T>,
): Promise<T> {
  if (count === undefined) return use()
  return withFleet(bootstrapServers, layouts.together, async (fleet) => {
    const { topicPrefix } = fleet
    const guards = Array.from({ length: count }, (_, i) => `guard-${i}`)
    const options: GuardsOptions = { bootstrapServers, topicPrefix, guards }
    const child = startChild(new URL('./kafka-guards-runner.ts', import.meta.url), options)
    await child.message<'ready'>()
    const client = await openClient({ bootstrapServers, ...fleet })
    try {
      const result = await withCases(bootstrapServers, rest, (...others) => use(client, ...others))
      await assertAnswered(options)
      return result
    } finally {
      await client.close()
      await child.end()
    }
  })
}

/** A guard without requests would add nothing. */
async function assertAnswered({
  bootstrapServers,
  topicPrefix,
  guards,
}: GuardsOptions): Promise<void> {
  const bus = await openBus(bootstrapServers)
  try {
    for (const guard of guards) {
      const answers = (await bus.ends(topicPrefix + guardTopicName(guard))).reduce(
        (sum, { begin, end }) => sum + end - begin,
        0,
      )
      if (answers < turns * callRounds)
        throw new Error(
          `${guard} of ${guards.length} answered ${answers} rounds, and not all of ${turns * callRounds}`,
        )
    }
  } finally {
    await bus.close()
  }
}

if (import.meta.main) console.table(await withBroker(benchKafkaGuards))
