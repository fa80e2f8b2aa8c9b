// The package as a program uses it: real stages on a real file, a scripted model over real HTTP,
// real processes as tools.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import type { Block, ModelCall } from '../../client/testing/anthropic-stream.ts'
import { type Turn, type TurnEvent, Weir, type WeirOptions } from '../../client/weir.ts'
import { partitionsIn } from '../../shared/bus/embedded/partitions-in.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { until } from '../support/inbox.ts'
import { recordedTool, testAgent } from '../support/pipeline.ts'
import { call, says, text, textsOf, thinking } from '../support/script.ts'

const log = pino({ level: 'silent' })

let folder: string
let server: AnthropicServer
let weir: Weir | undefined
let answer: (request: ModelCall, number: number) => Reply | Promise<Reply>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-api-'))
  answer = () => says(text('Hello.'))
  server = await startAnthropicServer((request, number) => answer(request, number))
})

afterEach(async () => {
  await weir?.close().catch(() => {}) // some tests break it
  weir = undefined
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(options: Partial<WeirOptions> = {}): Promise<Weir> {
  const tools = (file: string) => [recordedTool({ name: 'act', schema: { type: 'object' } }, file)]
  const agent = testAgent(
    server.url,
    { tools, settings: { policy: { graceMs: 2_000 } } },
    join(folder, 'starts'),
  )
  weir = await Weir.open({
    agents: new Map([['test-agent', agent]]),
    dataFolder: join(folder, 'data'),
    log,
    ...options,
  })
  return weir
}

async function all(turn: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of turn) events.push(event)
  return events
}

async function starts(): Promise<number> {
  return (await readFile(join(folder, 'starts'), 'utf8').catch(() => '')).split('\n').length - 1
}

const agent = 'test-agent'
const typesOf = (events: TurnEvent[]) => events.map(({ type }) => type)
const textOf = (events: TurnEvent[]) =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')

describe('a turn', () => {
  it('streams its events and text, and ends with its reply', async () => {
    answer = (_, number) =>
      number === 1
        ? says(thinking('Hm.'), text('I look.'), call('act', {}))
        : says(text('All is well.'))
    const turn = (await open()).ask({ agent, text: 'go' })
    const events = await all(turn)
    expect(typesOf(events)).toEqual([
      ...[
        'turn-started',
        'round-started',
        'reasoning-delta',
        'text-delta',
        'model-answered',
        'tool-started',
        'call-finished',
      ],
      ...['round-started', 'text-delta', 'model-answered', 'turn-finished'],
    ])
    expect(textOf(events)).toBe('I look.All is well.')
    expect(await turn.finished).toMatchObject({
      outcome: 'answered',
      reply: 'All is well.',
      conversation: turn.conversation,
    })
    expect(events.at(-1)).toMatchObject(await turn.finished)
  })

  it('finishes even if the caller reads no events', async () => {
    expect(await (await open()).ask({ agent, text: 'go' }).finished).toMatchObject({
      outcome: 'answered',
      reply: 'Hello.',
    })
  })

  it('continues when its reader leaves', async () => {
    const turn = (await open()).ask({ agent, text: 'go' })
    for await (const event of turn) if (event.type === 'turn-started') break
    expect(await turn.finished).toMatchObject({ reply: 'Hello.' })
  })

  it('yields the same events to each reader, also to one that begins after its end', async () => {
    answer = (_, number) =>
      number === 1 ? says(text('I look.'), call('act', {})) : says(text('All is well.'))
    const turn = (await open()).ask({ agent, text: 'go' })
    const whole = (events: TurnEvent[]) => events.filter(({ type }) => type !== 'text-delta')
    const [one, other] = await Promise.all([all(turn), all(turn.events)])
    expect(other).toEqual(one)
    const late = await all(turn)
    expect(whole(late)).toEqual(whole(one))
    expect(textOf(late)).toBe(textOf(one))
  })

  it('streams its text alone', async () => {
    answer = (_, number) =>
      number === 1 ? says(text('I look.'), call('act', {})) : says(text('All is well.'))
    let streamed = ''
    for await (const piece of (await open()).ask({ agent, text: 'go' }).textStream)
      streamed += piece
    expect(streamed).toBe('I look.All is well.')
  })

  it('has the arguments and the results of its calls', async () => {
    answer = (_, number) =>
      number === 1 ? says(call('act', { sleepMs: 1 })) : says(text('All is well.'))
    const turn = (await open()).ask({ agent, text: 'go' })
    const events = await all(turn)
    const started = events.find((event) => event.type === 'tool-started')
    expect(started).toMatchObject({ arguments: { sleepMs: 1 }, rawArguments: '{"sleepMs":1}' })
    const ended = events.find((event) => event.type === 'call-finished')
    if (ended === undefined) throw new Error('no call finished')
    expect(ended.resultBytes).toBe(Buffer.byteLength(ended.rawResult))
    expect(await turn.result(ended)).toBe(ended.rawResult)
    expect(await turn.call(ended)).toMatchObject({ name: 'act', arguments: { sleepMs: 1 } })
  })

  it('continues its own conversation only', async () => {
    const opened = await open()
    const first = opened.ask({ agent, text: 'one' })
    await first.finished
    await opened.ask({ agent, text: 'two', conversation: first.conversation }).finished
    await opened.ask({ agent, text: 'three' }).finished
    expect(server.requests.map(textsOf)).toEqual([['one'], ['one', 'Hello.', 'two'], ['three']])
  })

  it('waits for the earlier turn of its conversation with a turn-waiting', async () => {
    const waiting = Promise.withResolvers<void>()
    answer = async ({ messages }) => {
      if (messages.length === 1) await waiting.promise
      return says(text('Hello.'))
    }
    const opened = await open()
    const first = opened.ask({ agent, text: 'one', conversation: 'c' })
    const second = opened.ask({ agent, text: 'two', conversation: 'c' })
    const events: TurnEvent[] = []
    for await (const event of second) {
      events.push(event)
      waiting.resolve()
    }
    expect(typesOf(events).slice(0, 2)).toEqual(['turn-waiting', 'turn-started'])
    expect(await first.finished).toMatchObject({ outcome: 'answered' })
  })

  it('begins its text again after a broken stream', async () => {
    answer = (_, number) =>
      number === 1 ? { kind: 'cut', blocks: [text('Half an')] } : says(text('The whole answer.'))
    const events = await all((await open()).ask({ agent, text: 'go' }))
    expect(typesOf(events)).toEqual([
      'turn-started',
      'round-started',
      'text-delta',
      'text-reset',
      'model-retry',
      'text-delta',
      'model-answered',
      'turn-finished',
    ])
  })
})

describe('a cancelled turn', () => {
  const running = async (turn: Turn) => {
    const events: TurnEvent[] = []
    for await (const event of turn) {
      events.push(event)
      if (event.type === 'tool-started') return events
    }
    throw new Error('no tool was started')
  }

  it('ends when its signal aborts, and its last events are the results of running calls', async () => {
    answer = () => says(call('act', { sleepMs: 20_000 }))
    const stop = new AbortController()
    const turn = (await open()).ask({ agent, text: 'go', signal: stop.signal })
    const events: TurnEvent[] = []
    for await (const event of turn) {
      events.push(event)
      if (event.type === 'tool-started') stop.abort()
    }
    expect(typesOf(events).slice(-2)).toEqual(['call-finished', 'turn-finished'])
    expect(events.at(-2)).toMatchObject({ status: 'unknown' })
    expect(await turn.finished).toMatchObject({
      outcome: 'cancelled',
      reply: 'This is the fallback.',
    })
  })

  it('ends before it begins if its signal is already aborted', async () => {
    const turn = (await open()).ask({ agent, text: 'go', signal: AbortSignal.abort() })
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
  })

  it('can be cancelled by its ids from another program', async () => {
    answer = () => says(call('act', { sleepMs: 20_000 }))
    const opened = await open()
    const turn = opened.ask({ agent, text: 'go', conversation: 'c', messageId: 'm' })
    await running(turn)
    await opened.cancel({ conversation: 'c', messageId: 'm' })
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
  })

  it('ignores a late cancel', async () => {
    const turn = (await open()).ask({ agent, text: 'go' })
    await turn.finished
    await turn.cancel()
    expect(await turn.finished).toMatchObject({ outcome: 'answered' })
  })
})

describe('a message that is sent again under its id', () => {
  it('gets its earlier answer without a new model request', async () => {
    const message = { agent, text: 'go', conversation: 'c', messageId: 'm' }
    const opened = await open()
    await opened.ask({ agent, text: 'before', conversation: 'c' }).finished
    const first = await opened.ask(message).finished
    await opened.ask({ agent, text: 'after', conversation: 'c' }).finished
    await opened.close()
    expect(await (await open()).ask(message).finished).toEqual(first)
    expect(server.requests).toHaveLength(3)
  })

  it('gets its answer even if it waited in the queue', async () => {
    const waiting = Promise.withResolvers<void>()
    answer = async ({ messages }) => {
      if (messages.length === 1) await waiting.promise
      return says(text(`Hello ${messages.length}.`))
    }
    const opened = await open()
    void opened.ask({ agent, text: 'one', conversation: 'c' })
    const queued = { agent, text: 'two', conversation: 'c', messageId: 'm' }
    const turn = opened.ask(queued)
    for await (const { type } of turn) if (type === 'turn-waiting') waiting.resolve()
    const first = await turn.finished
    expect(await opened.ask(queued).finished).toEqual(first)
  })

  it('gets the end of its turn once the turn ends', async () => {
    const repeated = Promise.withResolvers<void>()
    answer = async () => {
      await repeated.promise
      return says(text('Hello.'))
    }
    const opened = await open()
    const message = { agent, text: 'go', conversation: 'c', messageId: 'm' }
    const first = opened.ask(message)
    await until(async () => server.requests.length === 1)
    const again = opened.ask(message)
    for await (const _ of again) repeated.resolve()
    expect(await again.finished).toEqual(await first.finished)
  })
})

describe('an invalid question', () => {
  it.each([
    [
      'an unknown agent',
      { agent: 'other', text: 'go' },
      'agent.unknown',
      'the agents are test-agent',
    ],
    ['a blank text', { agent, text: ' \n' }, 'message.invalid', 'blank'],
    ['an empty text', { agent, text: '' }, 'message.invalid', 'text has 0 bytes'],
    [
      'a text over its limit',
      { agent, text: 'ä'.repeat(524_289) },
      'message.invalid',
      'at most 1048576',
    ],
    ['half of a character', { agent, text: 'a\ud83d' }, 'message.invalid', 'surrogate'],
    [
      'an empty conversation',
      { agent, text: 'go', conversation: '' },
      'message.invalid',
      "the conversation's id has 0 bytes; it must have 1 to 256",
    ],
    [
      'a long message id',
      { agent, text: 'go', messageId: 'x'.repeat(257) },
      'message.invalid',
      'the message id has 257 bytes; it must have 1 to 256',
    ],
  ])('is refused at once: %s', async (_, question, code, message) => {
    const opened = await open()
    expect(() => opened.ask(question)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
  })
})

describe('opening', () => {
  it("refuses a data folder in use with stages 'here', and shares it otherwise", async () => {
    await using _owner = await open()
    await expect(open({ stages: 'here' })).rejects.toMatchObject({ code: 'bus.locked' })
    const beside = await open()
    expect(await beside.ask({ agent, text: 'go' }).finished).toMatchObject({ reply: 'Hello.' })
  })

  it('refuses a part in the stages that does not exist, and names the parts', async () => {
    await expect(open({ stages: 'there' as 'here' })).rejects.toMatchObject({
      code: 'settings.invalid',
      message: 'stages is "there"; must be auto, here or elsewhere',
    })
  })

  it('refuses a broken agent file and bad options, and names the options', async () => {
    await expect(open({ agents: join(folder, 'no.yaml') })).rejects.toMatchObject({
      code: 'agent.invalid',
    })
    await expect(open({ partitions: 0 })).rejects.toMatchObject({
      code: 'settings.invalid',
      message:
        'Settings cannot be used.\n  partitions is "0"; must be a whole number from 1 to 500',
    })
  })

  it('goes on with the partitions of its file, and makes a new file with one', async () => {
    const partitionsOf = async (options: Partial<WeirOptions>) => {
      await (await open(options)).close()
      const file = join(options.dataFolder ?? '', 'weir.db')
      return partitionsIn(file, 'weir.conversation-events')
    }
    const former = join(folder, 'former')
    expect(await partitionsOf({ dataFolder: former, partitions: 4 })).toBe(4)
    expect(await partitionsOf({ dataFolder: former })).toBe(4)
    expect(await partitionsOf({ dataFolder: join(folder, 'new') })).toBe(1)
  })

  it('leaves the data folder free when it fails', async () => {
    await (await open({ partitions: 2 })).close()
    await expect(open({ partitions: 3 })).rejects.toMatchObject({ code: 'bus.topic-differs' })
    expect(await (await open({ partitions: 2 })).ask({ agent, text: 'go' }).finished).toMatchObject(
      { reply: 'Hello.' },
    )
  })
})

describe('closing', () => {
  it('lets a running tool end, and the open turn continues after the next open', async () => {
    const closing = join(folder, 'closing')
    const act: Block = call('act', { until: closing, answer: 'acted' })
    answer = ({ messages }) => (messages.length === 1 ? says(act) : says(text('Acted.')))
    const opened = await open()
    const message = { agent, text: 'go', conversation: 'c', messageId: 'm' }
    const turn = opened.ask(message)
    await until(async () => (await starts()) === 1)
    const closed = opened.close()
    await writeFile(closing, '')
    await closed
    await expect(turn.finished).rejects.toMatchObject({ code: 'bus.closed' })
    await expect(all(turn)).rejects.toMatchObject({ code: 'bus.closed' })
    expect(() => opened.ask(message)).toThrow(expect.objectContaining({ code: 'bus.closed' }))

    const events = await all((await open()).ask(message))
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'turn-finished', reply: 'Acted.' }),
    )
    expect(await starts()).toBe(1)
    const [, second] = server.requests
    expect(JSON.stringify(second)).toContain('acted')
  })

  it('works twice', async () => {
    const opened = await open()
    await Promise.all([opened.close(), opened.close()])
  })
})

describe('options that do not go together', () => {
  it.each<[Partial<WeirOptions>, RegExp]>([
    [{ bus: { kind: 'kafka' } }, /bus is kafka, and no broker is configured/],
    [
      // As JavaScript, or a configuration file, may pass it.
      { bus: JSON.parse('{"kind":"embedded","bootstrapServer":"a:1"}') },
      /bus is embedded.*bootstrapServer/,
    ],
    [
      { bus: { kind: 'kafka', bootstrapServer: 'nowhere' } },
      /bootstrapServer is "nowhere"; must be HOST:PORT/,
    ],
    [
      { bus: { kind: 'kafka', bootstrapServer: 'a:1', properties: { 'client.di': 'x' } } },
      /did you mean client\.id\?/,
    ],
  ])('are refused: %j', async (options, words) => {
    await expect(open(options)).rejects.toMatchObject({
      code: 'settings.invalid',
      message: expect.stringMatching(words),
    })
  })
})

describe('a stage that cannot go on', () => {
  it('fails every open turn and every later question', async () => {
    const held = join(folder, 'held')
    answer = () => says(call('act', { until: held }))
    let passedMs = 0
    const monotonic = () => systemClock.monotonic() + passedMs
    const opened = await open({
      bus: { kind: 'embedded', clock: { ...systemClock, monotonic } },
    })
    const turn = opened.ask({ agent, text: 'go' })
    const events = all(turn)
    await until(async () => (await starts()) === 1)
    await rm(join(folder, 'data', 'weir.db'))
    passedMs = 1_000 // the writer looks for its file once a second
    await writeFile(held, '') // the tool's result can no longer be written
    await expect(opened.failed).rejects.toMatchObject({ code: 'bus.unwritable' })
    await expect(turn.finished).rejects.toMatchObject({ code: 'bus.unwritable' })
    await expect(events).rejects.toMatchObject({ code: 'bus.unwritable' })
    expect(() => opened.ask({ agent, text: 'go' })).toThrow(
      expect.objectContaining({ code: 'bus.unwritable' }),
    )
  })
})
