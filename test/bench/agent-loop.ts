// The cost of Weir in use: an agent loop of five model calls and four tool calls. The baseline is
// the same loop, written by hand over the same SDK, which stores nothing (agent-loop-floor.ts).
// Model and tool are a server in a separate process. Each measurement is one too, with its own CPU
// time and peak memory. Runs alternate and medians are compared, because the load of a shared
// machine changes. Run alone: node test/bench/agent-loop.ts. WEIR_BENCH_CONVERSATIONS: the number
// of conversations in one file, to detect a slowdown (default 3,000).
//
// Not measured: a real model's pace (all pieces of an answer arrive at once, so no cost hides in
// waiting). TLS. Long histories and large arguments or results (pipeline.ts has rounds late in a
// conversation). Tools that are programs (executor.ts). Several processes. Kafka. The CPU time of
// the disk's own work. A power cut. With as few CPUs as here, model, tool and loop share them. That
// lowers conversations per second on both sides, but hardly those per CPU second. The disk is that
// of the folder for temporary files.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BenchProvider } from './agent-loop-conversation.ts'
import type { Measured, RunnerOptions } from './agent-loop-runner.ts'
import type { ServerOptions, Starts } from './agent-loop-server.ts'
import type { Row } from './row.ts'

const serverFile = fileURLToPath(new URL('./agent-loop-server.ts', import.meta.url))
const runnerFile = fileURLToPath(new URL('./agent-loop-runner.ts', import.meta.url))
const runs = 3
const atOnce = 64
const warmUp = 200
const manyConversations = Number(process.env.WEIR_BENCH_CONVERSATIONS ?? 3_000)

type Contender = 'floor' | 'lean' | 'normal' | 'full'
const contenders: Contender[] = ['floor', 'lean', 'normal', 'full']
const goals = { normal: 0.65, full: 0.45 }

export async function benchAgentLoop(): Promise<Row[]> {
  return [
    ...(await throughput('openai-chat')),
    ...(await throughput('anthropic')),
    ...(await latency()),
    ...(await manyInOneFile()),
    ...(await killed()),
    ...coldStart(),
  ]
}

async function throughput(provider: BenchProvider): Promise<Row[]> {
  const { floor, lean, normal, full } = await alternating({
    provider,
    conversations: 600,
    atOnce,
    warmUp,
  })
  const of = (pick: (measured: Measured) => number) => (all: Measured[]) => median(all.map(pick))
  const [perCpuSecond, perSecond, memory] = [
    of((m) => m.perCpuSecond),
    of((m) => m.perSecond),
    of((m) => m.peakRssMiB),
  ]
  const compared = (
    name: string,
    unit: string,
    value: typeof memory,
    goalOf: (mode: 'normal' | 'full') => string,
  ): Row[] => [
    { name: `plain loop, ${name}`, value: value(floor), unit },
    {
      name: `plain loop with Weir's HTTP client, ${name}`,
      value: value(lean),
      unit,
      baseline: 'plain loop',
      ratio: value(lean) / value(floor),
    },
    ...(['normal', 'full'] as const).map((mode) => ({
      name: `Weir, synchronous ${mode}, ${name} (goal ${goalOf(mode)})`,
      value: value(mode === 'normal' ? normal : full),
      unit,
      baseline: 'plain loop',
      ratio: value(mode === 'normal' ? normal : full) / value(floor),
    })),
  ]
  return [
    ...compared(
      `${provider}, ${atOnce} at once, conversations per CPU second`,
      '/CPU s',
      perCpuSecond,
      (mode) => `>= ${goals[mode]} x`,
    ),
    ...compared(
      `${provider}, ${atOnce} at once, conversations per second`,
      '/s',
      perSecond,
      (mode) => `>= ${goals[mode]} x`,
    ),
    ...compared(`${provider}, ${atOnce} at once, peak memory`, 'MiB', memory, () => '<= 1.5 x'),
  ]
}

async function latency(): Promise<Row[]> {
  const { floor, lean, normal, full } = await alternating({
    conversations: 300,
    atOnce: 1,
    warmUp: 300,
  })
  const [plain, withLeanHttp, ...weir] = [floor, lean, normal, full].map((all) =>
    median(all.map(({ p50Ms }) => p50Ms)),
  ) as [number, number, number, number]
  return [
    { name: 'plain loop, one at a time, p50 of a conversation', value: plain, unit: 'ms' },
    { name: "plain loop with Weir's HTTP client, the same", value: withLeanHttp, unit: 'ms' },
    ...weir.map((value, i) => ({
      name: `Weir, synchronous ${i === 0 ? 'normal' : 'full'}, one at a time, p50 beyond the plain loop${i === 0 ? ' (goal <= 6)' : ''}`,
      value: value - plain,
      unit: 'ms',
    })),
  ]
}

async function manyInOneFile(): Promise<Row[]> {
  const [many, count] = [manyConversations, manyConversations.toLocaleString('en-US')]
  return withServer({ toolMs: 0, keepsStarts: false }, async ({ url, folder }) => {
    const file = join(folder, 'weir.db')
    const { windows, peakRssMiB } = await measure({
      kind: 'weir',
      url,
      file,
      synchronous: 'normal',
      conversations: many,
      atOnce,
      warmUp,
    })
    const [first, last] = [windows[0] ?? 0, windows.at(-1) ?? 0]
    return [
      { name: `${count} conversations in one file, the first 1,000`, value: first, unit: '/CPU s' },
      {
        name: `${count} conversations in one file, the last 1,000`,
        value: last,
        unit: '/CPU s',
        baseline: 'first',
        ratio: last / first,
      },
      { name: `${count} conversations in one file, peak memory`, value: peakRssMiB, unit: 'MiB' },
      {
        name: 'size of the file for each conversation',
        value: statSync(file).size / 1024 / (many + warmUp),
        unit: 'KiB',
      },
    ]
  })
}

/**
 * A tool that runs for a moment, so some calls have no known end. The process is killed after half
 * of all calls have begun.
 */
async function killed(): Promise<Row[]> {
  return withServer({ toolMs: 20, keepsStarts: true }, async ({ url, folder, starts }) => {
    const options: RunnerOptions = {
      kind: 'weir',
      url,
      file: join(folder, 'weir.db'),
      synchronous: 'normal',
      conversations: atOnce,
      atOnce,
      warmUp: 0,
    }
    const child = spawnRunner(options)
    while ((await starts()).starts < atOnce * 2) await sleep(2)
    child.kill('SIGKILL')
    await once(child, 'close')
    const began = performance.now()
    const { unknownCalls } = await measure({ ...options, resume: true })
    const seconds = (performance.now() - began) / 1e3
    const { twice } = await starts()
    return [
      {
        name: `killed in the middle of ${atOnce} at once: from the restart until all are answered (goal <= 5)`,
        value: seconds,
        unit: 's',
      },
      { name: 'the same: tools started twice (goal 0)', value: twice, unit: 'calls' },
      { name: 'the same: calls that are outcome_unknown', value: unknownCalls, unit: 'calls' },
    ]
  })
}

function coldStart(): Row[] {
  const weir = fileURLToPath(new URL('../../bin/weir', import.meta.url))
  const timed = (command: string, args: string[]): number => {
    const times = Array.from({ length: 10 }, () => {
      const began = performance.now()
      const { status } = spawnSync(command, args)
      if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
      return performance.now() - began
    })
    return median(times)
  }
  const [bare, help] = [timed(process.execPath, ['-e', '0']), timed(weir, ['--help'])]
  return [
    { name: 'node -e 0', value: bare, unit: 'ms' },
    {
      name: 'weir --help (goal < 120)',
      value: help,
      unit: 'ms',
      baseline: 'node -e 0',
      ratio: help / bare,
    },
  ]
}

/** Every contender in turn, a few times: a disturbance of the machine affects all of them. */
async function alternating(
  options: Pick<RunnerOptions, 'provider' | 'conversations' | 'atOnce' | 'warmUp'>,
): Promise<Record<Contender, Measured[]>> {
  const measured: Record<Contender, Measured[]> = { floor: [], lean: [], normal: [], full: [] }
  const served = options.provider === undefined ? {} : { provider: options.provider }
  for (let run = 0; run < runs; run += 1)
    for (const contender of contenders)
      await withServer({ ...served, toolMs: 0, keepsStarts: false }, async ({ url, folder }) => {
        const weir = { kind: 'weir' as const, file: join(folder, 'weir.db') }
        const plain = { kind: 'floor' as const, leanHttp: contender === 'lean' }
        const loop =
          contender === 'floor' || contender === 'lean'
            ? plain
            : { ...weir, synchronous: contender }
        measured[contender].push(await measure({ ...options, url, ...loop }))
      })
  return measured
}

type Served = { url: string; folder: string; starts(): Promise<Starts> }

/** With its own server and folder, removed afterwards. */
export async function withServer<T>(
  options: ServerOptions,
  use: (served: Served) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const server = spawn(
    process.execPath,
    [...process.execArgv, serverFile, JSON.stringify(options)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  try {
    const [url] = (await once(createInterface(server.stdout), 'line')) as [string]
    return await use({
      url,
      folder,
      starts: async () => (await fetch(`${url}/starts`)).json() as Promise<Starts>,
    })
  } finally {
    server.kill()
    rmSync(folder, { recursive: true })
  }
}

function spawnRunner(options: RunnerOptions) {
  return spawn(process.execPath, [...process.execArgv, runnerFile, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

export async function measure(options: RunnerOptions): Promise<Measured> {
  const child = spawnRunner(options)
  const printed: string[] = []
  child.stdout.on('data', (data) => printed.push(String(data)))
  const [code, signal] = await once(child, 'close')
  if (code !== 0)
    throw new Error(
      `a run of the agent loop ended with ${code ?? signal}: ${JSON.stringify(options)}`,
    )
  return JSON.parse(printed.join('')) as Measured
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

if (import.meta.main) console.table(await benchAgentLoop())
