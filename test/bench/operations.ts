// The CPU time that budgets, encryption and traces add to the conversations of library.ts: five
// requests and four calls of a function, without thinking time. Each measurement is a process. Runs
// alternate and medians are compared. Run alone: node test/bench/operations.ts.
//
// Traces: `weir traces` reads the log of the runs without budgets from its beginning, in a process
// next to Weir. Its CPU time counts, and that of the backend does not.
//
// Not measured: Kafka, where a reservation waits for an acknowledgement. Many budgets at once, and
// many gateways that share one. Latency. Large records, whose encryption costs more. Traces with
// contents. The time to load the code.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { measure, median, withServer } from './agent-loop.ts'
import type { TracesRun } from './operations-traces.ts'
import type { Operation } from './operations-weir.ts'
import type { Row } from './row.ts'

const tracesFile = fileURLToPath(new URL('./operations-traces.ts', import.meta.url))
const runs = 5
const load = { conversations: 600, atOnce: 64, warmUp: 400 }
const rounds = 5

const operations: { operation: Operation; name: string; goal?: string }[] = [
  { operation: 'token-budget', name: 'a budget of tokens', goal: '<= 1.05 x' },
  { operation: 'money-budget', name: 'a budget of money', goal: '<= 1.05 x' },
  { operation: 'encryption', name: 'encrypted records' },
]

export async function benchOperations(): Promise<Row[]> {
  const plain: number[] = []
  const traced: number[] = []
  const under = new Map(operations.map(({ operation }) => [operation, [] as number[]]))
  for (let run = 0; run < runs; run += 1) {
    const { conversationMs, tracesMs } = await plainRun()
    plain.push(conversationMs)
    traced.push(tracesMs)
    for (const [operation, times] of under) times.push(await runUnder(operation))
  }
  const conversation = median(plain)
  const compared = { unit: 'ms', baseline: 'without', ratio: 0 }
  return [
    { name: 'CPU of a round', value: conversation / rounds, unit: 'ms' },
    ...operations.map(({ operation, name, goal }) => {
      const value = median(under.get(operation) ?? [])
      return {
        ...compared,
        name: `the same with ${name}${goal ? ` (goal ${goal})` : ''}`,
        value: value / rounds,
        ratio: value / conversation,
      }
    }),
    {
      ...compared,
      name: 'the same with the process of weir traces (goal <= 1.1 x)',
      value: (conversation + median(traced)) / rounds,
      ratio: 1 + median(traced) / conversation,
    },
  ]
}

/** CPU time of a conversation, and of sending its trace. */
async function plainRun(): Promise<{ conversationMs: number; tracesMs: number }> {
  return withServer(served, async ({ url, folder }) => {
    const dataFolder = join(folder, 'weir')
    const { perCpuSecond } = await measure({ ...load, url, kind: 'weir-library', dataFolder })
    const count = load.conversations + load.warmUp
    return {
      conversationMs: 1e3 / perCpuSecond,
      tracesMs: (1e3 * (await tracesSeconds(dataFolder))) / count,
    }
  })
}

async function runUnder(operation: Operation): Promise<number> {
  return withServer(served, async ({ url, folder }) => {
    const own = { kind: 'weir-library', dataFolder: join(folder, 'weir'), operation } as const
    return 1e3 / (await measure({ ...load, ...own, url })).perCpuSecond
  })
}

const served = { provider: 'openai-chat', toolMs: 0, keepsStarts: false } as const

/** Throws if the backend received no span of some conversation. */
async function tracesSeconds(dataFolder: string): Promise<number> {
  const traceIds = new Set<string>()
  const backend = createServer(async (request, response) => {
    for (const [, id = ''] of (await text(request)).matchAll(/"traceId":"(\w+)"/g)) traceIds.add(id)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(backend, 'listening')
  const { port } = backend.address() as AddressInfo
  const run: TracesRun = { dataFolder, endpoint: `http://127.0.0.1:${port}` }
  const child = spawn(process.execPath, [...process.execArgv, tracesFile, JSON.stringify(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
  backend.closeAllConnections()
  backend.close()
  const count = load.conversations + load.warmUp
  if (child.exitCode !== 0 || traceIds.size !== count)
    throw new Error(`weir traces ended with ${child.exitCode}: ${traceIds.size} traces of ${count}`)
  return Number(printed)
}

if (import.meta.main) console.table(await benchOperations())
