// Weir's stages on Kafka as in production: processes of `weir up`, with health, metrics and a log,
// over the agent loop's model and tool.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { maxOutputTokens, system, tool } from './agent-loop-conversation.ts'
import { startChild } from './kafka-child.ts'
import { withTopics } from './kafka-topics.ts'

/** The stages of each process. */
export type Layout = StageName[][]

export const layouts = {
  together: [stageNames],
  apart: stageNames.map((name) => [name]),
  doubled: stageNames.flatMap((name) => [[name], [name]]),
} satisfies Record<string, Layout>

/** `pids`: of its processes; `serverPid`: of the model and the tool. */
export type Fleet = {
  topicPrefix: string
  agentFile: string
  serverUrl: string
  serverPid: number
  pids: number[]
  /** Kills a process and starts it again. Resolves when it is ready. */
  restart(process: number): Promise<void>
}

export type FleetOptions = { toolMs?: number; keepsStarts?: boolean; toolTimeoutMs?: number }

const weir = fileURLToPath(new URL('../../apps/cli/main.ts', import.meta.url))
const readyMs = 120_000

/** With its own topics, server and folder. An unexpected exit of a process fails the bench. */
export async function withFleet<T>(
  bootstrapServers: string,
  layout: Layout,
  use: (fleet: Fleet) => Promise<T>,
  { toolMs = 0, keepsStarts = false, toolTimeoutMs = 10_000 }: FleetOptions = {},
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const server = startChild(new URL('./agent-loop-server.ts', import.meta.url), {
    toolMs,
    keepsStarts,
  })
  try {
    const serverUrl = await server.line()
    const agentFile = join(folder, 'bench.yaml')
    writeFileSync(agentFile, JSON.stringify(agentWith(serverUrl, toolTimeoutMs))) // JSON is YAML
    return await withTopics(bootstrapServers, async (_, topicPrefix) => {
      const start = (i: number) =>
        startUp({
          bootstrapServers,
          topicPrefix,
          agentFile,
          stages: layout[i] ?? [],
          folder: join(folder, `${i}`),
        })
      const processes = layout.map((_, i) => start(i))
      try {
        const failed = Promise.race(processes.map((each) => each.failed))
        await Promise.race([Promise.all(processes.map((each) => each.ready)), failed])
        const fleet = {
          topicPrefix,
          agentFile,
          serverUrl,
          serverPid: server.pid,
          pids: processes.map(({ pid }) => pid),
          async restart(i: number) {
            await processes[i]?.kill()
            const next = start(i)
            processes[i] = next
            await Promise.race([next.ready, next.failed])
          },
        }
        return await Promise.race([use(fleet), failed])
      } finally {
        await Promise.all(processes.map((each) => each.stop()))
      }
    })
  } finally {
    await server.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

function agentWith(url: string, timeoutMs: number): object {
  return {
    name: 'bench',
    system,
    model: { provider: 'anthropic', name: 'bench', baseUrl: url, maxOutputTokens },
    tools: [{ ...tool, timeoutMs, http: { url: `${url}/tool` } }],
  }
}

type UpOptions = {
  bootstrapServers: string
  topicPrefix: string
  agentFile: string
  stages: StageName[]
  folder: string
}

function startUp({ bootstrapServers, topicPrefix, agentFile, stages, folder }: UpOptions) {
  const kafka = [
    '--bus',
    'kafka',
    '--bootstrap-server',
    bootstrapServers,
    '--topic-prefix',
    topicPrefix,
  ]
  const args = [
    'up',
    ...kafka,
    '--stages',
    stages.join(','),
    '--agents',
    agentFile,
    '--data-folder',
    folder,
    '--log-level',
    'info',
  ]
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('WEIR_')),
  )
  const child = spawn(process.execPath, [...process.execArgv, weir, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const health = Promise.withResolvers<string>()
  const last: string[] = []
  createInterface(child.stderr).on('line', (line) => {
    last.splice(0, last.length - 9, line)
    if (!line.startsWith('{')) return
    const { msg, health: url } = JSON.parse(line) as { msg: string; health?: string }
    if (msg === 'starting' && url !== undefined) health.resolve(url)
  })
  let isStopping = false
  const closed = once(child, 'close')
  const failed = closed.then((): Promise<never> => {
    if (isStopping) return new Promise<never>(() => {})
    throw new Error(
      `weir up --stages ${stages.join(',')} ended with ${child.exitCode ?? child.signalCode}:\n${last.join('\n')}`,
    )
  })
  failed.catch(() => {}) // a waiting caller gets the error

  return {
    pid: child.pid ?? 0,
    failed,
    ready: untilReady(health.promise),
    async kill() {
      isStopping = true
      child.kill('SIGKILL')
      await closed
    },
    async stop() {
      isStopping = true
      await stopped(child, closed)
    },
  }
}

async function untilReady(health: Promise<string>): Promise<void> {
  const url = `${await health}/readyz`
  const deadline = performance.now() + readyMs
  while (!(await isReady(url))) {
    if (performance.now() > deadline)
      throw new Error(
        `a process of weir up was not ready within ${readyMs} ms: ${await (await fetch(url)).text()}`,
      )
    await sleep(50)
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url)
    await response.text()
    return response.status === 200
  } catch {
    return false // it listens in a moment, or has exited, which its end reports
  }
}

async function stopped(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
  await closed
  clearTimeout(late)
}
