// The gateway's performer, the real SDKs and a bus that the test slows down, against an HTTP server
// that misbehaves. Tests the time limits, the bytes read, and that the connection really closes. On
// the real clock.

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { startGateway } from '../../../services/llm-gateway/performer/performer.ts'
import { connectOnce } from '../../../services/llm-gateway/performer/providers/providers.ts'
import type { AttemptTask } from '../../../services/llm-gateway/reducer.ts'
import { type Agent, defaultSettings } from '../../../shared/agents/agents.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Performer, PerformerContext } from '../../../shared/contract/performer.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { until } from '../../support/inbox.ts'
import { modelRequest } from '../../support/messages.ts'
import { noBudgets } from '../../support/no-budgets.ts'
import { longText } from '../../support/script.ts'
import { agentOf, userSays } from './samples.ts'
import { textAnswer, type Vendor, vendorNamed, vendors } from './vendors.ts'

const stallMs = 300

const worlds: { server: Server; performer: Performer<AttemptTask> }[] = []

afterEach(() =>
  Promise.all(
    worlds.splice(0).map(async ({ server, performer }) => {
      await performer.close('lost')
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }),
  ),
)

type World = {
  written: Message[]
  sockets: Socket[]
  /** Number of connections that the server has not seen end. */
  open: () => number
  holdWrites: (holds: boolean) => void
  /** Sets the round's wanted tasks. */
  want: (...tasks: AttemptTask[]) => void
}

/** One round of an agent whose model is behind this server. The attempt has begun. */
async function ask(
  api: Agent['model']['provider'],
  answer: (response: ServerResponse) => void | Promise<void>,
  silenceMs = stallMs,
): Promise<World> {
  const sockets: Socket[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => void answer(response))
  })
  server.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const written: Message[] = []
  let held = Promise.withResolvers<void>()
  held.resolve()
  const context: PerformerContext = {
    owner: 'owner',
    partition: 0,
    clock: systemClock,
    formerOwnersDead: false,
    randomId: () => 'id',
    log: createLog({ level: 'silent' }),
    async write(_, messages) {
      if (messages.some(({ type }) => type === 'part')) await held.promise
      written.push(...messages)
      return []
    },
    history: async () => [userSays('hello')],
    policy: async () => undefined,
    policies: async () => [],
    async *guardVerdicts() {},
    budgets: noBudgets,
    kept: async () => undefined,
    historyTable: { logTime: () => undefined, keys: async () => [], forget: async () => {} },
  }
  const agent = agentOf({}, { provider: api, baseUrl })
  const performer = startGateway({
    agents: new Map([[agent.name, agent]]),
    connect: connectOnce(),
    echoOf: () => null,
  })(context)
  worlds.push({ server, performer })
  const request = modelRequest({
    settings: { ...defaultSettings, stallMs: silenceMs },
    expiresAt: Date.now() + 60_000,
  })
  const task: AttemptTask = {
    key: 'attempt 0',
    request,
    failures: 0,
    rebuilt: false,
    plain: false,
    reasoningRefused: 'none',
    degenerate: false,
  }
  performer.reconcile('u', [task])
  return {
    written,
    sockets,
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    holdWrites(holds) {
      if (holds) held = Promise.withResolvers()
      else held.resolve()
    },
    want: (...tasks) => performer.reconcile('u', tasks),
  }
}

const ended = ({ written }: World) =>
  written.some(({ type }) => type === 'attempt-failed' || type === 'attempt-finished')

/**
 * A keep-alive every 50 ms. The limit is far above that: server and client share one process, which
 * may pause.
 */
const livelyStallMs = 1_000

/** Writes repeatedly until the client has left. */
function trickle(response: ServerResponse, bytes: string): void {
  const timer = setInterval(() => response.write(bytes), livelyStallMs / 20)
  response.on('close', () => clearInterval(timer))
}

/** Tests the same server with the API of each vendor, at the same time. */
const forEachVendor = (check: (vendor: Vendor) => Promise<void>) => Promise.all(vendors.map(check))

describe('a server of any vendor', () => {
  const stream = { 'content-type': 'text/event-stream' }
  const wordless = `nothing of an answer from the provider for ${limits.wordlessStallsMax * livelyStallMs} ms, only signs of life (${limits.wordlessStallsMax} times the agent's setting stallMs)`
  const silent = `no byte from the provider for ${stallMs} ms (the agent's setting stallMs)`

  it.each<[string, string, number, (response: ServerResponse, beginning: string) => void]>([
    ['never sends its headers', silent, stallMs, () => {}],
    [
      'sends its headers and nothing else',
      silent,
      stallMs,
      (response) => response.writeHead(200, stream).flushHeaders(),
    ],
    [
      'falls silent in the middle',
      silent,
      stallMs,
      (response, beginning) => response.writeHead(200, stream).write(beginning),
    ],
    [
      'falls silent in the middle of an error',
      silent,
      stallMs,
      (response) => response.writeHead(500).write('{"error":'),
    ],
    [
      'sends comments and never an answer',
      wordless,
      livelyStallMs,
      (response) => trickle(response.writeHead(200, stream), ': wait\n\n'),
    ],
    [
      'sends an event that never ends',
      wordless,
      livelyStallMs,
      (response) => trickle(response.writeHead(200, stream), 'data: {"a":\n'),
    ],
    [
      'begins an answer, and then sends only comments',
      wordless,
      livelyStallMs,
      (response, beginning) => {
        response.writeHead(200, stream).write(beginning)
        trickle(response, ': wait\n\n')
      },
    ],
  ])('that %s fails the attempt, and its connection is closed', (_, reason, silenceMs, answer) =>
    forEachVendor(async ({ provider, text }) => {
      const world = await ask(provider, (response) => answer(response, text('So far')), silenceMs)
      await until(() => ended(world))
      expect([provider, world.written.at(-1)]).toMatchObject([
        provider,
        { type: 'attempt-failed', class: 'transient', retryable: true, reason },
      ])
      await until(() => world.open() === 0)
      expect(world.sockets).toHaveLength(1)
    }),
  )

  it.each<[string, (response: ServerResponse, beginning: string) => void]>([
    ['before its headers', () => {}],
    [
      'in the middle of its answer',
      (response, beginning) => response.writeHead(200, stream).write(beginning),
    ],
    ['in the middle of its error', (response) => response.writeHead(500).write('{"error":')],
  ])(
    'whose answer is no longer wanted %s sees its connection closed, and nothing more is written',
    (_, answer) =>
      forEachVendor(async ({ provider, text }) => {
        const arrived = Promise.withResolvers<void>()
        const begin = (response: ServerResponse): void => {
          answer(response, text('So far'))
          setTimeout(arrived.resolve, 40)
        }
        const world = await ask(provider, begin, 60_000)
        await arrived.promise
        const before = world.written.length
        world.want()
        await until(() => world.open() === 0)
        expect(world.written).toHaveLength(before)
        expect(ended(world)).toBe(false)
      }),
  )
})

describe('a bus that is slow', () => {
  const vendor = vendorNamed('anthropic')
  const { text } = vendor
  const padding = `: ${'x'.repeat(256 * 1024)}\n\n${text('y')}`
  /** Data of the server: far more than sockets hold. */
  const paddings = 400

  it('makes the server wait without growing our memory, and the whole answer is read later without a stall', async () => {
    let sent = 0
    const world = await ask('anthropic', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      world.holdWrites(true)
      for (const _ of [1, 2, 3]) response.write(text(longText(limits.partBytesMax)))
      for (; sent < paddings && !response.destroyed; sent += 1)
        if (!response.write(padding))
          await new Promise((resolve) => response.once('drain', resolve))
      response.end(textAnswer(vendor, 'the end'))
    })
    await until(() => sent > 0)
    let before = -1
    while (before !== sent) {
      before = sent
      await sleep(4 * stallMs)
    }
    expect(sent * padding.length).toBeLessThan(24 * 1024 * 1024)
    expect(sent).toBeLessThan(paddings)
    expect(ended(world)).toBe(false)

    world.holdWrites(false)
    await until(() => ended(world))
    expect(world.written.at(-1)).toMatchObject({ type: 'attempt-finished', stop: 'end' })
    expect(sent).toBe(paddings)
    const texts = world.written.flatMap((message) =>
      message.type === 'part'
        ? message.events.map((event) => (event.kind === 'text' ? event.text : ''))
        : [],
    )
    expect(texts.join('')).toHaveLength(3 * limits.partBytesMax + paddings + 'the end'.length)
  })
})
