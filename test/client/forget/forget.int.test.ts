// Deleting conversations of a data folder: no byte of them is left, running stages go on, and the other
// conversations read as before.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { z } from 'zod'
import { audit } from '../../../apps/history/audit/audit.ts'
import { verifyAudit } from '../../../apps/history/audit/verify.ts'
import { existingRecords } from '../../../apps/history/inspect/existing-records.ts'
import { openLog } from '../../../apps/history/open-log.ts'
import { forget } from '../../../apps/service/forget/forget.ts'
import { changeTenantKeys } from '../../../apps/service/keys/tenant.ts'
import { eraseConversationsMax, forgetConversations } from '../../../client/forget/forget.ts'
import { openGuard } from '../../../client/guard/guard.ts'
import { always, call, says, scriptedModel } from '../../../client/testing/testing.ts'
import { defineAgent, defineTool, Weir } from '../../../client/weir.ts'
import { linkedBus } from '../../../shared/bus/audit/linked-bus.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { encryptedBus } from '../../../shared/bus/encryption/encrypted-bus.ts'
import { createEncryption } from '../../../shared/bus/encryption/encryption.ts'
import { addTenantKey, readTenantKeys } from '../../../shared/bus/encryption/tenant-keys.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { historyPrefix } from '../../../shared/contract/history/history-keys.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { HistorySummary } from '../../../shared/contract/messages.ts'
import { guardTopicSpec, topicSpecs } from '../../../shared/contract/retention.ts'
import { historyKey, summaryKey, titleKey } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { guardSetting, registerGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { removeStored } from '../../../shared/runtime/settings/operator-setting.ts'
import { readSettings } from '../../../shared/settings/settings.ts'
import { answerOf, requestOf, saidText } from '../../support/guest-requests.ts'
import { until } from '../../support/inbox.ts'
import { printed } from '../../support/output.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

let folder: string
let opened: Weir | undefined
let release: () => void

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-forget-'))
})

afterEach(async () => {
  await opened?.close()
  opened = undefined
  await rm(folder, { recursive: true, force: true })
})

const model = () =>
  scriptedModel(
    always(({ texts, newResults }) => {
      const marker = /marker-[a-z0-9-]+/.exec(texts.at(-1) ?? '')?.[0] ?? 'none'
      return newResults.length > 0
        ? says(`reply of ${marker}`)
        : says(call('look', { place: `argument of ${marker}` }))
    }),
  )

type Model = ReturnType<typeof model>

async function open(
  own: Model = model(),
  approvals?: { rules: { name: string; tools: string[] }[] },
  encryptionKeys?: string,
): Promise<Weir> {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ place: z.string() }),
    run: async ({ place }) => {
      if (place.includes('marker-slow')) await new Promise<void>((resolve) => (release = resolve))
      return `result for ${place}`
    },
  })
  const agent = defineAgent({ name: 'helper', model: own, system: 'Help.', tools: [look] })
  opened = await Weir.open({
    agents: [agent],
    dataFolder: folder,
    log: pino({ level: 'silent' }),
    ...(approvals && { approvals }),
    ...(encryptionKeys !== undefined && { encryptionKeys }),
  })
  return opened
}

async function ask(
  weir: Weir,
  conversation: string,
  more: { user?: string; messageId?: string } = {},
) {
  const text = `question marker-${conversation.replace(':', '-')}`
  return weir.ask({ agent: 'helper', conversation, text, ...more }).finished
}

/** The files of the folder that have these bytes. */
async function filesWith(marker: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = await readFile(join(entry.parentPath, entry.name))
    if (bytes.includes(marker)) found.push(entry.name)
  }
  return found
}

async function noteCount(bus: Bus, conversation: string): Promise<number> {
  let count = 0
  const topic = 'weir.activity'
  for (const { partition, begin: from, end: to } of await bus.ends(topic))
    for await (const records of batchesOf(bus, { topic, partition, from, to }))
      for (const { key, value } of records)
        if (key === conversation && messageOf(value)?.type === 'conversation-forgotten') count += 1
  return count
}

/** As the gateway writes it, about turns of the conversation `a`. */
function summaryOf(conversation: string): HistorySummary {
  return {
    type: 'history-summary',
    conversation,
    turn: 90,
    round: 0,
    throughTurn: 80,
    throughRound: 1,
    entries: 3,
    by: 'helper',
    text: 'a summary of marker-a',
    note: '',
  }
}

const ids = async (weir: Weir) =>
  (await weir.conversations()).conversations.map(({ conversation }) => conversation).sort()

const localPlace = {
  topicPrefix: 'weir.',
  partitions: 1,
  isLocal: true,
  retentionMs: 1,
  auditMs: 1,
  listGuardTopics: async () => [],
}

describe('a deleted conversation', () => {
  it('leaves no byte of its texts in a file of the folder, while Weir runs, and others stay', async () => {
    const weir = await open()
    for (const id of ['a', 'b']) await ask(weir, id)
    // The search index of the folder is a copy too.
    const where = { text: 'marker' }
    expect((await weir.conversations({ where })).conversations).toHaveLength(2)
    expect(await filesWith('marker-a')).toEqual(
      expect.arrayContaining([expect.stringContaining('weir.search')]),
    )

    const { records, ...forgotten } = await weir.forget({ conversation: 'a', by: 'ann' })
    expect(forgotten).toEqual({
      conversations: ['a'],
      open: [],
      isOverwritten: true,
      isUnreadable: true,
      until: null,
    })
    expect(records).toBeGreaterThan(20)
    expect(await filesWith('marker-a')).toEqual([])
    expect(await filesWith('marker-b')).not.toEqual([])
    expect((await weir.conversations({ where })).conversations).toHaveLength(1)
    expect(await ids(weir)).toEqual(['b'])
    expect(await weir.conversation('a').messages()).toEqual([])
    expect(await weir.conversation('b').messages()).toHaveLength(3)
    await expect(weir.forget({ conversation: 'a' })).rejects.toMatchObject({
      code: 'conversation.unknown',
    })
  })

  it("takes the sub-agents of a guest's session along, also those with a hash as id", async () => {
    const guard = await openGuard({ agent: 'coder', dataFolder: folder, answerWithinMs: waitMaxMs })
    const long = 'a'.repeat(2 * limits.conversationIdBytesMax)
    for (const [id, root] of [['s'], ['s:a', 's'], [long, 's'], ['t'], ['t:a', 't']] as const) {
      const conversation = guard.conversation(id, { root })
      const request = requestOf('anthropic', [{ user: `marker-of-${id[0]}`, responses: [] }], [])
      await conversation.beforeModel(request)
      await conversation.afterModel(answerOf(request, saidText('done')))
      await conversation.endTurn()
    }
    await guard.close()

    const weir = await open()
    const before = await ids(weir)
    expect(before).toHaveLength(5)
    const { conversations } = await weir.forget({ conversation: 'guest:coder:s', by: 'ann' })
    const kept = ['guest:coder:t', 'guest:coder:t:a']
    expect(conversations.sort()).toEqual(before.filter((id) => !kept.includes(id)))
    expect(await ids(weir)).toEqual(kept)
    for (const marker of ['marker-of-s', 'marker-of-a']) expect(await filesWith(marker)).toEqual([])
    await weir.forget({ conversation: 'guest:coder:t:a', by: 'ann' })
    expect(await ids(weir)).toEqual(['guest:coder:t'])
  })

  it('leaves no summary that a fork has of its turns', async () => {
    const weir = await open()
    await ask(weir, 'a')
    const fork = await weir.conversation('a').fork()
    const { id: conversation } = fork
    await weir.close()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    await bus.append([
      toRecord({ topic: 'weir.history', partition: 0, message: summaryOf(conversation) }),
    ])
    await bus.close()

    const again = await open()
    await again.forget({ conversation: 'a', by: 'ann' })
    expect(await filesWith('marker-a')).toEqual([])
    await expect(again.conversation(conversation).messages()).resolves.toBeDefined()
  })

  it('is deleted with a thousand others after one read of the evidence', async () => {
    const weir = await open()
    for (const id of ['a', 'b']) await ask(weir, id)
    await weir.close()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    const table = { topic: 'weir.history', partition: 0 }
    const [entry] = await bus.list({ ...table, prefix: historyPrefix('b') })
    const more = Array.from({ length: eraseConversationsMax }, (_, turn) => ({
      ...table,
      key: historyKey({ conversation: `c${turn}`, turn, round: 0 }),
      value: entry!.value,
    }))
    await bus.append(more)
    const first = (await bus.ends('weir.audit'))[0]?.end ?? 0
    const audit = { topic: 'weir.audit', partition: 0 }
    await bus.append([{ ...audit, key: 'a', value: new Uint8Array([1]) }])
    let reads = 0
    const counting: Bus = {
      ...bus,
      async read(range) {
        const records = await bus.read(range)
        if (range.topic === 'weir.audit' && records.some(({ offset }) => offset === first))
          reads += 1
        return records
      },
    }
    const place = localPlace
    const which = { tenant: 'default', by: 'ann' }
    const { conversations } = await forgetConversations({ ...place, bus: counting }, which)
    expect(conversations).toHaveLength(eraseConversationsMax + 2)
    expect(reads).toBe(1)
    await bus.close()
  })

  it('keeps the evidence of its decisions without their content, in a whole chain', async () => {
    const weir = await open(model(), { rules: [{ name: 'asks', tools: ['look'] }] })
    const turn = ask(weir, 'a')
    await until(async () => (await weir.approvals()).length === 1)
    await weir.allow((await weir.approvals())[0]?.id ?? '', { by: 'ann' })
    await turn
    expect(await filesWith('marker-a')).not.toEqual([])

    await weir.forget({ conversation: 'a', by: 'ann' })
    expect(await filesWith('marker-a')).toEqual([])
    const settings = readSettings({ dataFolder: folder }, { WEIR_LOG_LEVEL: 'silent' })
    const checked = JSON.parse(await printed((out) => verifyAudit({ json: true }, settings, out)))
    expect(checked).toMatchObject({ faults: [], erased: expect.any(Number) })
    expect(checked.erased).toBeGreaterThan(0)
    expect(await printed((out) => audit({}, settings, { out, errors: out }))).toContain(
      'approval allow  look  by ann',
    )
  })

  it('can be deleted again after a failure between the note and the deletion', async () => {
    const weir = await open()
    for (const id of ['a', 'b']) await ask(weir, id)
    await weir.close()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    const place = localPlace
    const failing = async () => {
      throw new Error('the process ends')
    }
    const broken = { ...bus, erase: failing }
    const which = { conversation: 'a', by: 'ann' }
    await expect(forgetConversations({ ...place, bus: broken }, which)).rejects.toThrow('ends')
    expect((await forgetConversations({ ...place, bus }, which)).records).toBeGreaterThan(20)
    expect(await noteCount(bus, 'a')).toBe(1)
    await bus.close()
    expect(await filesWith('marker-a')).toEqual([])
  })

  it('that was refused for newer records once is deleted by the next try, with one note', async () => {
    const weir = await open()
    for (const id of ['a', 'b']) await ask(weir, id)
    await weir.close()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    const place = localPlace
    let reads = 0
    const busy: Bus = {
      ...bus,
      async erase(erasure) {
        reads += 1
        return reads === 1 ? undefined : bus.erase?.(erasure)
      },
    }
    const { records, conversations } = await forgetConversations(
      { ...place, bus: busy },
      { tenant: 'default', by: 'ann' },
    )
    expect([reads, conversations.toSorted()]).toEqual([2, ['a', 'b']])
    expect(records).toBeGreaterThan(40)
    for (const id of conversations) expect(await noteCount(bus, id)).toBe(1)
    await bus.close()
  })

  it('begins anew for its model under its old id, and a restart reads the same', async () => {
    const first = model()
    const weir = await open(first)
    await ask(weir, 'a', { messageId: 'm1' })
    await weir.forget({ conversation: 'a' })
    await weir.ask({ agent: 'helper', conversation: 'a', messageId: 'm2', text: 'more' }).finished
    expect(first.requests.at(-2)?.texts).toEqual(['more'])
    await weir.close()

    const again = await open()
    expect(await again.conversation('a').messages()).toHaveLength(3)
    await ask(again, 'a', { messageId: 'm3' })
    expect(await again.conversation('a').turns()).toHaveLength(2)
  })

  it('with an open turn is refused whole, and goes after the end of that turn', async () => {
    const weir = await open()
    const slow = weir.ask({ agent: 'helper', conversation: 'acme:s', text: 'marker-slow' })
    for await (const { type } of slow) if (type === 'tool-started') break
    await ask(weir, 'acme:q')
    await expect(weir.forget({ tenant: 'acme' })).rejects.toMatchObject({
      code: 'conversation.open',
      message: expect.stringMatching(
        /in acme:s\. Wait for its end, or end it: weir stop --conversation acme:s .* weir release conversation:acme:s$/,
      ),
    })
    const { open: openIds, conversations } = await weir.forget({ tenant: 'acme', dryRun: true })
    expect([openIds, conversations.toSorted()]).toEqual([['acme:s'], ['acme:q', 'acme:s']])
    expect(await filesWith('marker-acme-q')).not.toEqual([])
    release()
    await slow.finished
    await weir.forget({ tenant: 'acme' })
    expect(await filesWith('marker-slow')).toEqual([])
    expect(await filesWith('marker-acme-q')).toEqual([])
  })

  it('is one in which the user wrote, in the tenant of that user only', async () => {
    const weir = await open()
    await ask(weir, 'acme:a', { user: 'ann' })
    await ask(weir, 'acme:b', { user: 'bob' })
    await ask(weir, 'c', { user: 'ann' })
    await weir.forget({ user: 'ann', tenant: 'acme' })
    expect(await ids(weir)).toEqual(['acme:b', 'c'])
    await weir.forget({ user: 'ann' })
    expect(await ids(weir)).toEqual(['acme:b'])
    await expect(weir.forget({ user: 'ann' })).rejects.toThrow(
      'there is no conversation of the user ann in the tenant default',
    )
  })

  it.each(['p', 'p'.repeat(256)])(
    'includes the conversations of sub-agents that its calls began, also if the id %s makes theirs a hash',
    async (conversation) => {
      const worker = defineAgent({ name: 'worker', model: model(), system: 'Work.' })
      const own = scriptedModel(
        always(({ newResults }) =>
          newResults.length > 0 ? says('done') : says(call('work', { task: 'do marker-inner' })),
        ),
      )
      const work = defineTool({ agent: worker, name: 'work', description: 'Works.' })
      const weir = await Weir.open({
        agents: [defineAgent({ name: 'boss', model: own, system: 'Ask.', tools: [work] }), worker],
        dataFolder: folder,
        log: pino({ level: 'silent' }),
      })
      opened = weir
      await weir.ask({ agent: 'boss', conversation: 'other', text: 'go' }).finished
      await weir.forget({ conversation: 'other' })
      await weir.ask({ agent: 'boss', conversation, text: 'go' }).finished
      expect(await ids(weir)).toHaveLength(2)
      await weir.forget({ conversation })
      expect(await ids(weir)).toEqual([])
      expect(await filesWith('marker-inner')).toEqual([])
    },
  )
})

describe('weir.forget', () => {
  it('of a program without agents deletes from the folder as one with agents does', async () => {
    const weir = await open()
    await ask(weir, 'a')
    const watching = await Weir.open({ agents: [], stages: 'elsewhere', dataFolder: folder })
    for (const isBeside of [true, false]) {
      const { records, until } = await watching.forget({ conversation: isBeside ? 'a' : 'b' })
      expect(records).toBeGreaterThan(20)
      expect(until).toBeNull()
      expect(await filesWith('marker')).toEqual([])
      if (!isBeside) break
      await ask(weir, 'b')
      await weir.close()
    }
    await watching.close()
  })

  it('deletes the plain words of the search index after encryption is switched on', async () => {
    const weir = await open()
    await ask(weir, 'a')
    await weir.conversations({ where: { text: 'marker' } })
    await weir.close()
    expect(await readdir(folder)).toContain('weir.search')
    const keys = join(folder, 'keys.json')
    await printed(async (out) => changeTenantKeys('acme', { file: keys }, out))
    const encrypted = readSettings({ dataFolder: folder, encryptionKeys: keys }, {})
    const log = await openLog(encrypted)
    await log.bus.close()
    expect((await readdir(folder)).filter((name) => name.includes('search'))).toEqual([])
  })

  it.each([
    [{}, 'name either a conversation, or a user or a tenant'],
    [{ conversation: 'c', tenant: 't' }, 'name either a conversation, or a user or a tenant'],
    [{ tenant: 'A B' }, 'the tenant is "A B"'],
    [{ user: '' }, 'user is ""; must be a text of 1 to 256 bytes'],
    [{ conversation: 'c', dry: true }, 'dry'],
  ])('refuses %j with the accepted form', async (options, text) => {
    const weir = await open()
    await expect(weir.forget(options as never)).rejects.toThrow(text)
  })
})

describe('weir forget', () => {
  const streams = (answer?: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined })
    if (answer !== undefined) input.end(`${answer}\n`)
    const out = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: false })
    const errors = new PassThrough()
    return {
      input,
      out: out as never,
      errors: errors as never,
      text: () => String(out.read() ?? ''),
    }
  }
  const settings = () => readSettings({ dataFolder: folder, logLevel: 'silent' }, {})

  it('next to a running Weir lists, asks, deletes after yes, and reports the number of records', async () => {
    const weir = await open()
    await ask(weir, 'a')
    const none = streams()
    await expect(forget({ conversation: 'a' }, settings(), none)).rejects.toThrow('give --yes')
    const dry = streams()
    expect(await forget({ conversation: 'a', dryRun: true }, settings(), dry)).toBe(0)
    expect(dry.text()).toBe('a\n')
    const json = streams('n')
    expect(await forget({ conversation: 'a', json: true }, settings(), json)).toBe(1)
    expect(json.text()).toBe('')
    const no = streams('n')
    expect(await forget({ conversation: 'a' }, settings(), no)).toBe(1)
    expect(no.text()).toBe('a\nnothing was deleted\n')
    expect(await ids(weir)).toEqual(['a'])
    const yes = streams('y')
    expect(await forget({ conversation: 'a' }, settings(), yes)).toBe(0)
    expect(yes.text()).toMatch(/^a\ndeleted 1 conversation: \d+ records\n$/)
    expect(await filesWith('marker-a')).toEqual([])
    await ask(weir, 'a')
    expect(await weir.conversation('a').messages()).toHaveLength(3)
  })
})

describe('a log that deletes by retention alone, as Kafka does', () => {
  const dayMs = 24 * 3_600_000

  async function withBus(work: (bus: Bus) => Promise<void>): Promise<void> {
    const file = join(folder, 'weir.db')
    const { erase: _, ...bus } = await openEmbeddedBus({ file, clock: systemClock })
    try {
      await work(bus)
    } finally {
      await bus.close()
    }
  }

  const place = {
    topicPrefix: 'weir.',
    partitions: 1,
    isLocal: false,
    auditMs: 400 * dayMs,
    listGuardTopics: async () => ['guard-verdicts.listed'],
  }

  it('without retention answers in JSON that its records are never deleted', async () => {
    const weir = await open()
    await ask(weir, 'a')
    await weir.close()
    await withBus(async (bus) => {
      const log = { ...place, bus, retentionMs: undefined }
      const answer = await forgetConversations(log, { conversation: 'a', by: 'ann' })
      expect(JSON.parse(JSON.stringify(answer))).toMatchObject({ until: 'never', records: 3 })
    })
  })

  it('names the end of its evidence, which is kept longest', async () => {
    const weir = await open(model(), { rules: [{ name: 'asks', tools: ['look'] }] })
    const turn = ask(weir, 'a')
    await until(async () => (await weir.approvals()).length === 1)
    await weir.allow((await weir.approvals())[0]?.id ?? '', { by: 'ann' })
    await turn
    await weir.close()
    await withBus(async (bus) => {
      const log = { ...place, bus, retentionMs: 7 * dayMs }
      const forgotten = await forgetConversations(log, { conversation: 'a', by: 'ann' })
      expect(Number(forgotten.until) - Date.now()).toBeGreaterThan(399 * dayMs)
    })
  })

  it('keeps the whole history if a message comes before the deletion', async () => {
    const weir = await open()
    await ask(weir, 'a')
    await weir.close()
    await withBus(async (bus) => {
      const inbox = { topic: 'weir.client-messages', partition: 0 }
      const { value } = (await bus.read({ ...inbox, from: 0, limit: 1 }))[0]!
      let isFirst = true
      const busy: Bus = {
        ...bus,
        async append(records, options) {
          if (isFirst) await bus.append([{ ...inbox, key: 'a', value }])
          isFirst = false
          return bus.append(records, options)
        },
      }
      const log = { ...place, bus: busy, retentionMs: 7 * dayMs }
      const which = { conversation: 'a', by: 'ann' }
      await expect(forgetConversations(log, which)).rejects.toMatchObject({
        code: 'conversation.open',
      })
      const table = { topic: 'weir.history', partition: 0, prefix: historyPrefix('a') }
      expect(await bus.list(table)).toHaveLength(3)
    })
  })

  it('is unreadable at once for everybody with the keys of the deployment, if its records are encrypted', async () => {
    const keys = join(folder, 'keys.json')
    addTenantKey(keys, '*', new Date(0))
    const options = { dataFolder: folder, encryptionKeys: keys }
    const rules = { rules: [{ name: 'asks', tools: ['look'] }] }
    async function askAndAllow(weir: Weir, id: string): Promise<void> {
      const turn = ask(weir, id)
      await until(async () => (await weir.approvals()).length === 1)
      await weir.allow((await weir.approvals())[0]?.id ?? '', { by: 'ann' })
      await turn
    }
    const weir = await open(model(), rules, keys)
    for (const id of ['a', 'b']) await askAndAllow(weir, id)
    await weir.close()

    const encryption = createEncryption(readTenantKeys(keys), 'weir.')
    /** The records of all topics with this text, for a reader of the raw log with the keys. */
    async function readableWith(bus: Bus, marker: string): Promise<number> {
      const reader = encryptedBus(bus, encryption, 'weir.')
      let count = 0
      for (const { name } of topicSpecs('weir.', 1))
        for (const { partition, begin: from, end: to } of await bus.ends(name))
          for await (const records of batchesOf(reader, { topic: name, partition, from, to }))
            for (const { value } of records)
              if (value !== null && Buffer.from(value).includes(marker)) count += 1
      return count
    }

    await withBus(async (raw) => {
      expect(await readableWith(raw, 'marker-a')).toBeGreaterThan(10)
      const before = await readableWith(raw, 'marker-b')
      const bus = linkedBus(encryptedBus(raw, encryption, 'weir.'), 'weir.')
      const log = { ...place, bus, retentionMs: 7 * dayMs }
      const forgotten = await forgetConversations(log, { conversation: 'a', by: 'ann' })
      expect(forgotten).toMatchObject({ conversations: ['a'], isUnreadable: true })
      expect(Number(forgotten.until) - Date.now()).toBeLessThanOrEqual(limits.keysCompactedMs)
      expect(await readableWith(raw, 'marker-a')).toBe(0)
      expect(await readableWith(raw, 'marker-b')).toBe(before)
      // The note is no content, so it stays readable.
      expect(await noteCount(bus, 'a')).toBe(1)
      await expect(
        forgetConversations(log, { conversation: 'a', by: 'ann' }),
      ).rejects.toMatchObject({ code: 'conversation.unknown' })
    })

    // The evidence stays without its content, in a whole chain.
    const settings = readSettings(options, { WEIR_LOG_LEVEL: 'silent' })
    const checked = JSON.parse(await printed((out) => verifyAudit({ json: true }, settings, out)))
    expect(checked).toMatchObject({ faults: [], hidden: 0, erased: expect.any(Number) })
    expect(checked.erased).toBeGreaterThan(0)
    const decisions = await printed((out) => audit({}, settings, { out, errors: out }))
    expect(decisions).toContain('approval allow  look  by ann')

    const read = await openLog(settings)
    await expect(existingRecords('a', read)).rejects.toMatchObject({ code: 'conversation.unknown' })
    expect(await existingRecords('b', read)).not.toEqual([])
    expect(read.bus.hidden?.().map(({ reason }) => reason)).toEqual(['forgotten'])
    await read.bus.close()

    // The stages fold their inboxes again, skip the records, and write no dead letter.
    const again = await open(model(), rules, keys)
    expect(await ids(again)).toEqual(['b'])
    await askAndAllow(again, 'a')
    expect(await again.conversation('a').messages()).toHaveLength(3)
    await again.close()
    await withBus(async (raw) => {
      expect((await raw.ends('weir.dead-letters'))[0]).toMatchObject({ begin: 0, end: 0 })
    })
  })

  it.each([
    'weir.activity',
    'weir.model-deltas',
    'weir.history',
    'weir.guard-verdicts.money',
    'weir.guard-verdicts.removed',
    'weir.guard-verdicts.listed',
  ])(
    'is not reported as unreadable if %s has a record that a stage encrypted with the key of the tenant',
    async (topic) => {
      const keys = join(folder, 'keys.json')
      addTenantKey(keys, '*', new Date(0))
      const weir = await open(model(), undefined, keys)
      for (const id of ['a', 'b']) await ask(weir, id)
      await weir.close()
      await withBus(async (raw) => {
        const encryption = createEncryption(readTenantKeys(keys), 'weir.')
        const bus = linkedBus(encryptedBus(raw, encryption, 'weir.'), 'weir.')
        const log = { ...place, bus, retentionMs: 7 * dayMs }
        const money = { name: 'money', version: '1', tools: ['*'], deadlineMs: 1_000 }
        const guard = { ...money, onTimeout: 'deny' } as const
        await registerGuard({ ...log, guard, replace: false })
        await registerGuard({ ...log, guard: { ...guard, name: 'removed' }, replace: false })
        await removeStored(guardSetting, log, { id: 'removed', by: 'ann' })
        await bus.ensureTopics([guardTopicSpec('weir.', 'listed', 1)])
        const message = { type: 'cancel-requested', conversation: 'a', messageId: 'm' } as const
        const early = toRecord({ topic, partition: 0, message })
        const key =
          topic === 'weir.history' ? historyKey({ conversation: 'a', turn: 9, round: 0 }) : 'a'
        await raw.append([encryption.encrypted({ ...early, key })])
        for (const [conversation, isUnreadable] of [
          ['a', false],
          ['b', true],
        ] as const) {
          const forgotten = await forgetConversations(log, { conversation, by: 'ann' })
          expect(forgotten).toMatchObject({ isUnreadable })
          expect(Number(forgotten.until) - Date.now() > 29 * dayMs).toBe(!isUnreadable)
        }
      })
    },
  )

  it('deletes a title, also one that intake takes after the deletion', async () => {
    const weir = await open()
    await ask(weir, 'a')
    await weir.conversation('a').setTitle('The title of marker-a')
    await until(async () => (await weir.conversation('a').title()) === 'The title of marker-a')
    await weir.close()
    await withBus(async (bus) => {
      const message = { type: 'title-given', conversation: 'a', title: 'Late marker-a' } as const
      await bus.append([toRecord({ topic: 'weir.client-messages', partition: 0, message })])
      const log = { ...place, bus, retentionMs: 7 * dayMs }
      expect(await forgetConversations(log, { conversation: 'a', by: 'ann' })).toMatchObject({
        records: 4,
      })
      expect(await titleKept(bus)).toBeUndefined()
    })
    const again = await open()
    await ask(again, 'b')
    expect(await again.conversation('a').title()).toBeUndefined()
    await again.close()
    await withBus(async (bus) => {
      const table = { topic: 'weir.history', partition: 0 }
      await until(async () => {
        const records = await bus.read({ ...table, from: 0, limit: 1_000 })
        const titles = records.filter(({ key }) => key === titleKey('a'))
        return titles.length > 2 && titles.at(-1)?.id?.startsWith('intake/') === true // intake has taken both
      })
      expect(await bus.get({ ...table, key: titleKey('a'), waitMs: 0 })).toBeUndefined()
      const keys = await bus.keys({ ...table, after: undefined, limit: 1_000 })
      expect(keys.filter(({ key }) => key === titleKey('a'))).toEqual([])
    })
    const read = await openLog(readSettings({ dataFolder: folder }, {}))
    await expect(existingRecords('a', read)).rejects.toMatchObject({ code: 'conversation.unknown' })
    await read.bus.close()
  })

  async function titleKept(bus: Bus): Promise<string | undefined> {
    const table = { topic: 'weir.history', partition: 0 }
    const record = await bus.get({ ...table, key: titleKey('a'), waitMs: 0 })
    const message = messageOf(record?.value ?? null)
    return message?.type === 'conversation-titled' ? message.title : undefined
  }

  it('deletes the summary of a fork by a tombstone, and leaves its own history', async () => {
    const weir = await open()
    await ask(weir, 'a')
    const { id } = await weir.conversation('a').fork()
    await ask(weir, id)
    await weir.close()
    await withBus(async (bus) => {
      const table = { topic: 'weir.history', partition: 0 }
      await bus.append([toRecord({ ...table, message: summaryOf(id) })])
      const keys = async () =>
        (await bus.list({ ...table, prefix: historyPrefix(id) })).map(({ key }) => key)
      const before = await keys()
      expect(before).toContain(summaryKey(id))
      const log = { ...place, bus, retentionMs: 7 * dayMs }
      await forgetConversations(log, { conversation: 'a', by: 'ann' })
      expect(await keys()).toEqual(before.filter((key) => key !== summaryKey(id)))
    })
  })

  it('loses the history at once, names the day of the rest, and no screen shows it', async () => {
    const weir = await open()
    for (const id of ['a', 'b']) await ask(weir, id)
    await weir.close()
    await withBus(async (bus) => {
      const log = { ...place, bus, retentionMs: 7 * dayMs }
      const { until, records } = await forgetConversations(log, { conversation: 'a', by: 'ann' })
      // Dead letters stay longest.
      expect(Number(until) - Date.now()).toBeGreaterThan(29 * dayMs)
      expect(records).toBe(3)
    })
    const read = await openLog(readSettings({ dataFolder: folder }, {}))
    await expect(existingRecords('a', read)).rejects.toMatchObject({ code: 'conversation.unknown' })
    expect(await existingRecords('b', read)).not.toEqual([])
    await read.bus.close()
    const again = await open()
    expect(await ids(again)).toEqual(['b'])
    await ask(again, 'a')
    expect((await again.conversations()).conversations[0]).toMatchObject({
      conversation: 'a',
      turns: 1,
    })
  })
})
