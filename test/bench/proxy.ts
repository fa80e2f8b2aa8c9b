// The proxy against a plain pipe in the same run: CPU time per streamed byte, the time to the first
// byte, and the memory of many open streams. Client, model server and proxy are separate processes.
// Not measured: TLS, a network, the judgement itself (see the guest's bench).

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { startMeter } from './kafka-cpu.ts'
import type { ProxyRunnerOptions } from './proxy-runner.ts'
import type { ProxyServerOptions } from './proxy-server.ts'
import type { Row } from './row.ts'

const rounds = 20
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export async function benchProxy(): Promise<Row[]> {
  return [...(await cpu()), ...(await firstByte()), await memory()]
}

async function cpu(): Promise<Row[]> {
  const server = await start('proxy-server', { events: 1_000, firstMs: 0, pauseMs: 0 })
  const pipe = await start('proxy-runner', { kind: 'pipe', upstream: server.url })
  const weir = await start('proxy-runner', { kind: 'weir', upstream: server.url })
  const veto = await start('proxy-runner', { kind: 'veto', upstream: server.url })
  try {
    const used = { pipe: 0, weir: 0, veto: 0 }
    for (const one of [pipe, weir, veto, pipe, weir, veto]) await streams(one.url, 8, 8) // warm
    for (let times = 0; times < 5; times += 1)
      for (const [name, one] of [
        ['pipe', pipe],
        ['weir', weir],
        ['veto', veto],
      ] as const) {
        const read = startMeter([one.pid])
        const bytes = await streams(one.url, 100, 20)
        used[name] += ((read().cpuSeconds[0] ?? 0) * 1e9) / bytes / 5
      }
    return [
      { name: 'CPU time per streamed byte, plain pipe', value: used.pipe, unit: 'ns' },
      {
        name: "CPU time per streamed byte, Weir's proxy",
        value: used.weir,
        unit: 'ns',
        baseline: 'plain pipe',
        ratio: used.weir / used.pipe,
      },
      {
        name: 'CPU time per streamed byte, with a veto',
        value: used.veto,
        unit: 'ns',
        baseline: 'plain pipe',
        ratio: used.veto / used.pipe,
      },
    ]
  } finally {
    for (const { stop } of [server, pipe, weir, veto]) stop()
  }
}

async function firstByte(): Promise<Row[]> {
  const server = await start('proxy-server', { events: 5, firstMs: 20, pauseMs: 0 })
  const weir = await start('proxy-runner', { kind: 'weir', upstream: server.url })
  try {
    const request = requestOf(rounds)
    const times = { direct: [] as number[], weir: [] as number[] }
    for (let n = 0; n < 120; n += 1) {
      const direct = await stream(server.url, request)
      const through = await stream(weir.url, request)
      if (n < 20) continue // warm
      times.direct.push(direct.firstMs)
      times.weir.push(through.firstMs)
    }
    const [direct, through] = [median(times.direct), median(times.weir)]
    return [
      { name: `first byte, ${rounds} rounds of history, direct`, value: direct, unit: 'ms' },
      {
        name: `first byte, ${rounds} rounds of history, Weir's proxy`,
        value: through,
        unit: 'ms',
        baseline: 'direct',
        ratio: through / direct,
      },
    ]
  } finally {
    for (const { stop } of [server, weir]) stop()
  }
}

async function memory(): Promise<Row> {
  const server = await start('proxy-server', { events: 200, firstMs: 0, pauseMs: 50 })
  const weir = await start('proxy-runner', { kind: 'weir', upstream: server.url })
  try {
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentMiB(weir.pid))
    }, 200)
    await streams(weir.url, 500, 500)
    clearInterval(watch)
    return { name: "memory of Weir's proxy with 500 open streams", value: most, unit: 'MiB' }
  } finally {
    for (const { stop } of [server, weir]) stop()
  }
}

type Child = { url: string; pid: number; stop(): void }

async function start(
  file: 'proxy-server' | 'proxy-runner',
  options: ProxyServerOptions | ProxyRunnerOptions,
): Promise<Child> {
  const path = new URL(`${file}.ts`, import.meta.url).pathname
  const child = spawn(process.execPath, [path, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const url of createInterface({ input: child.stdout }))
    return { url, pid: child.pid ?? 0, stop: () => child.kill() }
  throw new Error(`${file} ended before it listened`)
}

/** The bytes of `count` streams, `concurrent` at once. */
async function streams(
  url: string,
  count: number,
  concurrent: number,
  request = requestOf(1),
): Promise<number> {
  let left = count
  let bytes = 0
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const { bytes: more } = await stream(url, request)
      bytes += more
    }
  }
  await Promise.all(Array.from({ length: concurrent }, worker))
  return bytes
}

function stream(url: string, request: string): Promise<{ bytes: number; firstMs: number }> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let bytes = 0
    let firstMs = 0
    const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } }
    http
      .request(`${url}/v1/messages`, options, (answer) => {
        answer.on('data', (piece: Buffer) => {
          if (bytes === 0) firstMs = performance.now() - began
          bytes += piece.length
        })
        answer.once('end', () => resolve({ bytes, firstMs }))
        answer.once('error', reject)
      })
      .once('error', reject)
      .end(request)
  })
}

/** A history of calls as a coding agent has it: each result has 2 KiB. */
const requestOf = (rounds: number) =>
  JSON.stringify({
    model: 'm',
    max_tokens: 1_000,
    stream: true,
    tools: [{ name: 'exec', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'List the files.' },
      ...Array.from({ length: rounds }, (_, n) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `call_${n}`, name: 'exec', input: { n } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `call_${n}`, content: 'x'.repeat(2_048) }],
        },
      ]).flat(),
    ],
  })

function residentMiB(pid: number): number {
  const [, kiB] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kiB ?? 0) / 1024
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
