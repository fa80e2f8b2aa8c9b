// The writes and readers of the embedded bus beyond the contract: one transaction, failed writes,
// slow readers, retention.

import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

import { type EmbeddedBusOptions, openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import type { Bus, TopicSpec } from '../../../shared/contract/bus.ts'
import { newName, readAll, record } from './contract-world.ts'
import { type HandClock, handClock } from './hand-clock.ts'
import { commitBehind, subscribeRecording, textOf, until } from './recording-readers.ts'

const hourMs = 3_600_000

let folder: string
let clock: HandClock
let bus: Bus
let limitPages: (pages: number) => void
let withoutBusyWait: () => void
let warnings: string[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-bus-writing-'))
  clock = handClock()
  warnings = []
  await open()
})

afterEach(async () => {
  await bus.close()
  rmSync(folder, { recursive: true })
})

async function open(options: Partial<EmbeddedBusOptions> = {}): Promise<void> {
  const recordLine = (_: object, message: string) => warnings.push(message)
  bus = await openEmbeddedBus({
    file: join(folder, 'weir.sqlite'),
    clock,
    synchronous: 'off',
    log: { warn: recordLine, fatal: recordLine },
    onDatabase: (database) => {
      limitPages = (pages) => database.exec(`PRAGMA max_page_count = ${pages}`)
      withoutBusyWait = () => database.exec('PRAGMA busy_timeout = 0')
    },
    ...options,
  })
}

async function reopen(options: Partial<EmbeddedBusOptions> = {}): Promise<void> {
  await bus.close()
  await open(options)
}

async function topic(spec: Partial<TopicSpec> = {}): Promise<string> {
  const name = newName(spec.kind ?? 'log')
  await bus.ensureTopics([{ name, kind: 'log', partitions: 1, ...spec }])
  return name
}

async function appendTexts(name: string, texts: string[], partition = 0): Promise<void> {
  await bus.append(texts.map((text) => record(name, text, { partition })))
}

/** Several turns of the event loop: all pending work is done. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('readers', () => {
  test('a slow one does not stop the other partitions, nor other groups', async () => {
    const inbox = await topic({ partitions: 3 })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const slow = await subscribeRecording(bus, {
      group: 'slow',
      topic: inbox,
      async step(batch, { ends }) {
        if (ends.partition === 1) await released
        return { outputs: [], commit: commitBehind(batch) }
      },
    })
    const other = await subscribeRecording(bus, { group: 'other', topic: inbox })
    for (const text of ['a', 'b', 'c'])
      for (const partition of [0, 1, 2]) await appendTexts(inbox, [text], partition)
    await until(
      'all that can be read is read',
      () => slow.records.length === 7 && other.records.length === 9,
    )
    expect(
      [0, 1, 2].map((partition) => slow.partitions.get(partition)?.records.map(textOf)),
    ).toEqual([['a', 'b', 'c'], ['a'], ['a', 'b', 'c']])
    release()
    await until('the slow one has caught up', () => slow.records.length === 9)
  })

  test('take turns: a partition with a long log does not keep a short one waiting for its end', async () => {
    const inbox = await topic({ partitions: 2 })
    await appendTexts(
      inbox,
      Array.from({ length: 20_000 }, (_, n) => `${n}`),
      0,
    )
    await appendTexts(inbox, ['short'], 1)
    const readBefore: number[] = []
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      step(batch, { ends }) {
        if (ends.partition === 1) readBefore.push(recording.partitions.get(0)?.records.length ?? 0)
        return { outputs: [], commit: commitBehind(batch) }
      },
    })
    await until('all is read', () => recording.records.length === 20_001)
    expect(readBefore).toHaveLength(1)
    expect(readBefore[0]).toBeLessThan(2000)
  })

  test('get batches that are bounded in records and in bytes, and always at least one record', async () => {
    const inbox = await topic({ partitions: 2 })
    await appendTexts(
      inbox,
      Array.from({ length: 1200 }, () => 'x'),
      0,
    )
    for (let n = 0; n < 5; n += 1)
      await bus.append([
        { topic: inbox, partition: 1, key: 'k', value: new Uint8Array(3 * 1024 * 1024) },
      ])
    const recording = await subscribeRecording(bus, { group: 'g', topic: inbox })
    await until('all is read', () => recording.records.length === 1205)
    const batches = (partition: number) =>
      recording.partitions
        .get(partition)
        ?.happenings.flatMap((each) => (each.what === 'read' ? [each.offsets.length] : []))
    expect(batches(0)).toEqual([512, 512, 176])
    expect(batches(1)).toEqual([2, 2, 1])
  })

  test('pass records on in one transaction, and are acknowledged only after it', async () => {
    const [first, second, third] = [await topic(), await topic(), await topic()]
    const events: string[] = []
    const relay = (from: string, to: string | undefined) =>
      subscribeRecording(bus, {
        group: 'g',
        topic: from,
        step: async (batch) => {
          events.push(`${from} reads, ${(await readAll(bus, second)).length} written`)
          return {
            outputs: to === undefined ? [] : batch.map((input) => record(to, textOf(input))),
            commit: commitBehind(batch),
          }
        },
        acknowledged: () => events.push(`${from} is acknowledged`),
      })
    await Promise.all([relay(first, second), relay(second, third), relay(third, undefined)])
    await appendTexts(first, ['a'])
    await settle()
    expect(events).toEqual([
      ...[first, second, third].map((name) => `${name} reads, 0 written`),
      ...[first, second, third].map((name) => `${name} is acknowledged`),
    ])
  })

  test('may read records again that they have read ahead of the file', async () => {
    const inbox = await topic()
    const seen: string[] = []
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      async step(batch) {
        const again = await bus.read({
          topic: inbox,
          partition: 0,
          from: 0,
          to: commitBehind(batch).offset,
          limit: 10,
        })
        seen.push(again.map(textOf).join())
        const isFirst = batch[0]?.offset === 0
        return {
          outputs: isFirst ? [record(inbox, 'b'), record(inbox, 'c')] : [],
          commit: commitBehind(batch),
        }
      },
    })
    const other = await subscribeRecording(bus, {
      group: 'other',
      topic: await topic(),
      step: (batch) => ({
        outputs: batch.map(() => record(inbox, 'a')),
        commit: commitBehind(batch),
      }),
    })
    await appendTexts(other.partitions.get(0)?.assignment.topic ?? '', ['x'])
    await until('all is read', () => seen.length === 2)
    expect(seen).toEqual(['a', 'a,b,c'])
    await other.subscription.close()
    await recording.subscription.close()
  })

  test('of one group exist once: a second subscription is refused until the first is closed', async () => {
    const inbox = await topic()
    const first = await subscribeRecording(bus, { group: 'g', topic: inbox })
    await expect(subscribeRecording(bus, { group: 'g', topic: inbox })).rejects.toThrow(
      `group g reads ${inbox} in this process already`,
    )
    const elsewhere = await subscribeRecording(bus, { group: 'g', topic: await topic() })
    await Promise.all([first.subscription.close(), elsewhere.subscription.close()])
    await (await subscribeRecording(bus, { group: 'g', topic: inbox })).subscription.close()
  })

  test('that write a record the bus refuses fail their subscription, with a line in the log', async () => {
    const [inbox, next] = [await topic(), await topic()]
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      step: (batch) => ({
        outputs: [record(next, 'a'), record(next, 'b', { partition: 7 })],
        commit: commitBehind(batch),
      }),
    })
    const failed = expect(recording.subscription.failed).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    await appendTexts(inbox, ['a'])
    await failed
    expect(await readAll(bus, next)).toEqual([])
    expect(warnings).toEqual(['a subscription failed and reads no more records'])
  })
})

describe('a disk that is full', () => {
  const big = (name: string, text: string) => ({
    ...record(name, text),
    value: Buffer.alloc(20_000, text),
  })

  test('rejects an append as retryable, and accepts it when there is room again', async () => {
    const inbox = await topic()
    await bus.append([big(inbox, 'a')])
    limitPages(1) // SQLite's meaning: no page more than now
    await expect(bus.append([big(inbox, 'b'), big(inbox, 'c')])).rejects.toMatchObject({
      code: 'bus.full',
      retryable: true,
    })
    await expect(bus.append([big(inbox, 'b')])).rejects.toThrow(
      `no space left to write ${join(folder, 'weir.sqlite')}`,
    )
    expect(await bus.ends(inbox)).toEqual([{ partition: 0, begin: 0, end: 1 }])
    limitPages(10_000)
    expect((await bus.append([big(inbox, 'd')])).map(({ offset }) => offset)).toEqual([1])
    expect((await readAll(bus, inbox)).map((each) => textOf(each)[0])).toEqual(['a', 'd'])
  })

  test('keeps a step and writes it once when there is room again, before later appends', async () => {
    const [inbox, next] = [await topic(), await topic()]
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      step(batch) {
        if (batch.some((input) => textOf(input) === '2')) limitPages(1)
        return {
          outputs: batch.map((input) => big(next, textOf(input))),
          commit: commitBehind(batch),
        }
      },
    })
    await appendTexts(inbox, ['1'])
    await until(
      'the first is acknowledged',
      () => recording.partitions.get(0)?.happenings.at(-1)?.what === 'acknowledged',
    )
    await appendTexts(inbox, ['2'])
    await settle()
    expect(clock.waiting()).toContain(200)
    const appending = bus.append([record(next, 'meanwhile')])
    clock.advance(200)
    expect(clock.waiting()).toContain(400)
    expect(recording.partitions.get(0)?.happenings.at(-1)?.what).toBe('read')
    limitPages(10_000)
    clock.advance(400)
    await appending
    expect((await readAll(bus, next)).map((each) => textOf(each).slice(0, 9))).toEqual([
      '111111111',
      '222222222',
      'meanwhile',
    ])
    expect(recording.values()).toEqual(['1', '2'])
    expect(recording.partitions.get(0)?.happenings.at(-1)?.what).toBe('acknowledged')
    await appendTexts(inbox, ['3'])
    await until('it goes on', () => recording.records.length === 3)
  })

  test('fails the subscription when it stays full, and no record is skipped or written twice', async () => {
    const [inbox, next] = [await topic(), await topic()]
    const options = {
      group: 'g',
      topic: inbox,
      step: (batch: { value: Uint8Array | null }[]) => ({
        outputs: batch.map((input) => big(next, textOf(input))),
        commit: { offset: recording.records.length, metadata: '' },
      }),
    }
    await appendTexts(inbox, ['1', '2'])
    limitPages(1)
    let recording = await subscribeRecording(bus, options)
    const failed = expect(recording.subscription.failed).rejects.toMatchObject({ code: 'bus.full' })
    await settle()
    const waits = [200, 400, 800, 1600].map((waitMs) => {
      const isWaiting = clock.waiting().includes(waitMs)
      clock.advance(waitMs)
      return isWaiting
    })
    await failed
    expect(waits).toEqual([true, true, true, true])
    expect(recording.partitions.get(0)?.happenings.map(({ what }) => what)).toEqual([
      'assigned',
      'read',
    ])
    await recording.subscription.close()
    limitPages(10_000)
    recording = await subscribeRecording(bus, options)
    await until('it is read again', () => recording.records.length === 2)
    await recording.subscription.close()
    expect((await readAll(bus, next)).map((each) => textOf(each)[0])).toEqual(['1', '2'])
  })

  test('voids records read ahead of the file with their outputs; an unread append fails at once', async () => {
    const [first, second, third] = [await topic(), await topic(), await topic()]
    let isFull = true
    const relay = (from: string, to: string) =>
      subscribeRecording(bus, {
        group: 'g',
        topic: from,
        step(batch) {
          limitPages(isFull ? 1 : 10_000)
          return {
            outputs: batch.map((input) => big(to, textOf(input))),
            commit: commitBehind(batch),
          }
        },
      })
    let readers = [await relay(first, second), await relay(second, third)]
    const failed = readers.map(({ subscription }) =>
      expect(subscription.failed).rejects.toMatchObject({ code: 'bus.full' }),
    )
    await appendTexts(first, ['1'])
    await settle()
    expect(readers.map(({ records }) => records.length)).toEqual([1, 1])
    expect([await readAll(bus, second), await readAll(bus, third)]).toEqual([[], []])
    for (const waitMs of [200, 400, 800, 1600]) clock.advance(waitMs)
    await Promise.all(failed)
    await expect(bus.append([big(first, '2')])).rejects.toMatchObject({ code: 'bus.full' })
    for (const { subscription, partitions } of readers) {
      expect(partitions.get(0)?.happenings.map(({ what }) => what)).toEqual(['assigned', 'read'])
      await subscription.close()
    }
    isFull = false
    limitPages(10_000)
    await appendTexts(first, ['3'])
    readers = [await relay(first, second), await relay(second, third)]
    await until('it has gone through', async () => (await readAll(bus, third)).length === 2)
    for (const name of [first, second, third])
      expect((await readAll(bus, name)).map((each) => [each.offset, textOf(each)[0]])).toEqual([
        [0, '1'],
        [1, '3'],
      ])
  })

  test('is waited out by a patient append as long as by a step; its error is then not retryable', async () => {
    const inbox = await topic()
    limitPages(1)
    const written = bus.append([big(inbox, '1')], { patient: true })
    await settle()
    expect(clock.waiting()).toContain(200)
    limitPages(10_000)
    clock.advance(200)
    expect(await written).toMatchObject([{ partition: 0, offset: 0 }])
    limitPages(1)
    const refused = expect(bus.append([big(inbox, '2')], { patient: true })).rejects.toMatchObject({
      code: 'bus.full',
      retryable: false,
    })
    await settle()
    for (const waitMs of [200, 400, 800, 1600]) clock.advance(waitMs)
    await refused
  })

  test('can be closed: unwritten appends are rejected', async () => {
    const inbox = await topic()
    limitPages(1)
    const appending = expect(bus.append([big(inbox, 'a')])).rejects.toMatchObject({
      code: 'bus.full',
    })
    await bus.close()
    await appending
  })
})

describe('a lock that another program holds on the file', () => {
  test('is waited out by a step, and fails its subscription after five tries', async () => {
    const [inbox, next] = [await topic(), await topic()]
    const holder = new DatabaseSync(join(folder, 'weir.sqlite'))
    withoutBusyWait()
    const { subscription } = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      step(batch) {
        holder.exec('BEGIN IMMEDIATE')
        return {
          outputs: batch.map((input) => record(next, textOf(input))),
          commit: commitBehind(batch),
        }
      },
    })
    const failed = expect(subscription.failed).rejects.toMatchObject({
      code: 'bus.unwritable',
      message: expect.stringContaining('another program holds a lock on'),
    })
    const tryAgain = (waitMs: number) => {
      expect(clock.waiting()).toContain(waitMs)
      clock.advance(waitMs)
    }
    try {
      await appendTexts(inbox, ['1'])
      await settle()
      for (const waitMs of [200, 400, 800]) tryAgain(waitMs)
      holder.exec('ROLLBACK')
      tryAgain(1600)
      expect((await readAll(bus, next)).map(textOf)).toEqual(['1'])
      await appendTexts(inbox, ['2'])
      await settle()
      for (const waitMs of [200, 400, 800, 1600]) tryAgain(waitMs)
      await failed
      expect((await readAll(bus, next)).map(textOf)).toEqual(['1'])
    } finally {
      holder.close()
    }
  })
})

describe('a file that is removed or replaced under its writer', () => {
  const lost = {
    code: 'bus.unwritable',
    retryable: false,
    message: expect.stringContaining('was removed or replaced while this process wrote it'),
  }

  test.each([
    ['removed', (file: string) => rmSync(file)],
    ['replaced', (file: string) => replaceWithCopy(file)],
  ])('refuses all further writes of a file that was %s', async (_, lose) => {
    const inbox = await topic()
    await appendTexts(inbox, ['kept'])
    lose(join(folder, 'weir.sqlite'))
    clock.advance(1000)
    await expect(appendTexts(inbox, ['lost'])).rejects.toMatchObject(lost)
    await expect(appendTexts(inbox, ['lost as well'])).rejects.toMatchObject(lost)
    expect(await bus.ends(inbox)).toEqual([{ partition: 0, begin: 0, end: 1 }])
  })

  test('refuses also when the file comes back, because records may be missing in it', async () => {
    const inbox = await topic()
    const file = join(folder, 'weir.sqlite')
    renameSync(file, `${file}.moved`)
    clock.advance(1000)
    await expect(appendTexts(inbox, ['lost'])).rejects.toMatchObject(lost)
    renameSync(`${file}.moved`, file)
    clock.advance(1000)
    await expect(appendTexts(inbox, ['late'])).rejects.toMatchObject(lost)
  })

  test('fails a subscription whose outputs it cannot keep', async () => {
    const [inbox, next] = [await topic(), await topic()]
    await appendTexts(inbox, ['read'])
    rmSync(join(folder, 'weir.sqlite'))
    clock.advance(1000)
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: inbox,
      step: (batch) => ({
        outputs: batch.map((input) => record(next, textOf(input))),
        commit: commitBehind(batch),
      }),
    })
    const failed = expect(recording.subscription.failed).rejects.toMatchObject(lost)
    await settle()
    for (const waitMs of [200, 400, 800, 1600]) clock.advance(waitMs)
    await failed
    expect(await readAll(bus, next)).toEqual([])
  })
})

/** The same bytes under the same name, in another file. */
function replaceWithCopy(file: string): void {
  copyFileSync(file, `${file}.copy`)
  renameSync(`${file}.copy`, file)
}

describe('a small table', () => {
  test('returns its newest records, also when it is read often between writes', async () => {
    const name = await topic({ kind: 'table' })
    const table = { topic: name, partition: 0 }
    const texts = async (prefix: string) =>
      (await bus.list({ ...table, prefix })).map((one) => [one.key, textOf(one)])
    const get = async (key: string) => {
      const found = await bus.get({ ...table, key, waitMs: 0 })
      return found && textOf(found)
    }
    const write = (key: string, text: string | null) =>
      bus.append([{ ...table, key, value: text === null ? null : Buffer.from(text) }])
    await write('b/1', 'one')
    await write('a/1', 'first')
    for (const _ of [1, 2, 3]) {
      expect(await texts('')).toEqual([
        ['a/1', 'first'],
        ['b/1', 'one'],
      ])
      expect(await texts('b/')).toEqual([['b/1', 'one']])
      expect(await get('b/2')).toBeUndefined()
    }
    await write('b/2', 'two')
    await write('b/1', 'newer')
    await write('a/1', null)
    for (const _ of [1, 2, 3]) {
      expect(await texts('')).toEqual([
        ['b/1', 'newer'],
        ['b/2', 'two'],
      ])
      expect(await get('a/1')).toBeUndefined()
      expect(await get('b/1')).toBe('newer')
    }
  })

  test('stays in memory between writes only if its records are small', async () => {
    const isKept = async (bytes: number) => {
      const table = { topic: await topic({ kind: 'table' }), partition: 0 }
      await bus.append([{ ...table, key: 'a', value: new Uint8Array(bytes) }])
      const read = async () => (await bus.list({ ...table, prefix: '' }))[0]?.value
      await read()
      const before = await read()
      return (await read()) === before
    }
    expect(await isKept(1_000)).toBe(true)
    expect(await isKept(2 * 1024 * 1024)).toBe(false)
  })
})

describe('the queue', () => {
  test('refuses more than its bytes, as retryable, until earlier appends are written', async () => {
    await reopen({ queueBytesMax: 1000 })
    const inbox = await topic()
    const some = { ...record(inbox, ''), value: new Uint8Array(600) }
    const first = bus.append([some])
    await expect(bus.append([some])).rejects.toMatchObject({ code: 'bus.full', retryable: true })
    await first
    await bus.append([some])
    await bus.append([{ ...some, value: new Uint8Array(5000) }]) // a single one may be longer
    expect(await readAll(bus, inbox)).toHaveLength(3)
  })

  test('is written in order also when it takes several transactions', async () => {
    const inbox = await topic()
    const calls = Array.from({ length: 12 }, (_, call) =>
      Array.from({ length: 1000 }, (_, n) => record(inbox, `${call * 1000 + n}`)),
    )
    await Promise.all(calls.map((records) => bus.append(records)))
    expect((await readAll(bus, inbox)).map(textOf)).toEqual(calls.flat().map(textOf))
  })
})

describe('time', () => {
  test('stands still while the clock is behind, also after reopening', async () => {
    const inbox = await topic({ partitions: 2 })
    const start = clock.now()
    await appendTexts(inbox, ['a'], 0)
    clock.setWall(start - hourMs)
    await appendTexts(inbox, ['b'], 1)
    await reopen()
    await appendTexts(inbox, ['c'], 0)
    clock.setWall(start + 5)
    await appendTexts(inbox, ['d'], 0)
    expect((await readAll(bus, inbox, 0)).map(({ time }) => time - start)).toEqual([0, 0, 5])
    expect((await readAll(bus, inbox, 1)).map(({ time }) => time - start)).toEqual([0])
  })
})

describe('retention', () => {
  /** Advances an hour, so retention has run. */
  async function anHour(): Promise<void> {
    clock.advance(hourMs)
    for (let turn = 0; turn < 5; turn += 1) await settle()
  }

  const begins = async (name: string) => (await bus.ends(name)).map(({ begin }) => begin)

  test('deletes old records from the front of a log, and skips topics without a limit', async () => {
    const [short, endless] = [
      await topic({ retentionMs: 2 * hourMs, partitions: 2 }),
      await topic(),
    ]
    for (const name of [short, endless]) await appendTexts(name, ['a', 'b'])
    await anHour()
    await appendTexts(short, ['c'])
    await anHour()
    expect(await begins(short)).toEqual([0, 0])
    await anHour()
    expect(await begins(short)).toEqual([2, 0])
    expect(await begins(endless)).toEqual([0])
    expect(
      (await bus.read({ topic: short, partition: 0, from: 0, limit: 10 })).map(textOf),
    ).toEqual(['c'])
  })

  test('deletes a long log stretch by stretch', async () => {
    const name = await topic({ retentionMs: hourMs })
    const texts = Array.from({ length: 7000 }, (_, n) => `${n}`)
    await appendTexts(name, texts)
    await anHour()
    await appendTexts(name, ['young'])
    await anHour()
    await until('all stretches are deleted', async () => (await begins(name))[0] === 7000)
  })

  test('reuses no offset and no earlier time after everything was deleted', async () => {
    const name = await topic({ retentionMs: hourMs })
    await appendTexts(name, ['a', 'b'])
    const start = clock.now()
    await anHour()
    await anHour()
    expect(await bus.ends(name)).toEqual([{ partition: 0, begin: 2, end: 2 }])
    clock.setWall(start - hourMs)
    await reopen()
    expect(await bus.ends(name)).toEqual([{ partition: 0, begin: 2, end: 2 }])
    const [appended] = await bus.append([record(name, 'c')])
    expect(appended).toEqual({ partition: 0, offset: 2, time: start })
  })

  test('keeps records that a reader of this process may still have to fold', async () => {
    const keepFrom = ({ metadata }: { metadata: string }) => JSON.parse(metadata).from
    await reopen({ keepFrom })
    const name = await topic({ retentionMs: hourMs, partitions: 2 })
    const commit = { offset: 4, metadata: JSON.stringify({ from: 1 }) }
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: name,
      step: (_, { ends }) => ({ outputs: [], commit: ends.partition === 0 ? commit : undefined }),
    })
    await appendTexts(name, ['a', 'b', 'c', 'd'], 0)
    await appendTexts(name, ['without a commit'], 1)
    await until('all is read', () => recording.records.length === 5)
    await anHour()
    await anHour()
    await anHour()
    expect(await begins(name)).toEqual([1, 0])
  })

  test('keeps records that an absent group may still have to fold, after a stop of any length', async () => {
    const name = await topic({ retentionMs: 2 * hourMs })
    await appendTexts(name, ['a', 'b'])
    const recording = await subscribeRecording(bus, {
      group: 'g',
      topic: name,
      step: () => ({ outputs: [], commit: { offset: 1, metadata: '' } }),
    })
    await until(
      'it is committed',
      () => recording.partitions.get(0)?.happenings.at(-1)?.what === 'acknowledged',
    )
    await recording.subscription.close()
    await bus.close()
    clock.advance(1000 * hourMs)
    await open()
    await anHour()
    expect(await begins(name)).toEqual([1])
    await appendTexts(name, ['c']) // others go on: from here the group is away for too long
    await anHour()
    expect(await begins(name)).toEqual([2])
  })

  test('deletes only replaced records and tombstones from a table', async () => {
    const name = await topic({ kind: 'table', retentionMs: hourMs })
    const put = (key: string, text: string | null) =>
      bus.append([
        { ...record(name, text ?? '', { key }), ...(text === null ? { value: null } : {}) },
      ])
    await put('a', '1')
    await put('b', '2')
    await put('a', '3')
    await put('b', null)
    const before = await bus.list({ topic: name, partition: 0, prefix: '' })
    await anHour()
    await anHour()
    expect(await bus.list({ topic: name, partition: 0, prefix: '' })).toEqual(before)
    expect((await readAll(bus, name)).map((each) => [each.offset, each.key, textOf(each)])).toEqual(
      [[2, 'a', '3']],
    )
    await reopen()
    expect(await bus.ends(name)).toEqual([{ partition: 0, begin: 0, end: 4 }])
    expect(await put('c', '4')).toMatchObject([{ offset: 4 }])
  })

  test('runs at the end of a process in which it has not run, so a briefly used file stays small', async () => {
    const name = await topic({ retentionMs: hourMs, partitions: 2 })
    await appendTexts(name, ['a', 'b'], 0)
    await appendTexts(name, ['c'], 1)
    await bus.close()
    clock.advance(2 * hourMs)
    await open()
    expect(await begins(name)).toEqual([0, 0])
    await reopen()
    expect(await begins(name)).toEqual([2, 1])
  })

  test('applies a new limit to an existing topic', async () => {
    const name = await topic()
    await appendTexts(name, ['a'])
    await anHour()
    await bus.ensureTopics([{ name, kind: 'log', partitions: 1, retentionMs: hourMs }])
    await reopen()
    await anHour()
    expect(await begins(name)).toEqual([1])
  })
})
