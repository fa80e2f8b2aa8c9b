// One measurement of the agent loop, as its own process with its own CPU time and peak memory.
// Usage: agent-loop-runner.ts OPTIONS, a JSON object. Prints its measurements as one line of JSON.
// Code that the measurement does not need is not imported, because it would count as memory.

import { dirname } from 'node:path'
import type { Synchronous } from '../../shared/bus/embedded/file/open-file.ts'
import type { BenchProvider } from './agent-loop-conversation.ts'
import type { Loop } from './measured-loop.ts'
import type { Operation } from './operations-weir.ts'

/**
 * `conversations`: the measured ones, after `warmUp` more. `resume`: starts none, and waits for
 * those of a killed process. `modelUrl`: of the model, such as a proxy's. Default: `url`, which also has
 * the tool.
 */
export type RunnerOptions = {
  provider?: BenchProvider
  url: string
  conversations: number
  atOnce: number
  warmUp: number
  resume?: boolean
} & (
  | { kind: 'floor'; leanHttp?: boolean; inProcess?: boolean; modelUrl?: string }
  | { kind: 'weir'; file: string; synchronous: Synchronous }
  | { kind: 'ai-sdk' | 'agents-sdk' }
  | { kind: 'weir-library'; dataFolder: string; operation?: Operation }
)

/**
 * `windows`: CPU time of each thousand conversations in order. `p50Ms`: of one conversation.
 * `firstTextMs`: the median from the write of the first text, if the server stamps it.
 */
export type Measured = {
  perCpuSecond: number
  perSecond: number
  p50Ms: number
  firstTextMs: number
  peakRssMiB: number
  windows: number[]
  unknownCalls: number
}

const windowSize = 1_000

const options = JSON.parse(process.argv[2] ?? '') as RunnerOptions
const loop = await open()
const names = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`)
const measured = options.resume ? await resume() : await run()
await loop.close()
process.stdout.write(`${JSON.stringify(measured)}\n`)

async function open(): Promise<Loop> {
  switch (options.kind) {
    case 'floor':
      return openFloor(options)
    case 'weir':
      return openWeir(options)
    case 'ai-sdk':
      return (await import('./library-ai-sdk.ts')).openAiSdk(options.url)
    case 'agents-sdk':
      return (await import('./library-agents-sdk.ts')).openAgentsSdk(options.url)
    case 'weir-library':
      return openLibrary(options)
  }
}

async function openLibrary({
  url,
  dataFolder,
  operation,
}: RunnerOptions & { kind: 'weir-library' }): Promise<Loop> {
  if (operation === undefined)
    return (await import('./library-weir.ts')).openWeirLibrary(url, dataFolder)
  const { openWeirUnder } = await import('./operations-weir.ts')
  return openWeirUnder(operation, { url, dataFolder, folder: dirname(dataFolder) })
}

async function openFloor({
  provider = 'anthropic',
  url,
  leanHttp,
  inProcess,
  modelUrl = url,
}: RunnerOptions & { kind: 'floor' }): Promise<Loop> {
  const fetch = leanHttp
    ? (await import('../../services/llm-gateway/performer/wire/http-fetch.ts')).httpFetch
    : globalThis.fetch
  const { runTool } = await import('./agent-loop-tool.ts')
  const call = (input: string) => runTool(fetch, url, input)
  if (provider === 'anthropic')
    return (await import('./agent-loop-floor.ts')).openFloor(modelUrl, fetch, call)
  const { openChatFloor } = await import('./agent-loop-chat-floor.ts')
  if (!inProcess) return openChatFloor(modelUrl, fetch, call)
  const { countArticles } = await import('./library-tool.ts')
  return openChatFloor(modelUrl, fetch, async (input) => countArticles(JSON.parse(input)))
}

async function openWeir(options: RunnerOptions & { kind: 'weir' }): Promise<Loop> {
  return (await import('./agent-loop-weir.ts')).openWeir(options)
}

async function run(): Promise<Measured> {
  await converseAll(names('warm', options.warmUp), () => {})
  const times: number[] = []
  const firstTexts: number[] = []
  const windows: number[] = []
  let windowCpu = process.cpuUsage()
  const cpu = process.cpuUsage()
  const began = performance.now()
  await converseAll(names('measured', options.conversations), (ms, firstTextMs) => {
    times.push(ms)
    firstTexts.push(firstTextMs)
    if (times.length % windowSize !== 0) return
    windows.push(windowSize / secondsOf(process.cpuUsage(windowCpu)))
    windowCpu = process.cpuUsage()
  })
  return {
    perCpuSecond: options.conversations / secondsOf(process.cpuUsage(cpu)),
    perSecond: options.conversations / ((performance.now() - began) / 1e3),
    p50Ms: median(times),
    firstTextMs: median(firstTexts),
    peakRssMiB: process.resourceUsage().maxRSS / 1024,
    windows,
    unknownCalls: 0,
  }
}

async function resume(): Promise<Measured> {
  await loop.resume?.allAnswered(names('measured', options.conversations))
  const unknownCalls = (await loop.resume?.unknownCalls()) ?? 0
  return {
    perCpuSecond: 0,
    perSecond: 0,
    p50Ms: 0,
    firstTextMs: 0,
    peakRssMiB: 0,
    windows: [],
    unknownCalls,
  }
}

async function converseAll(
  conversations: string[],
  ended: (ms: number, firstTextMs: number) => void,
): Promise<void> {
  const left = conversations.values()
  const work = async () => {
    for (const conversation of left) {
      const began = performance.now()
      let firstTextMs: number | undefined
      const answer = await loop.converse(conversation, (text) => {
        if (text !== '')
          firstTextMs ??=
            Number(process.hrtime.bigint() - BigInt(/^\d+/.exec(text)?.[0] ?? 0)) / 1e6
      })
      if (answer === '') throw new Error(`${conversation} has no answer`)
      ended(performance.now() - began, firstTextMs ?? 0)
    }
  }
  await Promise.all(Array.from({ length: options.atOnce }, work))
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}

function secondsOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6
}
