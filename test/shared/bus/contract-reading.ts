// The part of the bus contract about reads outside of stages: following a topic, and tables.
// contract.ts runs it.

import { expect, test } from '@jest/globals'

import { type ContractOptions, collect, readAll, record, type World } from './contract-world.ts'
import { bytesOf, textOf, until } from './recording-readers.ts'

export function followContract(world: World): void {
  test('returns existing and then new records, in order and once, until it is aborted', async () => {
    const topic = await world.topic('log')
    await world.appendTexts(topic, ['a', 'b', 'c'])
    const stop = new AbortController()
    const seen: string[] = []
    const following = collect(
      world.bus.follow({ topic, partition: 0, from: 1, signal: stop.signal }),
      seen,
    )
    await until('what was there is read', () => seen.length === 2)
    await world.appendTexts(topic, ['d'])
    await until('the next is read', () => seen.length === 3)
    await world.appendTexts(topic, ['e'])
    await until('the last is read', () => seen.length === 4)
    stop.abort()
    await following
    expect(seen).toEqual(['b', 'c', 'd', 'e'])
  })

  test('ends without an error when it is aborted while it waits, or before it begins', async () => {
    const topic = await world.topic('log')
    const stop = new AbortController()
    const following = collect(
      world.bus.follow({ topic, partition: 0, from: 0, signal: stop.signal }),
      [],
    )
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await following
    await collect(world.bus.follow({ topic, partition: 0, from: 0, signal: stop.signal }), [])
  })

  test('lets several readers follow one partition, each from its own offset', async () => {
    const topic = await world.topic('log')
    await world.appendTexts(topic, ['a', 'b'])
    const stop = new AbortController()
    const seen: string[][] = [[], []]
    const following = [0, 2].map((from, n) =>
      collect(world.bus.follow({ topic, partition: 0, from, signal: stop.signal }), seen[n]!),
    )
    await world.appendTexts(topic, ['c', 'd'])
    await until('both have read all', () => seen[0]?.length === 4 && seen[1]?.length === 2)
    stop.abort()
    await Promise.all(following)
    expect(seen).toEqual([
      ['a', 'b', 'c', 'd'],
      ['c', 'd'],
    ])
  })

  test('ends with bus.closed when the bus is closed', async () => {
    const topic = await world.topic('log')
    const following = collect(
      world.bus.follow({ topic, partition: 0, from: 0, signal: new AbortController().signal }),
      [],
    )
    const failed = expect(following).rejects.toMatchObject({ code: 'bus.closed' })
    await new Promise((resolve) => setImmediate(resolve))
    await world.bus.close()
    await failed
  })
}

export function tableContract(world: World, { keeps }: ContractOptions): void {
  const entry = (conversation: string, turn: number, round: number) =>
    JSON.stringify([conversation, turn, round])

  async function put(
    topic: string,
    entries: Record<string, string | null>,
    partition = 0,
  ): Promise<void> {
    const records = Object.entries(entries).map(([key, text]) => ({
      topic,
      partition,
      key,
      value: text === null ? null : bytesOf(text),
    }))
    await world.bus.append(records)
  }

  async function list(topic: string, prefix: string, partition = 0): Promise<string[]> {
    return (await world.bus.list({ topic, partition, prefix })).map(
      (each) => `${each.key}=${textOf(each)}`,
    )
  }

  test('lists the newest value of each key, in key order', async () => {
    const topic = await world.topic('table')
    await put(topic, { b: '1', a: '2', c: '3' })
    await put(topic, { b: '4' })
    expect(await list(topic, '')).toEqual(['a=2', 'b=4', 'c=3'])
  })

  test('lists the keys of one conversation by their prefix, and no others', async () => {
    const topic = await world.topic('table', 2)
    await put(topic, {
      [entry('a', 1, 0)]: 'hi',
      [entry('a', 1, 2)]: 'two',
      [entry('a', 1, 1)]: 'one',
      [entry('a"b', 1, 0)]: 'no',
    })
    await put(topic, { [entry('aa', 1, 0)]: 'no', [entry('', 1, 0)]: 'no', a: 'no' })
    await put(topic, { [entry('a', 9, 9)]: 'elsewhere' }, 1)
    expect(await list(topic, '["a",')).toEqual(['["a",1,0]=hi', '["a",1,1]=one', '["a",1,2]=two'])
    expect(await list(topic, '["nobody",')).toEqual([])
  })

  test('leaves out keys whose newest record is a tombstone, until they are set again', async () => {
    const topic = await world.topic('table')
    await put(topic, { a: '1', b: '2' })
    await put(topic, { a: null })
    expect(await list(topic, '')).toEqual(['b=2'])
    expect(await world.bus.get({ topic, partition: 0, key: 'a', waitMs: 0 })).toBeUndefined()
    await put(topic, { a: '3' })
    expect(await list(topic, '')).toEqual(['a=3', 'b=2'])
  })

  test('returns the keys of a table in pages, in order, with offset and time of the newest record', async () => {
    const topic = await world.topic('table', 2)
    await put(topic, {
      [entry('b', 1, 0)]: '1',
      [entry('a', 10, 0)]: '2',
      [entry('a', 9, 0)]: '3',
      [entry('é', 1, 0)]: '4',
      '': '5',
    })
    await put(topic, { [entry('z', 1, 0)]: 'elsewhere' }, 1)
    const [newest] = await world.bus.append([record(topic, '6', { key: entry('b', 1, 0) })])

    const all = await world.bus.keys({ topic, partition: 0, limit: 100 })
    expect(all.map(({ key }) => key).sort()).toEqual(
      ['', entry('a', 10, 0), entry('a', 9, 0), entry('b', 1, 0), entry('é', 1, 0)].sort(),
    )
    expect(Object.keys(all[0] ?? {}).sort()).toEqual(['key', 'offset', 'time'])
    expect(all.find(({ key }) => key === entry('b', 1, 0))).toEqual({
      key: entry('b', 1, 0),
      offset: newest?.offset,
      time: newest?.time,
    })
    expect(
      all.map(({ key }) => key.startsWith('["a",')).lastIndexOf(true) -
        all.findIndex(({ key }) => key.startsWith('["a",')),
    ).toBe(1)

    const paged: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await world.bus.keys({ topic, partition: 0, after, limit: 2 })
      paged.push(...page.map(({ key }) => key))
      if (page.length < 2) break
      after = page.at(-1)?.key
    }
    expect(paged).toEqual(all.map(({ key }) => key))
    expect(await world.bus.keys({ topic, partition: 0, after: paged.at(-1), limit: 2 })).toEqual([])
  })

  test('leaves tombstones out of the keys and their count, and continues after a deleted key', async () => {
    const topic = await world.topic('table')
    await put(topic, { a: '1', b: '2', c: '3', d: '4', e: '5' })
    await put(topic, { b: null, c: null })
    const keys = async (after: string | undefined, limit: number) =>
      (await world.bus.keys({ topic, partition: 0, after, limit })).map(({ key }) => key)
    expect(await keys(undefined, 2)).toEqual(['a', 'd'])
    expect(await keys('c', 2)).toEqual(['d', 'e'])
    await put(topic, { b: '6' })
    expect(await keys('a', 9)).toEqual(['b', 'd', 'e'])
  })

  test('gets the newest value of a key as it was stored', async () => {
    const topic = await world.topic('table')
    await put(topic, { a: '1' })
    const [appended] = await world.bus.append([record(topic, '2', { key: 'a' })])
    const found = await world.bus.get({ topic, partition: 0, key: 'a', waitMs: 0 })
    expect(found).toMatchObject({ topic, key: 'a', ...appended })
    expect(found === undefined ? undefined : textOf(found)).toBe('2')
  })

  test('gets nothing for a key that was never set, at once or after the wait', async () => {
    const topic = await world.topic('table')
    await put(topic, { b: '1' })
    expect(await world.bus.get({ topic, partition: 0, key: 'a', waitMs: 0 })).toBeUndefined()
    expect(await world.bus.get({ topic, partition: 0, key: 'a', waitMs: 30 })).toBeUndefined()
  })

  test('gets a value that arrives while it waits, and ignores other keys and tombstones', async () => {
    const topic = await world.topic('table')
    const getting = world.bus.get({ topic, partition: 0, key: 'a', waitMs: 20_000 })
    await put(topic, { b: '1' })
    await put(topic, { a: null })
    await put(topic, { a: '2' })
    const found = await getting
    expect(found === undefined ? undefined : textOf(found)).toBe('2')
  })

  test('is a topic like others: a tombstone is read as null', async () => {
    const topic = await world.topic('table')
    await put(topic, { a: '1' })
    await put(topic, { a: null })
    const newest = (await readAll(world.bus, topic)).at(-1)
    expect(newest).toMatchObject({ offset: 1, key: 'a', value: null })
  })

  test('has no newest value of a key in a log', async () => {
    const topic = await world.topic('log')
    await expect(world.bus.list({ topic, partition: 0, prefix: '' })).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    await expect(world.bus.keys({ topic, partition: 0, limit: 1 })).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    await expect(world.bus.get({ topic, partition: 0, key: 'a', waitMs: 0 })).rejects.toMatchObject(
      { code: 'bus.topic-differs' },
    )
  })

  if (keeps) {
    test('keeps a table when the bus is reopened', async () => {
      const topic = await world.topic('table')
      await put(topic, { a: '1', b: '2', c: '3' })
      await put(topic, { a: '4', b: null })
      await world.reopen()
      expect(await list(topic, '')).toEqual(['a=4', 'c=3'])
    })
  }
}
