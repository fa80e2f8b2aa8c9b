import { beforeEach, describe, expect, it } from '@jest/globals'
import { encode } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import type { HistoryEntry, Origin } from '../../../shared/contract/messages.ts'
import type { HistoryPlace } from '../../../shared/contract/performer.ts'
import { historyKey, originKey } from '../../../shared/contract/topology.ts'
import { historyReader } from '../../../shared/runtime/history-reader.ts'

let table: Map<string, StoredRecord>
let reads: string[]

beforeEach(() => {
  table = new Map()
  reads = []
})

function put(
  turn: number,
  round: number,
  text = `${turn}/${round}`,
  conversation = 'c',
  afterTurn: number | null = null,
): void {
  const at = { conversation, turn, round }
  const entry: HistoryEntry = {
    type: 'history-entry',
    redact: [],
    ...at,
    user: text,
    response: null,
    results: [],
    contents: [],
    afterTurn,
    nudge: null,
    note: null,
  }
  const place = { topic: 'history', partition: 0, offset: table.size, time: 0, id: undefined }
  table.set(historyKey(at), { ...place, key: historyKey(at), value: encode(entry) })
}

function fork(conversation: string, ...origins: Origin[]): void {
  const key = originKey(conversation)
  const message = { type: 'conversation-forked', conversation, origins } as const
  const place = { topic: 'history', partition: 0, offset: table.size, time: 0, id: undefined }
  table.set(key, { ...place, key, value: encode(message) })
}

function reader(bytesMax = 1_000_000, newestBytesMax?: number) {
  const bus: Pick<Bus, 'list' | 'get' | 'keys'> = {
    async keys({ after = '', limit }) {
      reads.push('keys')
      const keys = [...table.keys()].filter((key) => key > after).sort()
      return keys.slice(0, limit).map((key) => ({ key, offset: 0, time: 0 }))
    },
    async list({ prefix }) {
      reads.push('list')
      return [...table.values()].filter(
        ({ key, value }) => key.startsWith(prefix) && value !== null,
      )
    },
    async get({ key }) {
      reads.push(`get ${key}`)
      return table.get(key)
    },
  }
  const read = historyReader({
    bus: bus as Bus,
    topic: 'history',
    partition: 0,
    bytesMax,
    ...(newestBytesMax !== undefined && { newestBytesMax }),
  })
  return async (turn: number, round: number, conversation = 'c', after?: HistoryPlace) =>
    (await read({ conversation, turn, round }, 0, async () => after))?.map(({ user }) => user)
}

describe('a history', () => {
  it('is first read as a whole, in order, up to the requested entry', async () => {
    for (const [turn, round] of [
      [7, 1],
      [0, 1],
      [0, 0],
      [7, 0],
      [7, 2],
    ] as const)
      put(turn, round)
    put(0, 0, 'of another', 'c2')
    expect(await reader()(7, 1)).toEqual(['0/0', '0/1', '7/0', '7/1'])
    expect(reads).toEqual(['list'])
  })

  it('is read for one entry in the next round, and for none in a further attempt', async () => {
    const read = reader()
    put(0, 0)
    await read(0, 0)
    put(0, 1)
    expect(await read(0, 1)).toEqual(['0/0', '0/1'])
    expect(await read(0, 1)).toEqual(['0/0', '0/1'])
    expect(reads).toEqual(['list', 'get ["c",0,1]'])
  })

  it('is read as a whole again in a new turn, and after a skipped round', async () => {
    const read = reader()
    put(0, 0)
    await read(0, 0)
    put(0, 1)
    put(0, 2)
    expect(await read(0, 2)).toEqual(['0/0', '0/1', '0/2'])
    put(0, 3)
    put(9, 0)
    expect(await read(9, 0)).toEqual(['0/0', '0/1', '0/2', '0/3', '9/0'])
    table.delete(historyKey({ conversation: 'c', turn: 0, round: 0 }))
    put(12, 0)
    expect(await read(12, 0)).toEqual(['0/1', '0/2', '0/3', '9/0', '12/0'])
    expect(reads.filter((each) => each === 'list')).toHaveLength(4)
  })

  it('is undefined if it does not arrive, and the cache does not change', async () => {
    const read = reader()
    expect(await read(0, 0)).toBeUndefined()
    put(0, 0)
    await read(0, 0)
    expect(await read(0, 1)).toBeUndefined()
    put(0, 1)
    expect(await read(0, 1)).toEqual(['0/0', '0/1'])
  })

  it('is returned as a list that its reader may change', async () => {
    put(0, 0)
    const read = historyReader({
      bus: { list: async () => [...table.values()] } as unknown as Bus,
      topic: 'history',
      partition: 0,
      bytesMax: 1e6,
    })
    const at = { conversation: 'c', turn: 0, round: 0 }
    ;(await read(at, 0))?.pop()
    expect(await read(at, 0)).toHaveLength(1)
  })
})

describe('the cache of histories', () => {
  it('is bounded: the least recently requested conversation is read again', async () => {
    for (const conversation of ['a', 'b', 'c']) put(0, 0, 'x'.repeat(1000), conversation)
    const read = reader(5_000)
    for (const conversation of ['a', 'b', 'a', 'c', 'a', 'b']) await read(0, 0, conversation)
    // a, b, c, then a and b again: a cache hit does not make an entry newer
    expect(reads).toEqual(Array.from({ length: 5 }, () => 'list'))
  })

  it('counts the objects of short entries, so that many of them are bounded too', async () => {
    for (const conversation of ['a', 'b', 'c']) put(0, 0, 'x', conversation)
    const read = reader(3_000)
    for (const conversation of ['a', 'b', 'c', 'a']) await read(0, 0, conversation)
    expect(reads).toEqual(['list', 'list', 'list', 'list'])
  })

  it('holds the newest history up to a larger bound, and then no other', async () => {
    for (const conversation of ['a', 'b']) put(0, 0, 'x'.repeat(1000), conversation)
    const read = reader(100, 2_000)
    for (const conversation of ['a', 'a', 'b', 'b', 'a']) await read(0, 0, conversation)
    expect(reads).toEqual(['list', 'list', 'list'])
  })

  it('does not hold a history that exceeds the bound of the newest', async () => {
    put(0, 0, 'x'.repeat(1000))
    const read = reader(100, 500)
    expect(await read(0, 0)).toHaveLength(1)
    expect(await read(0, 0)).toHaveLength(1)
    expect(reads).toEqual(['list', 'list'])
  })
})

describe('a history with a summary', () => {
  const putTurn = (turn: number, rounds: number) => {
    for (let round = 0; round <= rounds; round += 1) put(turn, round)
  }

  it('is read without the values of the entries for which the summary stands', async () => {
    putTurn(3, 300)
    put(4, 0)
    put(4, 1)
    const read = reader()
    expect(await read(4, 1, 'c', { turn: 3, round: 299 })).toEqual(['3/300', '4/0', '4/1'])
    expect(reads).toEqual([
      ...['get ["c",4,1]', 'get ["c","origin",0]', 'keys', 'get ["c",3,300]'],
      ...['keys', 'get ["c",4,0]', 'get ["c",4,1]'],
    ])
  })

  it('keeps the message of the open turn', async () => {
    putTurn(3, 5)
    expect(await reader()(3, 5, 'c', { turn: 3, round: 4 })).toEqual(['3/0', '3/5'])
  })

  it('drops further entries when a later summary stands for them', async () => {
    putTurn(3, 2)
    const read = reader()
    expect(await read(3, 2)).toEqual(['3/0', '3/1', '3/2'])
    put(3, 3)
    expect(await read(3, 3, 'c', { turn: 3, round: 2 })).toEqual(['3/0', '3/3'])
    expect(reads).toEqual(['list', 'get ["c",3,3]'])
  })

  it('is read again if the summary stands for less than before', async () => {
    putTurn(3, 2)
    const read = reader()
    await read(3, 2, 'c', { turn: 3, round: 1 })
    put(3, 3)
    expect(await read(3, 3)).toEqual(['3/0', '3/1', '3/2', '3/3'])
  })

  it('is undefined if its newest entry does not arrive', async () => {
    putTurn(3, 2)
    expect(await reader()(3, 3, 'c', { turn: 3, round: 1 })).toBeUndefined()
  })
})

describe('the history of a fork', () => {
  beforeEach(() => {
    for (const [turn, round] of [
      [0, 0],
      [0, 1],
      [3, 0],
      [3, 1],
      [5, 0],
    ] as const)
      put(turn, round)
    for (const [turn, round] of [
      [7, 0],
      [7, 1],
      [8, 0],
    ] as const)
      put(turn, round, `f ${turn}/${round}`, 'f')
    for (const round of [0, 1]) put(9, round, `g 9/${round}`, 'g')
    fork('f', { conversation: 'c', turn: 3, entries: 4 })
    fork(
      'g',
      { conversation: 'c', turn: 3, entries: 4 },
      { conversation: 'f', turn: 7, entries: 2 },
    )
  })
  const shared = ['0/0', '0/1', '3/0', '3/1']

  it('begins with the turns of its origins, up to the turn of each fork', async () => {
    const read = reader()
    expect(await read(7, 1, 'f')).toEqual([...shared, 'f 7/0', 'f 7/1'])
    expect(await read(9, 0, 'g')).toEqual([...shared, 'f 7/0', 'f 7/1', 'g 9/0'])
    expect(await read(5, 0, 'c')).toEqual([...shared, '5/0'])
  })

  it('is read for one entry in the next round', async () => {
    const read = reader()
    await read(9, 0, 'g')
    reads = []
    expect(await read(9, 1, 'g')).toHaveLength(8)
    expect(reads).toEqual(['get ["g",9,1]'])
  })

  it('is read from the end of a summary on, also in the middle of an origin', async () => {
    const read = reader()
    expect(await read(9, 1, 'g', { turn: 3, round: 0 })).toEqual([
      ...['3/1', 'f 7/0', 'f 7/1', 'g 9/0', 'g 9/1'],
    ])
    expect(await reader()(9, 1, 'g', { turn: 7, round: 0 })).toEqual(['f 7/1', 'g 9/0', 'g 9/1'])
  })

  it('cannot be read if a part of an origin was deleted', async () => {
    table.delete(historyKey({ conversation: 'c', turn: 0, round: 1 }))
    const read = reader()
    await expect(read(7, 0, 'f')).rejects.toMatchObject({
      code: 'history.missing',
      message: expect.stringContaining('only 3 of the 4 entries'),
    })
    expect(await read(5, 0, 'c')).toHaveLength(4)
  })

  it('cannot be read if an origin was deleted, although a summary stands for its turns', async () => {
    for (const [turn, round] of [
      [0, 0],
      [0, 1],
      [3, 0],
      [3, 1],
    ] as const)
      table.delete(historyKey({ conversation: 'c', turn, round }))
    await expect(reader()(8, 0, 'f', { turn: 7, round: 1 })).rejects.toMatchObject({
      code: 'history.missing',
      message: expect.stringContaining('only 0 of the 4 entries'),
    })
  })
})

describe('the history of a message that replaces later turns', () => {
  const path = ['0/0', '0/1', '9/0', '9/1', '10/0']

  beforeEach(() => {
    for (const turn of [0, 3]) for (const round of [0, 1]) put(turn, round)
    put(9, 0, '9/0', 'c', 0)
    put(9, 1)
    put(10, 0)
    put(10, 1)
  })

  it('leaves them out, and so do the histories of later turns', async () => {
    const read = reader()
    expect(await read(3, 1)).toEqual(['0/0', '0/1', '3/0', '3/1'])
    expect(await read(10, 0)).toEqual(path)
    expect(await read(10, 1)).toEqual([...path, '10/1'])
  })

  it('is read as a whole if the summary stands for a turn that is left out', async () => {
    const stale = { turn: 3, round: 1 }
    const read = reader()
    expect(await read(10, 0, 'c', stale)).toEqual(path)
    expect(await read(10, 1, 'c', stale)).toEqual([...path, '10/1'])
    expect(await reader()(10, 1, 'c', { turn: 9, round: 0 })).toEqual(['9/1', '10/0', '10/1'])
  })

  it('also leaves out shared turns of a fork', async () => {
    put(12, 0, 'f 12/0', 'f')
    put(14, 0, 'f 14/0', 'f', 0)
    fork('f', { conversation: 'c', turn: 10, entries: 8 })
    expect(await reader()(12, 0, 'f')).toEqual([...path, '10/1', 'f 12/0'])
    expect(await reader()(14, 0, 'f')).toEqual(['0/0', '0/1', 'f 14/0'])
  })
})
