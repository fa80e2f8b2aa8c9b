// The cost of a stage on Kafka against the least possible stage. The stage is the validator (real
// reducer, runtime and bus: rounds-proposed to rounds-checked). The baseline is a relay of
// kafkajs's own consumer and producer with avsc. It reads, decodes, encodes, writes (acks=-1) and
// commits the same records with the same header. Its batches have at most as many records, over the
// same partitions. Each is a process, alone on the broker. Runs alternate, and a ratio is the
// median of the pairs' ratios. A guard is measured against the same relay: from rounds-cleared to
// its own topic, with a function that passes and keeps a number for each conversation.
//
// The hop: both are there at once, and one record after the other goes through each in turn. A hop
// is half of the way there and back, because a record is written and read twice on it. The same
// driver writes and reads for both, on Weir's bus. Run alone: node test/bench/kafka-relay.ts.
// WEIR_BENCH_RELAY_RECORDS (default 60,000) are counted, after a third as many to warm up.
// WEIR_BENCH_KAFKA_RUNS: the number of pairs of runs (default 3).
//
// Not measured: several brokers and replicas (acks=-1 waits for one disk cache), a network, TLS,
// compression, and large records. A stage with state or with a performer. Joining, restoring and
// rebalancing. Latency under load. With as few CPUs as here, broker and client share them. That
// lowers records per second, but hardly changes CPU per record.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKeyFiles } from '../../shared/bus/signing/keys.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { guardTopicName } from '../../shared/contract/topology.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { type Child, startChild } from './kafka-child.ts'
import { median, medianRatio, quantile } from './kafka-figures.ts'
import { cleared, fill, guardName, type MakeRecord, proposed } from './kafka-relay-records.ts'
import type { MeasuredRelay } from './kafka-relay-runner.ts'
import { partitions, signed, withTopics } from './kafka-topics.ts'
import type { RelayKind, RelayOptions } from './relay-options.ts'
import type { Row } from './row.ts'

const runs = Number(process.env.WEIR_BENCH_KAFKA_RUNS ?? 3)
const counted = Number(process.env.WEIR_BENCH_RELAY_RECORDS ?? 60_000)
const warmUp = Math.ceil(counted / 3)
const hops = 400
const hopsWarmUp = 100
const kinds = ['kafkajs', 'validator', 'signed', 'guard'] as const satisfies RelayKind[]
const keys = mkdtempSync(join(tmpdir(), 'weir-bench-keys-'))
createKeyFiles(keys)
process.once('exit', () => rmSync(keys, { recursive: true }))

export async function benchKafkaRelay(broker: BenchBroker): Promise<Row[]> {
  return [...(await throughput(broker)), ...(await latency(broker))]
}

async function throughput(broker: BenchBroker): Promise<Row[]> {
  const measured: Record<RelayKind, MeasuredRelay[]> = {
    kafkajs: [],
    validator: [],
    signed: [],
    guard: [],
  }
  for (let run = 0; run < runs; run += 1)
    for (const kind of kinds) measured[kind].push(await relayed(broker, kind))
  const compared = (
    name: string,
    goals: { validator: string; guard: string; signed: string },
    unit: string,
    pick: (one: MeasuredRelay) => number,
  ): Row[] => {
    const raw = measured.kafkajs.map(pick)
    const against = (kind: 'validator' | 'guard'): Row => {
      const weir = measured[kind].map(pick)
      return {
        name: `${kind}: ${name}${goals[kind]}`,
        value: median(weir),
        unit,
        baseline: 'raw relay',
        ratio: medianRatio(weir, raw),
      }
    }
    return [
      { name: `raw relay: ${name}`, value: median(raw), unit },
      against('validator'),
      against('guard'),
      {
        name: `signed validator: ${name}${goals.signed}`,
        value: median(measured.signed.map(pick)),
        unit,
        baseline: 'validator',
        ratio: medianRatio(measured.signed.map(pick), measured.validator.map(pick)),
      },
    ]
  }
  const all = Object.values(measured).flat()
  const none = { validator: '', guard: '', signed: '' }
  return [
    ...compared(
      'records/s',
      { validator: ' (goal >= 0.8 x)', guard: ' (goal >= 0.7 x)', signed: '' },
      'records/s',
      (one) => one.perSecond,
    ),
    ...compared(
      'client CPU per record',
      { validator: ' (goal <= 1.3 x)', guard: '', signed: ' (goal <= 1.25 x)' },
      'µs',
      (one) => one.cpuUs,
    ),
    ...(broker.pid === undefined
      ? []
      : compared('broker CPU per record', none, 'µs', (one) => one.brokerCpuUs)),
    ...compared('records in a batch written', none, 'records', (one) => one.perBatch),
    {
      name: 'relays: CPU of other programs',
      value: median(all.map((one) => one.othersShare)) * 100,
      unit: '%',
    },
  ]
}

/** One run of one relay, over topics that are filled before its start. */
async function relayed(
  { bootstrapServers, pid }: BenchBroker,
  kind: RelayKind,
): Promise<MeasuredRelay> {
  return withTopics(bootstrapServers, async (bus, topicPrefix) => {
    // allows for records in flight at both ends of the count
    const records = warmUp + counted + 8_000
    const filled = kind === 'signed' ? signed(bus, keys, topicPrefix) : bus
    await fill(filled, recordsFor(kind), { topicPrefix, partitions, records })
    const child = startRelay({
      kind,
      bootstrapServers,
      topicPrefix,
      keys: kind === 'signed' ? keys : undefined,
      count: { warmUp, records: counted, brokerPid: pid },
    })
    await child.message<'ready'>()
    const measured = await child.message<MeasuredRelay>()
    await child.end()
    return measured
  })
}

async function latency({ bootstrapServers }: BenchBroker): Promise<Row[]> {
  return withHoppers(bootstrapServers, [...kinds], async (...hoppers) => {
    const times: number[][] = kinds.map(() => [])
    for (let i = 0; i < hopsWarmUp + hops; i += 1)
      for (const [k, hop] of hoppers.entries()) {
        const hopMs = await hop()
        if (i >= hopsWarmUp) times[k]?.push(hopMs)
        await sleep(2)
      }
    return [50, 99].flatMap((p) => {
      const [raw = Number.NaN, ...others] = times.map((all) => quantile(all, p / 100))
      const row = (kind: string, ms: number) => ({
        name: `${kind}: a hop at low load, p${p}`,
        value: ms,
        unit: 'ms',
      })
      return [
        row('raw relay', raw),
        ...others.map((ms, i) => ({
          ...row(kinds[i + 1] ?? '', ms),
          baseline: 'raw relay',
          ratio: ms / raw,
        })),
      ]
    })
  })
}

/** Sends one record through a relay. Returns the milliseconds of one hop. */
export type Hop = () => Promise<number>

/** Relays that run at once, each with its own topics. */
export async function withHoppers<T>(
  bootstrapServers: string,
  kinds: RelayKind[],
  use: (...hops: Hop[]) => Promise<T>,
): Promise<T> {
  const [kind, ...rest] = kinds
  if (kind === undefined) return use()
  return withTopics(bootstrapServers, async (bus, topicPrefix) => {
    const isSigned = kind === 'signed'
    const child = startRelay({
      kind,
      bootstrapServers,
      topicPrefix,
      keys: isSigned ? keys : undefined,
    })
    await child.message<'ready'>()
    const { hop, close } = await openDriver(
      isSigned ? signed(bus, keys, topicPrefix) : bus,
      topicPrefix,
      kind,
    )
    try {
      return await withHoppers(bootstrapServers, rest, (...others) => use(hop, ...others))
    } finally {
      close()
      await child.end()
    }
  })
}

async function openDriver(
  bus: Bus,
  topicPrefix: string,
  kind: RelayKind,
): Promise<{ hop: Hop; close(): void }> {
  const topic = topicPrefix + (kind === 'guard' ? guardTopicName(guardName) : 'rounds-checked')
  const closed = new AbortController()
  let back = (): void => {}
  let n = 0
  for (const partition of new Array(partitions).keys()) void follow(partition)

  async function follow(partition: number): Promise<void> {
    for await (const _ of bus.follow({ topic, partition, from: 0, signal: closed.signal })) back()
  }

  return {
    async hop() {
      n += 1
      const { promise, resolve } = Promise.withResolvers<void>()
      back = resolve
      const record = recordsFor(kind)({ topicPrefix, partition: n % partitions, n })
      const began = performance.now()
      await bus.append([record])
      await promise
      return (performance.now() - began) / 2
    },
    close: () => closed.abort(),
  }
}

function recordsFor(kind: RelayKind): MakeRecord {
  return kind === 'guard' ? cleared : proposed
}

function startRelay(options: RelayOptions): Child {
  return startChild(new URL('./kafka-relay-runner.ts', import.meta.url), options)
}

if (import.meta.main) console.table(await withBroker(benchKafkaRelay))
