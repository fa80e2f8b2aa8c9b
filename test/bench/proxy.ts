// The proxy against a plain pipe in the same run: CPU time for each streamed byte and for each short
// answer. Also the time to the first byte, and the memory of many open streams. Client, model server and
// proxy are separate processes. The proxy is that of `weir proxy` without a data folder, with its real
// stages. Each stream begins a new conversation. Not measured: TLS, a network, a log, a client that
// continues a conversation (proxy-loop.ts).

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { startMeter } from './kafka-cpu.ts'
import { startChild } from './proxy-child.ts'
import type { Row } from './row.ts'

const historyRounds = 20
const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export async function benchProxy(): Promise<Row[]> {
  return [...(await cpu()), ...(await shortAnswers()), ...(await firstByte()), await memory()]
}

async function cpu(): Promise<Row[]> {
  const server = await startChild('proxy-server', { events: 1_000, firstMs: 0, pauseMs: 0 })
  const pipe = await startChild('proxy-runner', { kind: 'pipe', upstream: server.url })
  const weir = await startChild('proxy-runner', { kind: 'weir', upstream: server.url })
  const veto = await startChild('proxy-runner', { kind: 'veto', upstream: server.url })
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
    for (const { stop } of [server, pipe, weir, veto]) await stop()
  }
}

/** A request without calls in its history, and a text of 40 events: the cost without many bytes. */
async function shortAnswers(): Promise<Row[]> {
  const server = await startChild('proxy-server', { events: 40, firstMs: 0, pauseMs: 0 })
  const pipe = await startChild('proxy-runner', { kind: 'pipe', upstream: server.url })
  const weir = await startChild('proxy-runner', { kind: 'weir', upstream: server.url })
  try {
    const used = { pipe: [] as number[], weir: [] as number[] }
    for (const one of [pipe, weir]) await streams(one.url, 500, 32, 0) // warm
    for (let times = 0; times < 5; times += 1)
      for (const [name, one] of [
        ['pipe', pipe],
        ['weir', weir],
      ] as const) {
        const read = startMeter([one.pid])
        await streams(one.url, 1_000, 32, 0)
        used[name].push(read().cpuSeconds[0] ?? 0)
      }
    const [piped, through] = [median(used.pipe), median(used.weir)]
    return [
      { name: 'CPU of a plain text request, plain pipe', value: piped, unit: 'ms' },
      {
        name: "CPU of a plain text request, Weir's proxy (goal <= 1.25)",
        value: through,
        unit: 'ms',
        baseline: 'plain pipe',
        ratio: through / piped,
      },
    ]
  } finally {
    for (const { stop } of [server, pipe, weir]) await stop()
  }
}

async function firstByte(): Promise<Row[]> {
  const server = await startChild('proxy-server', { events: 5, firstMs: 20, pauseMs: 0 })
  const weir = await startChild('proxy-runner', { kind: 'weir', upstream: server.url })
  try {
    const times = { direct: [] as number[], weir: [] as number[] }
    for (let n = 0; n < 120; n += 1) {
      const request = requestOf(historyRounds)
      const direct = await stream(server.url, request)
      const through = await stream(weir.url, request)
      if (n < 20) continue // warm
      times.direct.push(direct.firstMs)
      times.weir.push(through.firstMs)
    }
    const [direct, through] = [median(times.direct), median(times.weir)]
    return [
      { name: `first byte, ${historyRounds} rounds of history, direct`, value: direct, unit: 'ms' },
      {
        name: `first byte, ${historyRounds} rounds of history, Weir's proxy`,
        value: through,
        unit: 'ms',
        baseline: 'direct',
        ratio: through / direct,
      },
    ]
  } finally {
    for (const { stop } of [server, weir]) await stop()
  }
}

async function memory(): Promise<Row> {
  const server = await startChild('proxy-server', { events: 200, firstMs: 0, pauseMs: 50 })
  const weir = await startChild('proxy-runner', { kind: 'weir', upstream: server.url })
  try {
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentMiB(weir.pid))
    }, 200)
    await streams(weir.url, 500, 500)
    clearInterval(watch)
    return { name: "memory of Weir's proxy with 500 open streams", value: most, unit: 'MiB' }
  } finally {
    for (const { stop } of [server, weir]) await stop()
  }
}

/** The bytes of `count` streams, `concurrent` at once. `rounds`: of each history. */
async function streams(
  url: string,
  count: number,
  concurrent: number,
  rounds = 1,
): Promise<number> {
  let left = count
  let bytes = 0
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const { bytes: more } = await stream(url, requestOf(rounds))
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

/** A history of calls as a coding agent has it: each result has 2 KiB. Its ids are those of one run. */
function requestOf(rounds: number): string {
  const run = randomUUID()
  const idOf = (n: number) => `call_${run}_${n}`
  return JSON.stringify({
    model: 'm',
    max_tokens: 1_000,
    stream: true,
    tools: [{ name: 'exec', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'List the files.' },
      ...Array.from({ length: rounds }, (_, n) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: idOf(n), name: 'exec', input: { n } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: idOf(n), content: 'x'.repeat(2_048) }],
        },
      ]).flat(),
    ],
  })
}

function residentMiB(pid: number): number {
  const [, kiB] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kiB ?? 0) / 1024
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
