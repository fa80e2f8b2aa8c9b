// The requests of a conversation as a broker gets them: the conversation of agent-loop.ts, one at a time,
// through a relay that reads the header of each request. A value is the median of the conversations.
// "In a row" is the largest number of writes of which each began after the end of the one before. A
// process has one write in flight at a time, so writes that nobody waits for count too. Run alone: node
// test/bench/kafka-wire.ts
//
// Not measured: time, and the requests of conversations at once.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { startBroker } from '../support/kafka/broker.ts'
import { openClient } from './kafka-agent-loop-client.ts'
import { median } from './kafka-figures.ts'
import { type Layout, layouts, withFleet } from './kafka-fleet.ts'
import type { Row } from './row.ts'

const [warmUp, counted] = [20, 20]

/** By the protocol of Kafka. */
const apiKeys = { produce: 0, listOffsets: 2 }

/** The milliseconds of its first byte and of its response. */
type Request = { apiKey: number; sentAt: number; answeredAt: number }

/** Starts its own broker, which names the relay as its address. */
export async function benchKafkaWire(): Promise<Row[]> {
  const relay = await openRelay()
  const broker = await startBroker({
    properties: { 'advertised.listeners': `PLAINTEXT://localhost:${relay.port}` },
  })
  relay.forwardTo(Number(broker.bootstrapServers.split(':').at(-1)))
  try {
    return [
      ...(await wireRows(relay, 'all in one process', layouts.together)),
      ...(await wireRows(relay, 'one process for each stage', layouts.apart)),
    ]
  } finally {
    await broker.stop()
    relay.close()
  }
}

async function wireRows(relay: Relay, name: string, layout: Layout): Promise<Row[]> {
  const bootstrapServers = `localhost:${relay.port}`
  const all = await withFleet(bootstrapServers, layout, async (fleet) => {
    const client = await openClient({ bootstrapServers, ...fleet })
    for (let i = 0; i < warmUp; i += 1) await client.converse(`warm-${i}`)
    const conversations: Request[][] = []
    for (let i = 0; i < counted; i += 1) {
      relay.take()
      await client.converse(`c-${i}`)
      conversations.push(relay.take())
    }
    await client.close()
    return conversations
  })
  const row = (measure: string, count: (requests: Request[]) => number): Row => ({
    name: `on the wire, ${name}: ${measure}`,
    value: median(all.map(count)),
    unit: 'a conversation',
  })
  const writes = (requests: Request[]) =>
    requests.filter(({ apiKey }) => apiKey === apiKeys.produce)
  return [
    row('writes in a row (goal <= 46)', (requests) => inARow(writes(requests))),
    row('writes', (requests) => writes(requests).length),
    row(
      'look-ups of offsets (goal <= 4)',
      (requests) => requests.filter(({ apiKey }) => apiKey === apiKeys.listOffsets).length,
    ),
  ]
}

/** The largest number of requests of which none overlaps another. */
function inARow(requests: Request[]): number {
  let [count, endedAt] = [0, Number.NEGATIVE_INFINITY]
  for (const { sentAt, answeredAt } of requests.toSorted((a, b) => a.answeredAt - b.answeredAt))
    if (sentAt >= endedAt) [count, endedAt] = [count + 1, answeredAt]
  return count
}

type Relay = Awaited<ReturnType<typeof openRelay>>

async function openRelay() {
  const sockets = new Set<Socket>()
  let answered: Request[] = []
  let target = 0
  const server = createServer((client) => {
    const broker = connect(target, 'localhost')
    const pending = new Map<number, Request>()
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // the other end is closed with it
      socket.on('close', () => {
        client.destroy()
        broker.destroy()
        sockets.delete(socket)
      })
    }
    client.on(
      'data',
      frames((header) => {
        const request = { apiKey: header.readInt16BE(0), sentAt: performance.now(), answeredAt: 0 }
        pending.set(header.readInt32BE(4), request)
      }),
    )
    broker.on(
      'data',
      frames((header) => {
        const request = pending.get(header.readInt32BE(0))
        pending.delete(header.readInt32BE(0))
        if (request !== undefined) answered.push({ ...request, answeredAt: performance.now() })
      }),
    )
    client.pipe(broker)
    broker.pipe(client)
  })
  server.listen(0)
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    forwardTo(port: number) {
      target = port
    },
    /** The requests that were answered since the last call. */
    take(): Request[] {
      const taken = answered
      answered = []
      return taken
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Calls `onFrame` with the first 8 bytes of each frame after its length. */
function frames(onFrame: (header: Buffer) => void): (chunk: Buffer) => void {
  let held = Buffer.alloc(0)
  let skip = 0
  return (chunk) => {
    held = Buffer.concat([held, chunk])
    for (;;) {
      const skipped = Math.min(skip, held.length)
      held = held.subarray(skipped)
      skip -= skipped
      if (skip > 0 || held.length < 12) return
      onFrame(held.subarray(4, 12))
      skip = 4 + held.readInt32BE(0)
    }
  }
}

if (import.meta.main) console.table(await benchKafkaWire())
