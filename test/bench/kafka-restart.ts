// The time until a stage with much state acts again after a restart: the accumulator with 1,000
// open rounds of 99 parts each. These are 100,000 records in all, none of them completed. The
// baseline is a plain kafkajs consumer that only reads the same records. Time and CPU count from
// the assignment of the partitions to the last record. Both are new processes each time. Runs
// alternate, and a ratio is the median of the pairs' ratios. Run alone: node
// test/bench/kafka-restart.ts
//
// Not measured: the time until the group accepts a new member, which depends on the broker and on
// the former member's end. (The whole time from the start of the process is a separate row.) Stages
// with larger states, tables of history, and a disk that must be read.

import type { Bus, RecordToAppend } from '../../shared/contract/bus.ts'
import type { ModelOpened, Part } from '../../shared/contract/messages.ts'
import { formatId } from '../../shared/runtime/derived-id.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { startChild } from './kafka-child.ts'
import { median, medianRatio } from './kafka-figures.ts'
import type { MeasuredRestart, RestartOptions } from './kafka-restart-runner.ts'
import { partitions, withTopics } from './kafka-topics.ts'
import type { Row } from './row.ts'

const runs = 3
const rounds = 1_000
const recordsEach = 100
const records = rounds * recordsEach

export async function benchKafkaRestart({ bootstrapServers }: BenchBroker): Promise<Row[]> {
  return withTopics(bootstrapServers, async (bus, topicPrefix) => {
    await fill(bus, topicPrefix)
    const run = (kind: RestartOptions['kind']) =>
      measure({ kind, bootstrapServers, topicPrefix, records })
    // its first life: afterwards all records are applied and must be folded again
    await run('accumulator')
    const [plain, weir]: [MeasuredRestart[], MeasuredRestart[]] = [[], []]
    for (let n = 0; n < runs; n += 1) {
      plain.push(await run('consumer'))
      weir.push(await run('accumulator'))
    }
    const compared = (
      name: string,
      unit: string,
      pick: (one: MeasuredRestart) => number,
    ): Row[] => {
      const [raw, ours] = [plain.map(pick), weir.map(pick)]
      return [
        {
          name: `plain consumer, ${records.toLocaleString('en-US')} records: ${name}`,
          value: median(raw),
          unit,
        },
        {
          name: `accumulator restarted, folding them: ${name}`,
          value: median(ours),
          unit,
          baseline: 'plain consumer',
          ratio: medianRatio(ours, raw),
        },
      ]
    }
    return [
      ...compared('until the last is applied', 's', (one) => one.seconds),
      ...compared('CPU per record', 'µs', (one) => (one.cpuSeconds * 1e6) / records),
      ...compared('from the start of the process', 's', (one) => one.sinceStart),
      {
        name: 'restarts: CPU of other programs',
        value: median([...plain, ...weir].map((one) => one.othersShare)) * 100,
        unit: '%',
      },
    ]
  })
}

async function measure(options: RestartOptions): Promise<MeasuredRestart> {
  const child = startChild(new URL('./kafka-restart-runner.ts', import.meta.url), options)
  const measured = await child.message<MeasuredRestart>()
  await child.end()
  return measured
}

/**
 * Rounds that are open at the same time, as a busy gateway writes them: first all their openings,
 * then one part of each in turn.
 */
async function fill(bus: Bus, topicPrefix: string): Promise<void> {
  const each = rounds / partitions
  await Promise.all(
    [...new Array(partitions).keys()].map(async (partition) => {
      for (let i = 0; i < recordsEach; i += 1)
        await bus.append(
          Array.from({ length: each }, (_, n) => recordOf(topicPrefix, partition, n, i)),
        )
    }),
  )
}

function recordOf(topicPrefix: string, partition: number, n: number, i: number): RecordToAppend {
  const topic = `${topicPrefix}model-deltas`
  const place = { conversation: `conversation-${partition}-${n}`, turn: n, round: 1 }
  if (i > 0) return toRecord({ topic, partition, message: partOf(place, i - 1) })
  const message: ModelOpened = {
    type: 'model-opened',
    ...place,
    offered: ['count_articles'],
    expiresAt: Date.now() + 3_600_000,
  }
  return {
    ...toRecord({ topic, partition, message }),
    id: formatId({ stage: 'llm-gateway', partition, offset: 0, n }),
  }
}

function partOf(place: { conversation: string; turn: number; round: number }, i: number): Part {
  const events = ['There are ', 'forty words ', `of them ${i} `].map((text) => ({
    kind: 'text' as const,
    index: 0,
    id: null,
    name: null,
    text,
  }))
  return { type: 'part', ...place, attempt: '0123456789abcdef0123456789abcdef', i, events }
}

if (import.meta.main) console.table(await withBroker(benchKafkaRestart))
