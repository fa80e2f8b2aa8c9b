// The agent loop of agent-loop.ts through the proxy. Measures the proxy's CPU time for each model call,
// against a round of the same conversation inside Weir and against a plain pipe. Also measures the loop's
// conversations per second, against the loop without a proxy. The proxy is that of `weir proxy` with its
// real stages. Runs alternate, and medians are compared. Run alone: node test/bench/proxy-loop.ts.
//
// Not measured: TLS, a network, a model's pace, long histories (guest.ts), guards and approvals, a log on
// Kafka, a client that sends headers with names of conversations. The client uses the HTTP client of Weir.

import { join } from 'node:path'
import { measure, median, withServer } from './agent-loop.ts'
import { type BenchProvider, callRounds } from './agent-loop-conversation.ts'
import type { Measured } from './agent-loop-runner.ts'
import { startMeter } from './kafka-cpu.ts'
import { type Child, startChild } from './proxy-child.ts'
import type { Row } from './row.ts'

const runs = 5
const conversations = 300
const atOnce = 64
const roundsEach = callRounds + 1
const goals = { memory: '<= 0.5', folder: '<= 0.9' }

type Proxy = 'pipe' | 'memory' | 'folder' | 'veto'
const proxies: Proxy[] = ['pipe', 'memory', 'folder', 'veto']

/** `cpuMs`: of a model call in the proxy. `perSecond`: conversations. */
type Figures = { cpuMs: number[]; perSecond: number[] }

export async function benchProxyLoop(): Promise<Row[]> {
  return [...(await rowsOf('openai-chat')), ...(await rowsOf('anthropic'))]
}

async function rowsOf(provider: BenchProvider): Promise<Row[]> {
  return withServer({ provider, toolMs: 0, keepsStarts: false }, async ({ url, folder }) => {
    const through = await Promise.all(
      proxies.map(async (proxy) => ({
        proxy,
        child: await startProxy(proxy, url, folder),
        figures: { cpuMs: [], perSecond: [] } as Figures,
      })),
    )
    const common = { provider, url, conversations, atOnce, warmUp: 0 }
    const floor = { ...common, kind: 'floor', leanHttp: true } as const
    const weir: Measured[] = []
    const direct: Measured[] = []
    try {
      for (const { child } of through) await measure({ ...floor, modelUrl: modelUrl(child.url) })
      for (let run = 0; run < runs; run += 1) {
        direct.push(await measure(floor))
        const file = join(folder, `weir-${run}.db`)
        weir.push(
          await measure({ ...common, kind: 'weir', file, synchronous: 'normal', warmUp: 200 }),
        )
        for (const { child, figures } of through) {
          const read = startMeter([child.pid])
          const { perSecond } = await measure({ ...floor, modelUrl: modelUrl(child.url) })
          const [cpuSeconds = 0] = read().cpuSeconds
          figures.cpuMs.push((cpuSeconds * 1e3) / (conversations * roundsEach))
          figures.perSecond.push(perSecond)
        }
      }
    } finally {
      for (const { child } of through) await child.stop()
    }
    const inside = median(weir.map(({ perCpuSecond }) => 1e3 / perCpuSecond / roundsEach))
    const perSecond = median(direct.map((measured) => measured.perSecond))
    return [
      { name: `${provider}, CPU of a round inside Weir`, value: inside, unit: 'ms' },
      ...through.map(({ proxy, figures }) => ({
        name: `${provider}, CPU of a model call in the proxy, ${nameOf(proxy)}`,
        value: median(figures.cpuMs),
        unit: 'ms',
        baseline: 'inside Weir',
        ratio: median(figures.cpuMs) / inside,
      })),
      { name: `${provider}, conversations per second, direct`, value: perSecond, unit: '/s' },
      ...through.map(({ proxy, figures }) => ({
        name: `${provider}, conversations per second, ${nameOf(proxy)}`,
        value: median(figures.perSecond),
        unit: '/s',
        baseline: 'direct',
        ratio: median(figures.perSecond) / perSecond,
      })),
    ]

    function modelUrl(at: string): string {
      return provider === 'anthropic' ? at : `${at}/v1`
    }
  })
}

function nameOf(proxy: Proxy): string {
  const goal = proxy === 'memory' || proxy === 'folder' ? ` (goal ${goals[proxy]})` : ''
  return `${proxy}${goal}`
}

function startProxy(proxy: Proxy, upstream: string, folder: string): Promise<Child> {
  const kind = proxy === 'pipe' || proxy === 'veto' ? proxy : 'weir'
  const dataFolder = proxy === 'folder' ? { dataFolder: join(folder, 'proxy') } : {}
  return startChild('proxy-runner', { kind, upstream, ...dataFolder })
}

if (import.meta.main) console.table(await benchProxyLoop())
