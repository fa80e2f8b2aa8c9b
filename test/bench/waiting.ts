// The CPU time of 1,000 open conversations that wait for a tool, in one process on the embedded bus,
// against the same process without a conversation. Run alone: node test/bench/waiting.ts
//
// Not measured: conversations that wait for a model or a person, and Kafka.

import { setTimeout as sleep } from 'node:timers/promises'
import { instantAgent, instantAnswer, withInstantStages } from './instant-stages.ts'
import type { Row } from './row.ts'

const conversations = 1_000
const measuredMs = 10_000

export async function benchWaiting(): Promise<Row[]> {
  const agent = instantAgent(1)
  let asked = 0
  const world = {
    connect: () => ({ stream: () => instantAnswer(String(asked++)) }),
    run: () => {
      const ended = Promise.withResolvers<{ status: 'ok'; text: string; reason: string }>()
      return {
        started: Promise.resolve(true),
        ended: ended.promise,
        stop: () => ended.resolve({ status: 'ok', text: '', reason: '' }),
      }
    },
  }
  return withInstantStages(agent, world, async (edge) => {
    const without = await cpuMsPerSecond()
    for (let n = 0; n < conversations; n += 1)
      await edge.send({ agent, conversation: `waiting ${n}`, messageId: 'm', text: 'look' })
    while (asked < conversations) await sleep(50)
    await sleep(2_000)
    const waiting = await cpuMsPerSecond()
    return [
      {
        name: 'waiting: CPU time of a process without a conversation',
        value: without,
        unit: 'ms/s',
      },
      {
        name: `waiting: with ${conversations} conversations that wait for a tool`,
        value: waiting,
        unit: 'ms/s',
        baseline: 'without',
        ratio: waiting / without,
      },
    ]
  })
}

async function cpuMsPerSecond(): Promise<number> {
  const before = process.cpuUsage()
  await sleep(measuredMs)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / measuredMs
}

if (import.meta.main) console.table(await benchWaiting())
