// The CPU time of a fleet that has nothing to do: one process of `weir up` for each stage, and all stages
// in one process. Both have health, metrics that nobody reads, and a log. Each fleet has answered some
// conversations before and then rests, because a start is no idle time. The broker is measured with
// the fleet and, as the baseline, without a client. Run alone: node test/bench/kafka-idle.ts
//
// Not measured: several brokers and replicas, TLS, open conversations, and fronts.

import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from './kafka-agent-loop-client.ts'
import { type BenchBroker, withBroker } from './kafka-broker.ts'
import { type Reading, startMeter, sum } from './kafka-cpu.ts'
import { type Layout, layouts, withFleet } from './kafka-fleet.ts'
import type { Row } from './row.ts'

/** Enough to compile the code of the stages and of the broker. */
const conversations = 100
const [restSeconds, measuredSeconds] = [15, 30]

type Idle = { fleet: number; broker: number; othersShare: number }

export async function benchKafkaIdle(broker: BenchBroker): Promise<Row[]> {
  const { pid } = broker
  if (pid === undefined)
    return [
      {
        name: 'idle fleet',
        value: Number.NaN,
        unit: '',
        notMeasured: "the broker's process, whose CPU time counts, is not known",
      },
    ]
  const apart = await idleFleet(broker.bootstrapServers, pid, layouts.apart)
  const together = await idleFleet(broker.bootstrapServers, pid, layouts.together)
  const alone = perSecond(await resting([pid]), 0)
  return [
    row(`${layouts.apart.length} services: fleet (goal <= 30)`, apart.fleet),
    row(`${layouts.apart.length} services: broker (goal <= 60)`, apart.broker),
    row('all stages in one process: fleet', together.fleet),
    row('all stages in one process: broker', together.broker),
    row('broker without a client', alone),
    { ...row('CPU of other programs', apart.othersShare * 100), unit: '%' },
  ]
}

function row(name: string, value: number): Row {
  return { name: `idle, ${name}`, value, unit: 'CPU ms/s' }
}

function idleFleet(bootstrapServers: string, brokerPid: number, layout: Layout): Promise<Idle> {
  return withFleet(bootstrapServers, layout, async (fleet) => {
    const client = await openClient({ bootstrapServers, ...fleet })
    for (let i = 0; i < conversations; i += 10)
      await Promise.all(Array.from({ length: 10 }, (_, n) => client.converse(`c-${i + n}`)))
    await client.close()
    const reading = await resting([brokerPid, ...fleet.pids])
    return {
      fleet: sum(fleet.pids.map((_, i) => perSecond(reading, i + 1))),
      broker: perSecond(reading, 0),
      othersShare: reading.othersShare,
    }
  })
}

async function resting(pids: number[]): Promise<Reading> {
  await sleep(restSeconds * 1e3)
  const read = startMeter(pids)
  await sleep(measuredSeconds * 1e3)
  return read()
}

/** The CPU milliseconds a second of one process. */
function perSecond({ cpuSeconds, seconds }: Reading, process: number): number {
  return ((cpuSeconds[process] ?? Number.NaN) * 1e3) / seconds
}

if (import.meta.main) console.table(await withBroker(benchKafkaIdle))
