// The contract of every bus: port.ts as tests. The embedded bus and Kafka pass the same suite, so
// it assumes only the port. Partitions may be assigned after subscribe() resolves, batches may have
// any size, and deliveries may repeat within BUS-3.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

import type { Appended } from '../../../shared/contract/bus.ts'
import { followContract, tableContract } from './contract-reading.ts'
import { subscriptionContract } from './contract-subscriptions.ts'
import {
  type ContractOptions,
  firstOf,
  newName,
  type OpenedBus,
  readAll,
  record,
  type World,
} from './contract-world.ts'
import { textOf } from './recording-readers.ts'

/**
 * Declares the suite for one bus. `keeps: false`: its storage does not survive a reopening, and
 * those tests are left out.
 */
export function busContract(
  name: string,
  open: () => Promise<OpenedBus>,
  { keeps }: ContractOptions = { keeps: true },
): void {
  describe(`the bus contract: ${name}`, () => {
    const world = {} as World
    let opened: OpenedBus

    beforeEach(async () => {
      opened = await open()
      world.bus = opened.bus
      world.reopen = async () => {
        if (opened.reopen === undefined)
          throw new Error('this bus keeps nothing; leave the test out')
        world.bus = await opened.reopen()
        return world.bus
      }
      world.topic = async (kind, partitions = 1) => {
        const topic = newName(kind)
        await world.bus.ensureTopics([{ name: topic, kind, partitions }])
        return topic
      }
      world.appendTexts = async (topic, texts, partition = 0) => {
        await world.bus.append(texts.map((text) => record(topic, text, { partition })))
      }
    })
    afterEach(() => opened.dispose())

    describe('topics', () => topicContract(world))
    describe('append and read', () => appendContract(world, { keeps }))
    describe('follow', () => followContract(world))
    describe('tables', () => tableContract(world, { keeps }))
    describe('subscribe', () => subscriptionContract(world, { keeps }))
    describe('close', () => closeContract(world, { keeps }))
  })
}

function topicContract(world: World): void {
  test('creates a topic with its partitions, all of them empty', async () => {
    const topic = await world.topic('log', 3)
    expect(await world.bus.ends(topic)).toEqual(
      [0, 1, 2].map((partition) => ({ partition, begin: 0, end: 0 })),
    )
  })

  test('leaves a topic as it is when it is ensured again, alone or among new ones', async () => {
    const topic = await world.topic('log', 2)
    await world.appendTexts(topic, ['here'])
    await world.bus.ensureTopics([
      { name: topic, kind: 'log', partitions: 2 },
      { name: newName('log'), kind: 'log', partitions: 1 },
    ])
    expect((await readAll(world.bus, topic)).map(textOf)).toEqual(['here'])
  })

  test('refuses another partition count', async () => {
    const topic = await world.topic('log', 2)
    await expect(
      world.bus.ensureTopics([{ name: topic, kind: 'log', partitions: 3 }]),
    ).rejects.toMatchObject({ code: 'bus.topic-differs' })
  })

  test('refuses another kind', async () => {
    const topic = await world.topic('log')
    await expect(
      world.bus.ensureTopics([{ name: topic, kind: 'table', partitions: 1 }]),
    ).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
  })

  test('reports a missing topic in every call', async () => {
    const topic = newName('missing')
    const missing = { code: 'bus.topic-missing' }
    const signal = new AbortController().signal
    const assign = () => Promise.reject(new Error('must not be called'))
    await expect(world.bus.append([record(topic, 'a')])).rejects.toMatchObject(missing)
    await expect(world.bus.ends(topic)).rejects.toMatchObject(missing)
    await expect(world.bus.read({ topic, partition: 0, from: 0, limit: 1 })).rejects.toMatchObject(
      missing,
    )
    await expect(
      firstOf(world.bus.follow({ topic, partition: 0, from: 0, signal })),
    ).rejects.toMatchObject(missing)
    await expect(
      world.bus.subscribe({ group: newName('group'), topic, assign }),
    ).rejects.toMatchObject(missing)
  })
}

function appendContract(world: World, { keeps }: ContractOptions): void {
  test('assigns offsets without gaps, in the order of the call', async () => {
    const topic = await world.topic('log')
    const appended = await world.bus.append(['a', 'b', 'c'].map((text) => record(topic, text)))
    expect(appended.map(({ offset }) => offset)).toEqual([0, 1, 2])
    expect((await readAll(world.bus, topic)).map(textOf)).toEqual(['a', 'b', 'c'])
    expect(await world.bus.ends(topic)).toEqual([{ partition: 0, begin: 0, end: 3 }])
  })

  test('returns places in the order of the records, also across topics and partitions', async () => {
    const [one, two] = [await world.topic('log', 2), await world.topic('log', 2)]
    const appended = await world.bus.append([
      record(one, 'a', { partition: 1 }),
      record(two, 'b', { partition: 0 }),
      record(one, 'c', { partition: 0 }),
      record(one, 'd', { partition: 1 }),
    ])
    expect(appended.map(({ partition, offset }) => [partition, offset])).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [1, 1],
    ])
    expect((await readAll(world.bus, one, 1)).map(textOf)).toEqual(['a', 'd'])
  })

  test('keeps the order of calls that are not awaited', async () => {
    const topic = await world.topic('log')
    const texts = Array.from({ length: 50 }, (_, n) => `${n}`)
    await Promise.all(texts.map((text) => world.bus.append([record(topic, text)])))
    expect((await readAll(world.bus, topic)).map(textOf)).toEqual(texts)
  })

  test('accepts an empty list', async () => expect(await world.bus.append([])).toEqual([]))

  test('stamps its own time, the same for writer and reader, and never goes back in a partition', async () => {
    const topic = await world.topic('log')
    const appended: Appended[] = []
    for (const text of ['a', 'b', 'c'])
      appended.push(...(await world.bus.append([record(topic, text)])))
    const times = (await readAll(world.bus, topic)).map(({ time }) => time)
    expect(appended.map(({ time }) => time)).toEqual(times)
    expect(times.toSorted((a, b) => a - b)).toEqual(times)
    expect(
      times.every((time) => Number.isInteger(time) && Math.abs(time - Date.now()) < 3_600_000),
    ).toBe(true)
  })

  test('returns key, value and id as written', async () => {
    const topic = await world.topic('log')
    const value = Uint8Array.from({ length: 256 }, (_, n) => n)
    const id = 'validator/3/12345/0'
    await world.bus.append([
      { topic, partition: 0, key: 'gespräch "1" 🪣', value, id },
      record(topic, 'observed'),
    ])
    const [derived, observed] = await readAll(world.bus, topic)
    expect(derived).toMatchObject({ topic, partition: 0, offset: 0, key: 'gespräch "1" 🪣', id })
    expect(new Uint8Array(derived?.value ?? [])).toEqual(value)
    expect(observed?.id).toBeUndefined()
  })

  test('accepts an empty value, which is not a tombstone', async () => {
    const topic = await world.topic('log')
    await world.bus.append([{ topic, partition: 0, key: 'k', value: new Uint8Array(0) }])
    expect((await readAll(world.bus, topic)).map(({ value }) => value?.byteLength)).toEqual([0])
  })

  test('accepts a value of the maximum size', async () => {
    const topic = await world.topic('log')
    await world.bus.append([
      { topic, partition: 0, key: 'k', value: new Uint8Array(world.bus.recordBytesMax) },
    ])
    expect((await readAll(world.bus, topic)).map(({ value }) => value?.byteLength)).toEqual([
      world.bus.recordBytesMax,
    ])
  })

  test('refuses a larger value before it writes any record of that call', async () => {
    const topic = await world.topic('log')
    const tooLarge = {
      topic,
      partition: 0,
      key: 'k',
      value: new Uint8Array(world.bus.recordBytesMax + 1),
    }
    await expect(world.bus.append([record(topic, 'before'), tooLarge])).rejects.toMatchObject({
      code: 'bus.record-too-large',
    })
    await world.appendTexts(topic, ['after'])
    expect((await readAll(world.bus, topic)).map(textOf)).toEqual(['after'])
  })

  test('refuses a tombstone in a log, and a partition that does not exist', async () => {
    const topic = await world.topic('log', 2)
    await expect(
      world.bus.append([{ topic, partition: 0, key: 'k', value: null }]),
    ).rejects.toMatchObject({ code: 'bus.topic-differs' })
    await expect(world.bus.append([record(topic, 'a', { partition: 2 })])).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    expect((await world.bus.ends(topic)).map(({ end }) => end)).toEqual([0, 0])
  })

  test('reads from an offset up to but not including another, within the limit', async () => {
    const topic = await world.topic('log', 2)
    await world.appendTexts(topic, ['a', 'b', 'c', 'd', 'e'])
    await world.appendTexts(topic, ['elsewhere'], 1)
    const read = async (range: { from: number; to?: number; limit: number }) =>
      (await world.bus.read({ topic, partition: 0, ...range })).map(textOf)
    expect(await read({ from: 1, limit: 10 })).toEqual(['b', 'c', 'd', 'e'])
    expect(await read({ from: 1, to: 3, limit: 10 })).toEqual(['b', 'c'])
    expect(await read({ from: 1, to: 4, limit: 2 })).toEqual(['b', 'c'])
    expect(await read({ from: 3, to: 3, limit: 10 })).toEqual([])
    expect(await read({ from: 5, limit: 10 })).toEqual([])
    expect(await read({ from: 500, limit: 10 })).toEqual([])
  })

  test('returns as many records as requested, if there are that many', async () => {
    const topic = await world.topic('log')
    await world.appendTexts(
      topic,
      Array.from({ length: 3000 }, (_, n) => `${n}`),
    )
    expect(await world.bus.read({ topic, partition: 0, from: 0, limit: 2999 })).toHaveLength(2999)
  })

  if (keeps) {
    test('keeps records, offsets and times when the bus is reopened, and continues after them', async () => {
      const topic = await world.topic('log', 2)
      await world.appendTexts(topic, ['a', 'b'], 1)
      const before = await readAll(world.bus, topic, 1)
      await world.reopen()
      await world.appendTexts(topic, ['c'], 1)
      const after = await readAll(world.bus, topic, 1)
      expect(after.slice(0, 2)).toEqual(before)
      expect(after.map(textOf)).toEqual(['a', 'b', 'c'])
      expect(after[2]?.offset).toBe(2)
    })
  }
}

function closeContract(world: World, { keeps }: ContractOptions): void {
  test('refuses later calls with bus.closed', async () => {
    const topic = await world.topic('table')
    const { bus } = world
    await bus.close()
    const closed = { code: 'bus.closed' }
    const signal = new AbortController().signal
    const assign = () => Promise.reject(new Error('must not be called'))
    await expect(
      bus.ensureTopics([{ name: topic, kind: 'table', partitions: 1 }]),
    ).rejects.toMatchObject(closed)
    await expect(bus.append([record(topic, 'a')])).rejects.toMatchObject(closed)
    await expect(bus.ends(topic)).rejects.toMatchObject(closed)
    await expect(bus.read({ topic, partition: 0, from: 0, limit: 1 })).rejects.toMatchObject(closed)
    await expect(
      firstOf(bus.follow({ topic, partition: 0, from: 0, signal })),
    ).rejects.toMatchObject(closed)
    await expect(bus.list({ topic, partition: 0, prefix: '' })).rejects.toMatchObject(closed)
    await expect(bus.get({ topic, partition: 0, key: 'a', waitMs: 0 })).rejects.toMatchObject(
      closed,
    )
    await expect(bus.subscribe({ group: newName('group'), topic, assign })).rejects.toMatchObject(
      closed,
    )
  })

  test('may be closed twice', async () => {
    await Promise.all([world.bus.close(), world.bus.close()])
    await world.bus.close()
  })

  test('ends a get that waits', async () => {
    const topic = await world.topic('table')
    const getting = world.bus.get({ topic, partition: 0, key: 'a', waitMs: 20_000 })
    const failed = expect(getting).rejects.toMatchObject({ code: 'bus.closed' })
    await new Promise((resolve) => setImmediate(resolve))
    await world.bus.close()
    await failed
  })

  test('settles every append', async () => {
    const topic = await world.topic('log')
    const appending = [
      world.bus.append([record(topic, 'a')]),
      world.bus.append([record(topic, 'b')]),
    ]
    await world.bus.close()
    const answers = await Promise.allSettled(appending)
    if (!keeps) return
    const written = answers.filter(({ status }) => status === 'fulfilled').length
    await world.reopen()
    expect((await readAll(world.bus, topic)).length).toBeGreaterThanOrEqual(written)
  })
}
