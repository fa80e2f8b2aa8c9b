// The titles of conversations: in the log, in lists and over HTTP.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { audit } from '../../../apps/history/audit/audit.ts'
import { listConversations } from '../../../apps/history/conversations/conversations.ts'
import { inspectAny } from '../../../apps/history/inspect/inspect.ts'
import { titleChange } from '../../../apps/service/conversations/title.ts'
import { changeSetting } from '../../../apps/service/setting-command.ts'
import { says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, Weir } from '../../../client/weir.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { until } from '../../support/inbox.ts'
import { output, printed } from '../../support/output.ts'

const question = 'A hotel for ada@example.org'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-titles-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** With a conversation `trip` of one turn. */
async function openWith(redact: 'email'[] = []): Promise<Weir> {
  const model = scriptedModel(() => says('Done.'))
  const agent = defineAgent({ name: 'helper', model, system: 'Help.', redact })
  const log = pino({ level: 'silent' })
  const weir = await Weir.open({ agents: [agent], dataFolder: folder, log })
  await weir.ask({ agent, text: question, conversation: 'trip' }).finished
  return weir
}

async function listed(weir: Weir): Promise<unknown[]> {
  const { conversations } = await weir.conversations()
  const found = await weir.conversations({ where: { agent: 'helper' } })
  return [...conversations, ...found.conversations].map(({ title }) => title)
}

it('the title of a conversation is its first words until a program gives it another one', async () => {
  await using weir = await openWith()
  const trip = weir.conversation('trip')
  expect(await trip.title()).toBe(question)
  expect(await listed(weir)).toEqual([question, question])
  for (const title of ['Three days in Ulm', 'Ulm']) {
    await trip.setTitle(title)
    await until(async () => (await trip.title()) === title)
    expect(await listed(weir)).toEqual([title, title])
  }
  await trip.setTitle('')
  await until(async () => (await trip.title()) === question)
  expect(await listed(weir)).toEqual([question, question])
})

it('the first words are those of the oldest message, at any offsets of the turns', async () => {
  await using weir = await openWith()
  const titles: (string | undefined)[] = []
  for (const text of ['First?', 'Second?', 'Third?']) {
    await weir.ask({ agent: 'helper', text, conversation: 'long' }).finished
    titles.push(await weir.conversation('long').title())
  }
  expect(titles).toEqual(['First?', 'First?', 'First?'])
})

it('a list shows redacted first words in place of a title where rules hide values', async () => {
  await using weir = await openWith(['email'])
  const trip = weir.conversation('trip')
  await trip.setTitle('Mail to ada@example.org')
  await until(async () => (await trip.title()) === 'Mail to ada@example.org')
  expect(await listed(weir)).toEqual(['A hotel for [email]', 'A hotel for [email]'])
})

it.each([
  [undefined, 'title is undefined; must be a text'],
  [' ', 'title is blank; an empty text removes the title'],
  ['a\nb', 'title has a control character or a line end; remove it'],
  ['x'.repeat(257), 'title has 257 bytes; at most 256 are allowed'],
])('the title %j is refused', async (title, message) => {
  await using weir = await openWith()
  const refused = weir.conversation('trip').setTitle(title as string)
  await expect(refused).rejects.toMatchObject({ code: 'message.invalid', message })
})

it('a conversation without a turn gets no title', async () => {
  await using weir = await openWith()
  const refused = weir.conversation('other').setTitle('Other')
  await expect(refused).rejects.toMatchObject({ code: 'conversation.unknown' })
  expect(await weir.conversation('other').title()).toBeUndefined()
})

it('PUT on the title of a conversation gives it a title', async () => {
  await using weir = await openWith()
  const handler = weir.http({ principal: () => ({ name: 'ann', tenant: null }) })
  const put = (id: string, body: object) =>
    handler(
      new Request(`http://localhost/v1/conversations/${id}/title`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  expect((await put('trip', { title: 'Ulm' })).status).toBe(202)
  await until(async () => (await weir.conversation('trip').title()) === 'Ulm')
  expect((await put('trip', { title: 5 })).status).toBe(400)
  expect((await put('trip', { name: 'Ulm' })).status).toBe(400)
  expect((await put('other', { title: 'Ulm' })).status).toBe(404)
})

it('the words of a title find its conversation until the title changes', async () => {
  await using weir = await openWith()
  const trip = weir.conversation('trip')
  const found = async (text: string) =>
    (await weir.conversations({ where: { text } })).conversations.map(({ title }) => title)
  for (const title of ['Three days in Zürich', 'Ulm']) {
    await trip.setTitle(title)
    await until(async () => (await trip.title()) === title)
    expect(await found(title)).toEqual([title])
  }
  expect(await found('zurich')).toEqual([])
  expect(await found('hotel ulm')).toEqual(['Ulm'])
  await trip.setTitle('')
  await until(async () => (await trip.title()) === question)
  expect(await found('ulm')).toEqual([])
})

it('the words of a title do not find a conversation where rules hide values', async () => {
  await using weir = await openWith(['email'])
  const trip = weir.conversation('trip')
  await trip.setTitle('Secret plan')
  await until(async () => (await trip.title()) === 'Secret plan')
  const where = { text: 'secret' }
  expect((await weir.conversations({ where })).conversations).toEqual([])
  expect((await weir.conversations({ where: { text: 'hotel' } })).total).toBe(1)
})

it('inspect and lists have the title, also of a bundle', async () => {
  const weir = await openWith()
  await weir.conversation('trip').setTitle('Ulm')
  await until(async () => (await weir.conversation('trip').title()) === 'Ulm')
  const bundle = join(folder, 'trip.weir')
  await weir.conversation('trip').export(bundle)
  await weir.close()
  const settings = readSettings({ dataFolder: folder }, {})
  for (const given of [{}, { bundle }]) {
    const read = await printed((out) => inspectAny('trip', undefined, settings, given, out))
    expect(read.split('\n')[1]).toBe('Ulm')
    const listed = { ...given, limit: '20', json: true }
    const [line = ''] = (await printed((out) => listConversations(settings, listed, out))).split(
      '\n',
    )
    expect(JSON.parse(line)).toMatchObject({ title: 'Ulm', question })
  }
})

describe('weir title', () => {
  it('names a conversation in a folder that no process uses, and the audit has the author', async () => {
    await (await openWith()).close()
    const settings = readSettings({ dataFolder: folder }, { WEIR_LOG_LEVEL: 'silent' })
    const give = async (title: string) => {
      const flags = { conversation: 'trip', title, by: 'ann' }
      return printed((out) => changeSetting(titleChange, flags, settings, { out, errors: out }))
    }
    expect(await give('Ulm')).toBe('trip has the title Ulm\n')
    expect(await give('')).toContain('trip has no title any more')
    await expect(give('a\nb')).rejects.toThrow('the title has a control character')
    await expect(
      changeSetting(titleChange, { conversation: 'other', title: 'x' }, settings),
    ).rejects.toMatchObject({ code: 'conversation.unknown' })
    const json = { kind: 'title', json: true }
    const text = await printed((out) => audit(json, settings, { out, errors: out }))
    const entries = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toEqual([
      expect.objectContaining({ action: 'set', setting: 'title:trip', by: 'ann', before: '' }),
      expect.objectContaining({ action: 'removed', before: '{"bytes":3}', after: '' }),
    ])
    expect(text).not.toContain('Ulm')
  })

  it('works next to a running Weir', async () => {
    await using weir = await openWith()
    const settings = readSettings({ dataFolder: folder }, { WEIR_LOG_LEVEL: 'silent' })
    const { stream } = output()
    const streams = { out: stream, errors: stream }
    await changeSetting(titleChange, { conversation: 'trip', title: 'Ulm' }, settings, streams)
    expect(await weir.conversation('trip').title()).toBe('Ulm')
  })
})

it('a deleted conversation has no title any more', async () => {
  await using weir = await openWith()
  const trip = weir.conversation('trip')
  await trip.setTitle('Ulm')
  await until(async () => (await trip.title()) === 'Ulm')
  await weir.forget({ conversation: 'trip' })
  expect(await trip.title()).toBeUndefined()
  expect(await listed(weir)).toEqual([])
})
