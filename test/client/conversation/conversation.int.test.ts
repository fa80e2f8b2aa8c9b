// Conversations read back from the log: their messages, their events from any position, their list.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { exportBundle } from '../../../apps/bundles/export/export.ts'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../../client/testing/anthropic-stream.ts'
import { type EventsOptions, type TurnEvent, Weir } from '../../../client/weir.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { until } from '../../support/inbox.ts'
import { output } from '../../support/output.ts'
import { recordedTool, testAgent } from '../../support/pipeline.ts'
import { call, says, text, thinking } from '../../support/script.ts'

const agent = 'test-agent'

let folder: string
let server: AnthropicServer
let weir: Weir
let answer: (request: ModelCall, number: number) => Reply

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-api-'))
  answer = (_, number) =>
    number % 2 === 1 ? says(text('I look.'), call('act', { x: 1 })) : says(text('All is well.'))
  server = await startAnthropicServer((request, number) => answer(request, number))
  weir = await open()
})

afterEach(async () => {
  await weir.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

function open(): Promise<Weir> {
  const tools = (file: string) => [recordedTool({ name: 'act', schema: { type: 'object' } }, file)]
  return Weir.open({
    agents: new Map([[agent, testAgent(server.url, { tools }, join(folder, 'starts'))]]),
    dataFolder: join(folder, 'data'),
    log: pino({ level: 'silent' }),
  })
}

async function turnIn(conversation: string, question = 'go'): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of weir.ask({ agent, text: question, conversation })) events.push(event)
  return events
}

/** The events up to the nth turn-finished. */
async function eventsOf(
  conversation: string,
  options: EventsOptions = {},
  turns = 1,
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  let ends = 0
  for await (const event of weir.conversation(conversation).events(options)) {
    events.push(event)
    ends += event.type === 'turn-finished' ? 1 : 0
    if (ends === turns) break
  }
  return events
}

const textOf = (events: TurnEvent[]) =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
const others = (events: TurnEvent[]) =>
  events.filter(({ type }) => type !== 'text-delta' && type !== 'reasoning-delta')

describe('the events of a turn that runs', () => {
  it('begin with its first one, for another reader and for a repeated question', async () => {
    await turnIn('c', 'first')
    answer = (_, number) => (number < 4 ? says(call('act', { x: 2 })) : { kind: 'stall' })
    const question = { agent, text: 'second', conversation: 'c', messageId: 'm2' }
    const turn = weir.ask(question)
    const again: string[] = []
    const fromRepeat: string[] = []
    for await (const event of turn) {
      if (event.type !== 'tool-started') continue
      for await (const { type } of weir.conversation('c').events({ turn: event.turn })) {
        again.push(type)
        if (type === 'tool-started') break
      }
      for await (const { type } of weir.ask(question)) {
        if (type !== 'turn-waiting') fromRepeat.push(type)
        if (type === 'tool-started') break
      }
      await turn.cancel()
    }
    expect(again[0]).toBe('turn-started')
    expect(fromRepeat).toEqual(again)
  })
})

describe('the events of a conversation', () => {
  it('are those that the turn gave, also for a process that starts later', async () => {
    const live = await turnIn('c')
    await weir.close()
    weir = await open()
    const read = await eventsOf('c')
    expect(others(read)).toEqual(others(live))
    expect(textOf(read)).toBe(textOf(live))
  })

  it('have the reasoning of a round that is over, as it was streamed, on request', async () => {
    const round = (number: number) => [thinking(`Hm ${number}.`), text(`I look ${number}.`)]
    answer = (_, number) =>
      number < 3 ? says(...round(number), call('act', { x: number })) : says(...round(number))
    await turnIn('other')
    answer = (_, number) => says(...round(number))
    const live = await turnIn('c')
    expect(live.map(({ type }) => type)).toContain('reasoning-delta')
    expect(await eventsOf('c', { reasoning: true })).toEqual(live)
    const before = live.findIndex(({ type }) => type === 'reasoning-delta')
    const after = live[before]?.position ?? ''
    expect(await eventsOf('c', { reasoning: true, after })).toEqual(live.slice(before + 1))
    const rounds = await eventsOf('other', { reasoning: true })
    const thoughts = rounds.flatMap((one) => (one.type === 'reasoning-delta' ? [one.text] : []))
    expect(thoughts.join('')).toBe('Hm 1.Hm 2.Hm 3.')
  })

  it('continue after any event without a gap or a repeat', async () => {
    await turnIn('c')
    await turnIn('other')
    await turnIn('c')
    const all = await eventsOf('c', {}, 2)
    for (const [n, { position }] of all.slice(0, -1).entries()) {
      const ends = all.slice(n + 1).filter(({ type }) => type === 'turn-finished').length
      const rest = await eventsOf('c', { after: position }, ends)
      expect(rest).toEqual(all.slice(n + 1))
    }
  })

  it('continue after the text that a reader of the stream has seen', async () => {
    const live = await turnIn('c')
    for (const [n, { position }] of live.entries()) {
      if (n === live.length - 1) continue
      const rest = await eventsOf('c', { after: position })
      expect(textOf(live.slice(0, n + 1)) + textOf(rest)).toBe(textOf(live))
      expect(others(rest)).toEqual(others(live.slice(n + 1)))
    }
  })

  it('go on with those that arrive, until the signal aborts', async () => {
    await turnIn('c')
    const stop = new AbortController()
    const types: string[] = []
    const reading = (async () => {
      for await (const event of weir.conversation('c').events({ signal: stop.signal }))
        types.push(event.type)
    })()
    await turnIn('c')
    await eventsOf('c', {}, 2)
    await until(() => types.filter((type) => type === 'turn-finished').length >= 2)
    stop.abort()
    await reading
  })

  it('refuse a position that no event has', async () => {
    await expect(eventsOf('c', { after: 'newest' })).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('the messages of a conversation', () => {
  it('are its texts and the cards of its calls, in order', async () => {
    await turnIn('c')
    const messages = await weir.conversation('c').messages()
    expect(messages).toMatchObject([
      { role: 'user', text: 'go', contents: [] },
      {
        role: 'assistant',
        round: 1,
        text: 'I look.',
        calls: [{ name: 'act', arguments: { x: 1 }, rawArguments: '{"x":1}', status: 'ok' }],
      },
      { role: 'assistant', round: 2, text: 'All is well.', calls: [] },
    ])
    const [, second] = messages
    if (second?.role !== 'assistant') throw new Error('there is no response')
    const place = { turn: second.turn, round: 1, ordinal: 0 }
    expect(await weir.conversation('c').result(place)).toBe(second.calls[0]?.result)
  })

  it('have the reason of a round without a response as a note', async () => {
    answer = () => ({ kind: 'error', status: 401, message: 'no key' })
    await turnIn('c')
    expect(await weir.conversation('c').messages()).toMatchObject([
      { role: 'user' },
      { role: 'note', kind: 'failure' },
    ])
  })

  it('are none for a conversation that the log does not have', async () => {
    expect(await weir.conversation('unknown').messages()).toEqual([])
  })
})

describe('the bundle of a conversation', () => {
  const bundled = (file: string) => {
    using database = new DatabaseSync(file, { readOnly: true })
    return {
      turns: database.prepare('SELECT * FROM turns').all(),
      records: database.prepare('SELECT * FROM records').all(),
    }
  }

  it('has the turns and records that weir export writes', async () => {
    await turnIn('c')
    await turnIn('other')
    const file = join(folder, 'library.weir')
    const content = await weir.conversation('c').export(file)
    await weir.close()
    const library = bundled(file)
    expect(content).toEqual({
      conversations: 1,
      turns: 1,
      records: library.records.length,
      openTurns: 0,
      cutTurns: 0,
      leftOut: 0,
      isRedacted: false,
    })
    const command = join(folder, 'command.weir')
    const settings = readSettings({ dataFolder: join(folder, 'data') }, {})
    await exportBundle({ output: command, conversation: ['c'] }, settings, output().stream)
    const whole = bundled(command)
    expect(library.turns).toEqual(whole.turns)
    // The command ran later and may have more.
    for (const record of library.records) expect(whole.records).toContainEqual(record)
    expect(library.records.length).toBeGreaterThan(30)
  })

  it('is not written for an unknown conversation, a taken name or an aborted signal', async () => {
    await turnIn('c')
    const file = join(folder, 'c.weir')
    const { signal } = new AbortController()
    await expect(weir.conversation('unknown').export(file)).rejects.toMatchObject({
      code: 'conversation.unknown',
    })
    await expect(
      weir.conversation('c').export(file, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough')
    await weir.conversation('c').export(file, { signal })
    await expect(weir.conversation('c').export(file)).rejects.toMatchObject({
      code: 'output.exists',
    })
    expect(await weir.conversation('c').export(file, { force: true })).toMatchObject({ turns: 1 })
    expect((await readdir(folder)).filter((name) => name.includes('.weir'))).toEqual(['c.weir'])
  })
})

describe('the list of conversations', () => {
  const idsOf = async (options?: Parameters<Weir['conversations']>[0]) =>
    (await weir.conversations(options)).conversations.map(({ conversation }) => conversation)

  beforeEach(async () => {
    for (const id of ['a', 'b', 'c']) await turnIn(id)
  })

  it('has the latest first, in pages', async () => {
    const first = await weir.conversations({ limit: 2 })
    expect(first.conversations).toMatchObject([
      { conversation: 'c', question: 'go', last: { outcome: 'answered' } },
      { conversation: 'b' },
    ])
    expect(first.next).toBeDefined()
    const rest = await weir.conversations({ limit: 2, after: first.next ?? '' })
    expect(rest).toMatchObject({ conversations: [{ conversation: 'a' }], next: undefined })
  })

  it('has those that match the conditions, and those that were active in a time', async () => {
    expect(await idsOf({ where: { agent, outcome: 'answered' } })).toEqual(['c', 'b', 'a'])
    expect(await idsOf({ where: { outcome: ['failed', 'capped'] } })).toEqual([])
    const { conversations } = await weir.conversations()
    const at = conversations[1]?.last.at ?? 0
    expect(await idsOf({ where: { since: at } })).toEqual(['c', 'b'])
    const [turn] = await weir.conversation('b').turns()
    const began = turn?.since ?? 0
    expect(await idsOf({ where: { until: began } })).toEqual(['a'])
    expect(await idsOf({ where: { since: at, until: at + 1, agent } })).toEqual(['b'])
    expect(await idsOf({ where: { text: 'go', agent }, sort: 'tokens', limit: 2 })).toHaveLength(2)
    expect(await weir.conversations({ where: { agent }, limit: 2 })).toMatchObject({ total: 3 })
    expect(await idsOf({ where: { agent: 'nobody' } })).toEqual([])
  })

  it('refuses unknown conditions and pages', async () => {
    await expect(weir.conversations({ where: { outcome: 'nice' } })).rejects.toMatchObject({
      code: 'usage',
    })
    await expect(weir.conversations({ limit: 0 })).rejects.toMatchObject({ code: 'usage' })
  })
})
