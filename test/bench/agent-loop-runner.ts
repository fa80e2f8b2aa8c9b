// One measurement of the agent loop, as its own process with its own CPU time and peak memory.
// Usage: agent-loop-runner.ts OPTIONS, a JSON object. Prints its measurements as one line of JSON.
// Code that the measurement does not need is not imported, because it would count as memory.

import type { Synchronous } from '../../shared/bus/embedded/open-file.ts'
import type { BenchProvider } from './agent-loop-conversation.ts'
import type { Loop } from './measured-loop.ts'

/**
 * `conversations`: the measured ones, after `warmUp` more. `resume`: starts none, and waits for
 * those of a killed process.
 */
export type RunnerOptions = {
  provider?: BenchProvider
  url: string
  conversations: number
  atOnce: number
  warmUp: number
  resume?: boolean
} & (
  | { kind: 'floor'; leanHttp?: boolean }
  | { kind: 'weir'; file: string; synchronous: Synchronous }
)

/** `windows`: CPU time of each thousand conversations in order. `p50Ms`: of one conversation. */
export type Measured = {
  perCpuSecond: number
  perSecond: number
  p50Ms: number
  peakRssMiB: number
  windows: number[]
  unknownCalls: number
}

const windowSize = 1_000

const options = JSON.parse(process.argv[2] ?? '') as RunnerOptions
const loop = options.kind === 'floor' ? await openFloor(options) : await openWeir(options)
const names = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`)
const measured = options.resume ? await resume() : await run()
await loop.close()
process.stdout.write(`${JSON.stringify(measured)}\n`)

async function openFloor({
  provider = 'anthropic',
  url,
  leanHttp,
}: RunnerOptions & { kind: 'floor' }): Promise<Loop> {
  const fetch = leanHttp
    ? (await import('../../services/llm-gateway/wire/http-fetch.ts')).httpFetch
    : globalThis.fetch
  return provider === 'anthropic'
    ? (await import('./agent-loop-floor.ts')).openFloor(url, fetch)
    : (await import('./agent-loop-chat-floor.ts')).openChatFloor(url, fetch)
}

async function openWeir(options: RunnerOptions & { kind: 'weir' }): Promise<Loop> {
  return (await import('./agent-loop-weir.ts')).openWeir(options)
}

async function run(): Promise<Measured> {
  await converseAll(names('warm', options.warmUp), () => {})
  const times: number[] = []
  const windows: number[] = []
  let windowCpu = process.cpuUsage()
  const cpu = process.cpuUsage()
  const began = performance.now()
  await converseAll(names('measured', options.conversations), (ms) => {
    times.push(ms)
    if (times.length % windowSize !== 0) return
    windows.push(windowSize / secondsOf(process.cpuUsage(windowCpu)))
    windowCpu = process.cpuUsage()
  })
  return {
    perCpuSecond: options.conversations / secondsOf(process.cpuUsage(cpu)),
    perSecond: options.conversations / ((performance.now() - began) / 1e3),
    p50Ms: times.sort((a, b) => a - b)[times.length >> 1] ?? 0,
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
    windows,
    unknownCalls: 0,
  }
}

async function resume(): Promise<Measured> {
  await loop.resume?.allAnswered(names('measured', options.conversations))
  const unknownCalls = (await loop.resume?.unknownCalls()) ?? 0
  return { perCpuSecond: 0, perSecond: 0, p50Ms: 0, peakRssMiB: 0, windows: [], unknownCalls }
}

async function converseAll(conversations: string[], ended: (ms: number) => void): Promise<void> {
  const left = conversations.values()
  const work = async () => {
    for (const conversation of left) {
      const began = performance.now()
      if ((await loop.converse(conversation)) === '')
        throw new Error(`${conversation} has no answer`)
      ended(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, work))
}

function secondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6
}
