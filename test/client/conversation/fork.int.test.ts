// Forks of a conversation: a program with its own stages on one file, and a scripted model.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { listConversations } from '../../../apps/history/conversations/conversations.ts'
import { call, says, scriptedModel } from '../../../client/testing/testing.ts'
import { type AnyGuard, defineAgent, defineTool, Weir } from '../../../client/weir.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { until } from '../../support/inbox.ts'
import { printed } from '../../support/output.ts'

const partitions = 3
const log = pino({ level: 'silent' })
const act = defineTool({
  name: 'act',
  description: 'acts',
  parameters: { type: 'object' },
  run: () => 'acted',
})

let folder: string
let model: ReturnType<typeof scriptedModel>
let weir: Weir

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-fork-'))
})
afterEach(async () => {
  await weir.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(replies: Parameters<typeof scriptedModel>, guards: AnyGuard[] = []) {
  model = scriptedModel(...replies)
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [act] })
  weir = await Weir.open({
    agents: [agent],
    dataFolder: folder,
    partitions,
    log,
    ...(guards.length > 0 && { guards: { guards, mode: 'enforce' } }),
  })
}

/** The number of the turn. */
async function ask(conversation: string, text: string): Promise<number> {
  const { turn } = await weir.ask({ agent: 'helper', conversation, text }).finished
  return turn
}

const texts = async (conversation: string) =>
  (await weir.conversation(conversation).messages()).map(({ role, ...message }) =>
    'text' in message ? `${role}: ${message.text}` : role,
  )

type Conditions = NonNullable<NonNullable<Parameters<Weir['conversations']>[0]>['where']>

describe('a fork of a conversation', () => {
  it('without an own turn is listed, found, exported and deleted', async () => {
    await open([says('One.'), says('Two.')])
    await ask('acme:c', 'first')
    const fork = await weir.conversation('acme:c').fork()
    await fork.setTitle('A cheaper hotel')
    await until(async () => (await fork.title()) !== undefined)
    const listed = async (where: Conditions = {}) =>
      (await weir.conversations({ where })).conversations.map(({ conversation, title, last }) => [
        conversation,
        title,
        last.outcome,
      ])
    const own = [fork.id, 'A cheaper hotel', 'forked']
    const origin = ['acme:c', 'first', 'answered']
    expect(await listed()).toEqual([own, origin])
    const [, suffix = ''] = fork.id.split('~')
    for (const where of [{ text: 'cheaper' }, { text: suffix }, { tenant: 'acme', text: 'hotel' }])
      expect(await listed(where)).toEqual([own])
    expect(await listed({ tenant: 'acme' })).toEqual([own, origin])
    expect(await listed({ tree: fork.id })).toEqual([own])
    expect(await listed({ since: '10m ago' })).toEqual([own, origin])
    expect(await listed({ until: '2020-01-01' })).toEqual([])
    expect(await listed({ longerThan: '1ms', text: 'cheaper' })).toEqual([])

    const file = join(folder, 'fork.weir')
    expect(await fork.export(file)).toMatchObject({ conversations: 1, turns: 0 })
    const settings = readSettings({ dataFolder: folder }, {})
    const options = { json: true, bundle: file }
    const lines = await printed((out) => listConversations(settings, options, out))
    expect(JSON.parse(lines)).toMatchObject({ conversation: fork.id, last: { outcome: 'forked' } })

    await weir.forget({ conversation: fork.id, by: 'ann' })
    expect(await listed()).toEqual([origin])
    expect(await listed({ tenant: 'acme' })).toEqual([origin])
    expect(await listed({ text: 'cheaper' })).toEqual([])
  })

  it('is listed once, with its own turns, after its first turn', async () => {
    await open([says('One.'), says('Two.')])
    await ask('c', 'first')
    const fork = await weir.conversation('c').fork()
    const [, suffix = ''] = fork.id.split('~')
    for (const outcome of ['forked', 'answered']) {
      for (const where of [{}, { text: suffix }]) {
        const { conversations } = await weir.conversations({ where })
        const found = conversations.filter(({ conversation }) => conversation === fork.id)
        expect(found.map(({ last }) => last.outcome)).toEqual([outcome])
      }
      if (outcome === 'forked') await ask(fork.id, 'second')
    }
  })

  it('goes on from its turn, and shares the history with its origin without a copy', async () => {
    await open([says(call('act')), says('One.'), says('Two.'), says('Other.'), says('Three.')])
    const first = await ask('c', 'first')
    await ask('c', 'second')
    const fork = await weir.conversation('c').fork({ turn: first })
    await ask(fork.id, 'another')
    expect(model.requests.at(-1)?.texts).toEqual(['first', 'One.', 'another'])
    expect(model.requests.at(-1)?.results).toEqual(['acted'])
    await ask('c', 'third')
    expect(model.requests.at(-1)?.texts).toEqual(['first', 'One.', 'second', 'Two.', 'third'])
    expect(await texts(fork.id)).toEqual([
      'user: first',
      'assistant: ',
      'assistant: One.',
      'user: another',
      'assistant: Other.',
    ])
    const turns = await fork.turns()
    expect(turns.map(({ conversation, text, end }) => [conversation, text, end?.reply])).toEqual([
      [fork.id, 'another', 'Other.'],
      ['c', 'first', 'One.'],
    ])
    expect(await fork.call({ turn: first, round: 1, ordinal: 0 })).toMatchObject({
      result: 'acted',
    })
  })

  it('has the tenant and the partition of its origin, and one record in the history', async () => {
    await open([says('One.')])
    await ask('acme:c', 'first')
    const { id } = await weir.conversation('acme:c').fork()
    expect(id).toMatch(/^acme:c~/)
    expect(partitionOf(id, partitions)).toBe(partitionOf('acme:c', partitions))
    const database = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true })
    const rows = database.prepare('select key from records where key like ?').all('%~%')
    database.close()
    expect(rows.map(({ key }) => key).sort()).toEqual([`["${id}","origin",0]`, id])
  })

  it('of a fork has the turns of all its origins, and those of a shared turn only once', async () => {
    await open(['One.', 'Two.', 'Three.', 'Four.', 'Five.'].map((text) => says(text)))
    const first = await ask('c', 'a')
    await ask('c', 'b')
    const fork = await weir.conversation('c').fork()
    await ask(fork.id, 'c')
    const second = await fork.fork()
    await ask(second.id, 'd')
    expect(model.requests.at(-1)?.texts).toEqual(['a', 'One.', 'b', 'Two.', 'c', 'Three.', 'd'])
    const early = await second.fork({ turn: first })
    await ask(early.id, 'e')
    expect(model.requests.at(-1)?.texts).toEqual(['a', 'One.', 'e'])
  })

  it('goes on after a restart, and sends the images of its origin', async () => {
    await open([says('One.')])
    const image = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    await weir.ask({ agent: 'helper', conversation: 'c', text: 'look', images: [image] }).finished
    const { id } = await weir.conversation('c').fork()
    await weir.close()
    await open([says('Two.')])
    const { outcome } = await weir.ask({ agent: 'helper', conversation: id, text: 'more' }).finished
    expect(outcome).toBe('answered')
    expect(model.requests.at(-1)?.texts).toEqual(['look', 'One.', 'more'])
  })

  it('is continued by a guard with the memory that it has of the origin', async () => {
    const once: AnyGuard = {
      name: 'once',
      version: '1',
      tools: ['act'],
      deadlineMs: 10_000,
      onTimeout: 'deny',
      judge: (state, { calls }) => ({
        state: { acted: true },
        verdicts: calls.map(({ ordinal }) =>
          state === undefined
            ? { ordinal, verdict: 'allow' }
            : { ordinal, verdict: 'deny', code: 'twice', text: 'act may run once' },
        ),
      }),
    }
    await open([says(call('act')), says('One.'), says(call('act')), says('Two.')], [once])
    await ask('c', 'first')
    const { id } = await weir.conversation('c').fork()
    await ask(id, 'again')
    expect(model.requests.at(-1)?.results.at(-1)).toContain('act may run once')
  })
})

describe('a fork is refused', () => {
  it('at a turn that is open, at an unknown turn, and of an unknown conversation', async () => {
    const { promise: held, resolve } = Promise.withResolvers<string>()
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    const wait = defineTool({
      name: 'wait',
      description: 'waits',
      parameters: { type: 'object' },
      run: () => {
        begin()
        return held
      },
    })
    model = scriptedModel(says('One.'), says(call('wait')), says('Two.'))
    const agent = defineAgent({ name: 'helper', model, system: 'Help.', tools: [wait] })
    weir = await Weir.open({ agents: [agent], dataFolder: folder, partitions, log })
    const conversation = weir.conversation('c')
    await expect(conversation.fork()).rejects.toMatchObject({ code: 'conversation.unknown' })
    await ask('c', 'first')
    const second = ask('c', 'second')
    await began
    await expect(conversation.fork()).rejects.toThrow('is still open')
    await expect(conversation.fork({ turn: 999 })).rejects.toThrow('there is no turn 999')
    await expect(weir.conversation('guest:a:b').fork()).rejects.toMatchObject({ code: 'usage' })
    resolve('ready')
    await second
    expect((await conversation.fork()).id).toMatch(/^c~/)
  })
})
