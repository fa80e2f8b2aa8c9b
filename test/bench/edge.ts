// The HTTP edge: the CPU of a turn against the same turn in the process, and the same with 1,000 open
// feeds. Then the time from a record to its event at a client, and the memory of the feeds. The server
// with its stages is a process (edge-runner.ts), and this process is the client. Run alone: node test/bench/edge.ts
//
// Not measured: TLS, tokens, Kafka, feeds of conversations in which much happens, and browsers.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { serverSentEvents } from '../apps/http/edge/edge-server.ts'
import type { RunnerAnswer, RunnerRequest } from './edge-runner.ts'
import { median, medianRatio } from './kafka-figures.ts'
import type { Row } from './row.ts'

/** The ways take turns in small batches, because the load of a machine changes. */
const turns = 20
const rounds = 20
const warmRounds = 10
const feeds = 1_000
const inProcess = 'in the process'
const behindPause = 'in the process, each behind a pause'
/**
 * About the time of this client between the end of an answer and its next request. A process that
 * sleeps before each turn needs more CPU for it, with or without HTTP.
 */
const pauseMs = 2

export async function benchEdge(): Promise<Row[]> {
  const child = fork(join(import.meta.dirname, 'edge-runner.ts'), {
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  })
  try {
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    const ask = async (message: RunnerRequest): Promise<number> => {
      child.send(message)
      const [answer] = (await once(child, 'message')) as [RunnerAnswer]
      return 'value' in answer ? answer.value : 0
    }
    /** Milliseconds of CPU of a turn. */
    const cpuOf = async (play: (name: string) => Promise<unknown>): Promise<number> => {
      const before = await ask({ kind: 'cpu' })
      await play(`c-${Math.random()}`)
      return ((await ask({ kind: 'cpu' })) - before) / turns
    }
    const ways: [string, (name: string) => Promise<unknown>][] = [
      [inProcess, (name) => ask({ kind: 'play', turns, name })],
      [behindPause, (name) => ask({ kind: 'play', turns, name, pauseMs })],
      ['Responses, streamed', (name) => played(url, '/v1/responses', responseOf(name, true))],
      ['Responses, whole', (name) => played(url, '/v1/responses', responseOf(name, false))],
      ['Chat Completions, streamed', (name) => played(url, '/v1/chat/completions', chatOf(name))],
    ]
    await ask({ kind: 'play', turns: 50, name: 'feed' })
    const memory = await memoryOfFeeds(url, ask)
    for (let n = 0; n < warmRounds; n += 1) for (const [, play] of ways) await play(`warm-${n}`)
    const measured = new Map(ways.map(([name]) => [name, [] as number[]]))
    for (let round = 0; round < rounds; round += 1)
      for (const [name, play] of ways) measured.get(name)?.push(await cpuOf(play))
    const valuesOf = (name: string) => measured.get(name) ?? []
    const cpu = ways.map(([name], at): Row => {
      const row = {
        name: `edge: CPU of a turn, ${name}`,
        value: median(valuesOf(name)),
        unit: 'ms',
      }
      if (at === 0) return row
      const baseline = at === 1 ? inProcess : behindPause
      const ratio = medianRatio(valuesOf(name), valuesOf(baseline))
      return { ...row, baseline: at === 1 ? baseline : `${baseline} (goal <= 1.15 x)`, ratio }
    })
    const late = await lateness(url, ask)
    return [
      ...cpu,
      { name: 'edge: record to event at the client, p50 (goal <= 3)', value: late, unit: 'ms' },
      ...memory,
    ]
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
}

const responseOf = (name: string, stream: boolean) => (n: number) => ({
  model: 'weir/helper',
  input: 'What time?',
  conversation: `${name}-${n}`,
  stream,
})
const chatOf = (name: string) => (n: number) => ({
  model: 'weir/helper',
  stream: true,
  messages: [{ role: 'user', content: 'What time?' }],
  metadata: { conversation_id: `${name}-${n}` },
})

async function played(url: string, path: string, bodyOf: (n: number) => object): Promise<void> {
  for (let n = 0; n < turns; n += 1) {
    const response = await posted(`${url}${path}`, bodyOf(n))
    const text = await response.text()
    if (!response.ok || !text.includes('Word 11')) throw new Error(text.slice(0, 500))
  }
}

function posted(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** The median of the times from the append of a turn's end to its event here, in whole milliseconds. */
async function lateness(
  url: string,
  ask: (message: RunnerRequest) => Promise<number>,
): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 50; n += 1) {
    const conversation = `late-${n}`
    await posted(`${url}/v1/conversations/${conversation}/messages`, { text: 'What time?' })
    const path = `${url}/v1/conversations/${conversation}/events`
    let response = await fetch(path)
    while (response.status === 404) response = await fetch(path)
    let seenAt = 0
    for await (const { event } of serverSentEvents(response)) {
      if (event !== 'turn-finished') continue
      seenAt = Date.now()
      break
    }
    times.push(seenAt - (await ask({ kind: 'end', conversation })))
  }
  return median(times)
}

/** Memory, and the CPU of a turn next to the feeds. */
async function memoryOfFeeds(
  url: string,
  ask: (message: RunnerRequest) => Promise<number>,
): Promise<Row[]> {
  const before = await ask({ kind: 'memory' })
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  await Promise.all(
    Array.from({ length: feeds }, async (_, n) => {
      const path = `${url}/v1/conversations/feed-${n % 50}/events`
      const sent = request(path, { agent }).end()
      const [answer] = await once(sent, 'response')
      if (answer.statusCode !== 200) throw new Error(await textOf(answer))
      answer.resume()
    }),
  )
  const after = await ask({ kind: 'memory' })
  const play: RunnerRequest = { kind: 'play', turns, name: 'beside' }
  await ask(play)
  const cpuBefore = await ask({ kind: 'cpu' })
  await ask({ ...play, name: 'beside-again' })
  const beside = ((await ask({ kind: 'cpu' })) - cpuBefore) / turns
  agent.destroy()
  const mib = (bytes: number) => bytes / 1024 / 1024
  return [
    { name: 'edge: memory of the server without feeds', value: mib(before), unit: 'MiB' },
    {
      name: `edge: memory with ${feeds} open feeds (goal <= 300)`,
      value: mib(after),
      unit: 'MiB',
      baseline: 'without feeds',
      ratio: after / before,
    },
    { name: `edge: CPU of a turn beside ${feeds} open feeds`, value: beside, unit: 'ms' },
  ]
}

if (import.meta.main) console.table(await benchEdge())
