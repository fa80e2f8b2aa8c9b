// The gateway's performer, the real SDKs and a bus that the test slows down, against an HTTP server
// that misbehaves. Tests the time limits, the bytes read, and that the connection really closes. The
// clock of the gateway stands still until a test moves it.

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../../client/testing/fake-clock.ts'
import { partBytesMax, wordlessStallsMax } from '../../../services/llm-gateway/performer/answer.ts'
import { startGateway } from '../../../services/llm-gateway/performer/performer.ts'
import { connectOnce } from '../../../services/llm-gateway/performer/providers/providers.ts'
import type { AttemptTask } from '../../../services/llm-gateway/reducer.ts'
import type { Agent } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Performer, PerformerContext } from '../../../shared/contract/performer.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { until } from '../../support/inbox.ts'
import { modelRequest } from '../../support/messages.ts'
import { noBudgets } from '../../support/no-budgets.ts'
import { longText } from '../../support/script.ts'
import { agentOf, userSays } from './samples.ts'
import { textAnswer, type Vendor, vendorNamed, vendors } from './vendors.ts'

const stallMs = 300
/** A server that has sent nothing for so long waits for the gateway. */
const stillMs = 300

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
  /** Moves the gateway's clock. */
  advance: (ms: number) => void
  /** How often the gateway has read its clock, as it does for each piece of a body. */
  reads: () => number
  /** Sets the round's wanted tasks. */
  want: (...tasks: AttemptTask[]) => void
}

/** One round of an agent whose model is after this server. The attempt has begun. */
async function ask(
  api: Agent['model']['provider'],
  answer: (response: ServerResponse) => void | Promise<void>,
): Promise<World> {
  const clock = fakeClock(0)
  let reads = 0
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
    clock: {
      ...clock,
      monotonic() {
        reads += 1
        return clock.monotonic()
      },
    },
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
    settings: { ...defaultSettings, stallMs },
    expiresAt: clock.now() + 3_600_000,
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
  const want = (...tasks: AttemptTask[]) => {
    performer.reconcile('u', tasks)
    performer.acknowledged?.()
  }
  want(task)
  return {
    written,
    sockets,
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    holdWrites(holds) {
      if (holds) held = Promise.withResolvers()
      else held.resolve()
    },
    advance: (ms) => clock.advance(ms),
    reads: () => reads,
    want,
  }
}

/** The server has answered. */
async function answered(
  api: Agent['model']['provider'],
  answer: (response: ServerResponse) => void,
): Promise<World> {
  const arrived = Promise.withResolvers<void>()
  const world = await ask(api, (response) => {
    answer(response)
    arrived.resolve()
  })
  await arrived.promise
  return world
}

/** A part is due at once. */
const partOf = (world: World) =>
  until(() => {
    world.advance(0)
    return world.written.some(({ type }) => type === 'part')
  })

const ended = ({ written }: World) =>
  written.some(({ type }) => type === 'attempt-failed' || type === 'attempt-finished')

/** Far below the limit. The next step follows when the gateway has read the bytes of this one. */
const stepMs = stallMs / 4

/** Writes the beginning, and then these bytes until the client has left. */
async function trickle(
  world: World,
  response: ServerResponse,
  { beginning, bytes }: { beginning: string; bytes: string },
): Promise<void> {
  for (let next = beginning; !response.destroyed; next = bytes) {
    const before = world.reads()
    response.write(next)
    await until(() => world.reads() > before || response.destroyed)
    world.advance(stepMs)
  }
}

/** Tests the same server with the API of each vendor, at the same time. */
const forEachVendor = (check: (vendor: Vendor) => Promise<void>) => Promise.all(vendors.map(check))

describe('a server of any vendor', () => {
  const stream = { 'content-type': 'text/event-stream' }
  const wordless = `nothing of an answer from the provider for ${wordlessStallsMax * stallMs} ms, only signs of life (${wordlessStallsMax} times the agent's setting stallMs)`
  const silent = `no byte from the provider for ${stallMs} ms (the agent's setting stallMs)`

  async function failedFor(
    world: World,
    { provider, reason }: { provider: string; reason: string },
  ): Promise<void> {
    expect([provider, world.written.at(-1)]).toMatchObject([
      provider,
      { type: 'attempt-failed', class: 'transient', retryable: true, reason },
    ])
    await until(() => world.open() === 0)
    expect(world.sockets).toHaveLength(1)
  }

  it.each<[string, (response: ServerResponse, beginning: string) => void]>([
    ['never sends its headers', () => {}],
    [
      'sends its headers and nothing else',
      (response) => response.writeHead(200, stream).flushHeaders(),
    ],
    [
      'falls silent in the middle',
      (response, beginning) => response.writeHead(200, stream).write(beginning),
    ],
    [
      'falls silent in the middle of an error',
      (response) => response.writeHead(500).write('{"error":'),
    ],
  ])('that %s fails the attempt, and its connection is closed', (title, answer) =>
    forEachVendor(async ({ provider, text }) => {
      const world = await answered(provider, (response) => answer(response, text('So far')))
      if (title === 'falls silent in the middle') await partOf(world)
      await until(() => {
        world.advance(stepMs)
        return ended(world)
      })
      await failedFor(world, { provider, reason: silent })
    }),
  )

  it.each([
    ['sends comments and never an answer', '', ': wait\n\n'],
    ['sends an event that never ends', '', 'data: {"a":\n'],
    ['begins an answer, and then sends only comments', 'So far', ': wait\n\n'],
  ])('that %s fails the attempt, and its connection is closed', (_, beginning, bytes) =>
    forEachVendor(async ({ provider, text }) => {
      const world = await ask(provider, async (response) => {
        response.writeHead(200, stream)
        const first = beginning === '' ? bytes : text(beginning)
        await trickle(world, response, { beginning: first, bytes })
      })
      await until(() => ended(world))
      await failedFor(world, { provider, reason: wordless })
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
    (title, answer) =>
      forEachVendor(async ({ provider, text }) => {
        const world = await answered(provider, (response) => answer(response, text('So far')))
        if (title === 'in the middle of its answer') await partOf(world)
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
    const send = async (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      world.holdWrites(true)
      for (const _ of [1, 2, 3]) response.write(text(longText(partBytesMax)))
      for (; sent < paddings && !response.destroyed; sent += 1)
        if (!response.write(padding))
          await new Promise((resolve) => response.once('drain', resolve))
      response.end(textAnswer(vendor, 'the end'))
    }
    const world = await ask('anthropic', send)
    await until(() => sent > 0)
    for (let before = -1; before !== sent; await sleep(stillMs)) before = sent
    // The gateway does not read, so no provider can stall.
    world.advance(4 * stallMs)
    await sleep(stillMs)
    expect(sent * padding.length).toBeLessThan(24 * 1024 * 1024)
    expect(sent).toBeLessThan(paddings)
    expect(ended(world)).toBe(false)

    world.holdWrites(false)
    await until(() => {
      world.advance(0)
      return ended(world)
    })
    // The last parts go out in the same request as the end.
    const end = world.written.find(({ type }) => type === 'attempt-finished')
    expect(end).toMatchObject({ stop: 'end' })
    expect(sent).toBe(paddings)
    const written = () =>
      world.written.flatMap((message) =>
        message.type === 'part'
          ? message.events.map((event) => (event.kind === 'text' ? event.text : ''))
          : [],
      )
    const length = 3 * partBytesMax + paddings + 'the end'.length
    await until(() => written().join('').length >= length)
    expect(written().join('')).toHaveLength(length)
  })
})
