// Dead letters of a real run: bytes and messages that no stage could process, shown and retried.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { runDemo } from '../../../../apps/demo/demo.ts'
import {
  type ListedLetter,
  listDeadLetters,
  type ShownLetter,
  showDeadLetter,
} from '../../../../apps/history/dead-letters/list.ts'
import { type RetryOptions, retryDeadLetters } from '../../../../apps/history/dead-letters/retry.ts'
import { startDemoProxy } from '../../../../apps/http/demo-proxy.ts'
import { startStages } from '../../../../services/stages.ts'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { logFileIn } from '../../../../shared/bus/embedded/file/log-file.ts'
import { encode } from '../../../../shared/codec/codec.ts'
import type { DeadLetter } from '../../../../shared/contract/messages.ts'
import { partitionOf } from '../../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../../shared/contract/retention.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { readSettings } from '../../../../shared/settings/settings.ts'
import { answer } from '../../../services/approval/samples.ts'
import { until } from '../../../support/inbox.ts'
import { userMessage } from '../../../support/messages.ts'
import { output } from '../../../support/output.ts'
import { runSql } from '../../../support/run-sql.ts'

const partitions = 4
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-letters-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const settings = () => readSettings({ dataFolder: folder }, {})
const home = partitionOf('c', partitions)
const elsewhere = (home + 1) % partitions
const hello = encode(userMessage({ conversation: 'c', messageId: 'm1', text: 'hello' }))
const outcome = encode({ type: 'turn-ended', conversation: 'c', turn: 0 })

/**
 * Three letters in partition 0: of a message in a wrong partition, of bytes, of a stage's record.
 * `without`: a topic to leave out.
 */
async function write({
  without,
  more = [],
}: {
  without?: string
  more?: DeadLetter[]
} = {}): Promise<void> {
  const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
  await bus.ensureTopics(topicSpecs('weir.', partitions).filter(({ name }) => name !== without))
  const inbox = 'weir.conversation-events'
  await bus.append([{ topic: inbox, partition: elsewhere, key: 'c', value: hello }])
  const about = {
    type: 'dead-letter',
    topic: inbox,
    partition: elsewhere,
    time: systemClock.now(),
    key: 'c',
    stage: 'conversation',
  } as const
  const letters = [
    {
      ...about,
      offset: 0,
      code: 'codec.bad-message',
      reason: 'it belongs elsewhere',
      value: hello,
    },
    {
      ...about,
      offset: 8,
      code: 'codec.bad-frame',
      reason: 'no record',
      key: 'x',
      value: Buffer.from('no record'),
    },
    {
      ...about,
      offset: 9,
      code: 'runtime.assertion',
      reason: 'it threw',
      stage: 'executor',
      topic: 'weir.rounds-cleared',
      value: outcome,
    },
    ...more,
  ]
  await bus.append(
    letters.map((letter) => ({
      topic: 'weir.dead-letters',
      partition: 0,
      key: letter.key,
      value: encode(letter),
    })),
  )
  await bus.close()
}

async function listed(filter: object = {}): Promise<ListedLetter[]> {
  const { stream, text } = output()
  await listDeadLetters({ json: true, ...filter }, settings(), stream)
  return text()
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ListedLetter)
}

async function shown(place: string): Promise<ShownLetter> {
  const { stream, text } = output()
  await showDeadLetter(place, { json: true }, settings(), stream)
  return JSON.parse(text()) as ShownLetter
}

async function retried(
  places: string[],
  options: RetryOptions = { yes: true },
): Promise<{ code: number; output: string }> {
  const { stream, text } = output()
  const code = await retryDeadLetters(places, options, settings(), {
    input: Readable.from([]),
    out: stream,
    errors: stream,
  })
  return { code, output: text() }
}

async function inInbox(): Promise<string[]> {
  const bus = await openEmbeddedBus({
    file: join(folder, 'weir.db'),
    clock: systemClock,
    readOnly: true,
  })
  try {
    const records = await bus.read({
      topic: 'weir.client-messages',
      partition: home,
      from: 0,
      limit: 10,
    })
    return records.map(({ value }) => Buffer.from(value ?? []).toString('base64'))
  } finally {
    await bus.close()
  }
}

describe('weir dead-letters', () => {
  it('lists all or some letters, each with the place of its record and the reason', async () => {
    await write()
    expect(
      (await listed()).map(({ place, code, conversation }) => [place, code, conversation]),
    ).toEqual([
      ['0/0', 'codec.bad-message', 'c'],
      ['0/1', 'codec.bad-frame', 'x'],
      ['0/2', 'runtime.assertion', 'c'],
    ])
    expect((await listed({ stage: 'executor' })).map(({ place }) => place)).toEqual(['0/2'])
    await expect(listed({ code: 'codec.bad-fame' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /unknown code 'codec\.bad-fame' \(--code\)\. Did you mean codec\.bad-frame\? Most letters have one of codec\.bad-frame, .*runtime\.assertion/,
      ),
    })
    await expect(listed({ stage: 'executer' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('Did you mean executor?'),
    })
    expect(
      (await listed({ conversation: 'c', code: 'codec.bad-message' })).map(({ place }) => place),
    ).toEqual(['0/0'])
    const { stream, text } = output()
    await listDeadLetters({ code: 'codec.bad-frame' }, settings(), stream)
    expect(text()).toContain(
      `conversation could not process weir.conversation-events/${elsewhere}/8 of x: codec.bad-frame`,
    )
  })

  it('shows the record or its bytes, and whether it can be written again', async () => {
    await write()
    expect(await shown('0/0')).toMatchObject({
      message: { type: 'user-message', text: 'hello' },
      base64: null,
      retry: null,
    })
    expect(await shown('0/1')).toMatchObject({
      message: null,
      base64: Buffer.from('no record').toString('base64'),
    })
    expect((await shown('0/1')).retry).toContain('it still cannot be decoded')
    expect((await shown('0/2')).retry).toContain('only a stage writes a turn-ended')
    await expect(shown('0/7')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('there is no dead letter 0/7'),
    })
    await expect(shown('7')).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('PARTITION/OFFSET'),
    })
  })

  it('counts letters that cannot be read, in the list and in a retry of all', async () => {
    const text = async (filter: object) => {
      const { stream, text } = output()
      await listDeadLetters(filter, settings(), stream)
      return text()
    }
    await write()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    const letter = { topic: 'weir.dead-letters', partition: 0, key: 'secret' }
    for (const value of ['encrypted', 'damaged'])
      await bus.append([{ ...letter, value: Buffer.from(value) }])
    await bus.close()
    expect(await text({})).toMatch(/no record\n(?:.*\n)*2 more dead letters cannot be read\n$/)
    expect(await text({ conversation: 'c' })).not.toContain('cannot be read')
    expect(await text({ conversation: 'other' })).toBe('no dead letter matches\n')
    const only = { conversation: 'secret' }
    const end = '2 dead letters cannot be read, and no other matches\n'
    expect(await text(only)).toBe(end)
    expect((await retried([], { all: true, yes: true, ...only })).output).toBe(end)
  })

  it('writes a message once more to the partition of its conversation, and never a second time', async () => {
    await write()
    expect(await retried(['0/0'])).toEqual({
      code: 0,
      output: `0/0: written again, as client-messages/${home}/0\n`,
    })
    expect(await inInbox()).toEqual([Buffer.from(hello).toString('base64')])
    expect((await retried(['0/0'])).output).toContain('already written again')
    expect(await inInbox()).toHaveLength(1)
  })

  it('refuses useless records, and continues with the others', async () => {
    await write()
    const { code, output } = await retried([], { all: true, yes: true })
    expect(code).toBe(1)
    expect(output.split('\n').map((line) => line.slice(0, 16))).toEqual([
      '0/0: written aga',
      '0/1: not written',
      '0/2: not written',
      '',
    ])
  })

  it('refuses a record of a deleted topic, and continues with the others', async () => {
    const approvals = 'weir.approvals'
    const about = {
      topic: approvals,
      partition: 0,
      offset: 0,
      time: systemClock.now(),
      key: 'c',
      stage: 'approval',
    } as const
    const value = encode(answer())
    await write({
      without: approvals,
      more: [
        {
          type: 'dead-letter',
          ...about,
          code: 'codec.bad-message',
          reason: 'it was too early',
          value,
        },
      ],
    })
    const { code, output } = await retried(['0/3', '0/0'])
    expect(code).toBe(1)
    expect(output).toMatch(
      /^0\/3: not written: there is no topic weir\.approvals.*\n0\/0: written again, as .*\n$/,
    )
    expect(await inInbox()).toHaveLength(1)
  })

  it('asks for confirmation, and needs --yes without a terminal', async () => {
    await write()
    await expect(retried(['0/0'], {})).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--yes'),
    })
    await expect(retried([], { yes: true })).rejects.toMatchObject({ code: 'usage' })
    expect(await inInbox()).toEqual([])
  })
})

describe('the dead letters of the guide on postmortems', () => {
  it('arise as described, and one of them can be written again', async () => {
    const readme = readFileSync(
      new URL('../../../../docs/explain/postmortems.md', import.meta.url),
      'utf8',
    )
    const statements = [...readme.matchAll(/^ {4}sqlite3 letters\/weir\.db "(INSERT .*)"$/gm)].map(
      ([, sql = '']) => sql.replaceAll('\\"', '"'),
    )
    expect(statements).toHaveLength(2)
    await runDemo(
      { bad: 'reflex', keptIn: folder },
      {
        settings: readSettings({ logLevel: 'silent', partitions: '4' }, {}),
        startProxy: startDemoProxy,
      },
      output().stream,
    )
    const file = logFileIn(folder)
    for (const sql of statements) runSql(file, sql)

    const bus = await openEmbeddedBus({ file, clock: systemClock })
    const log = createLog({ level: 'silent' })
    const running = await startStages({
      bus,
      agents: new Map(),
      topicPrefix: 'weir.',
      partitions: 4,
      log,
      names: ['intake', 'conversation'],
    })
    const written = async () =>
      (await bus.ends('weir.dead-letters')).reduce((sum, { begin, end }) => sum + end - begin, 0)
    await until(async () => (await written()) >= 2)
    await running.close()
    await bus.close()

    expect((await listed()).map(({ code, conversation }) => [code, conversation])).toEqual([
      ['codec.bad-frame', 'nobody'],
      ['codec.bad-message', 'demo'],
    ])
    expect(await retried([], { all: true, yes: true })).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /0\/0: not written: .*\n0\/1: written again, as client-messages\/3\//,
      ),
    })
  }, 120_000)
})
