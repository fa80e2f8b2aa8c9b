import { beforeEach, describe, expect, it } from '@jest/globals'
import { encode } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import type { HistoryEntry } from '../../../shared/contract/messages.ts'
import { historyKey } from '../../../shared/contract/topology.ts'
import { historyReader } from '../../../shared/runtime/history-reader.ts'

let table: Map<string, StoredRecord>
let reads: string[]

beforeEach(() => {
  table = new Map()
  reads = []
})

function put(turn: number, round: number, text = `${turn}/${round}`, conversation = 'c'): void {
  const at = { conversation, turn, round }
  const entry: HistoryEntry = {
    type: 'history-entry',
    ...at,
    user: text,
    response: null,
    results: [],
    contents: [],
    nudge: null,
    note: null,
  }
  const place = { topic: 'history', partition: 0, offset: table.size, time: 0, id: undefined }
  table.set(historyKey(at), { ...place, key: historyKey(at), value: encode(entry) })
}

function reader(bytesMax = 1_000_000) {
  const bus: Pick<Bus, 'list' | 'get'> = {
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
  const read = historyReader({ bus: bus as Bus, topic: 'history', partition: 0, bytesMax })
  return async (turn: number, round: number, conversation = 'c') =>
    (await read({ conversation, turn, round }, 0))?.map(({ user }) => user)
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
    const read = reader(2_500)
    for (const conversation of ['a', 'b', 'a', 'c', 'a', 'b']) await read(0, 0, conversation)
    // a, b, c, then a and b again: a cache hit does not make an entry newer
    expect(reads).toEqual(Array.from({ length: 5 }, () => 'list'))
  })

  it('does not hold a history that exceeds the bound', async () => {
    put(0, 0, 'x'.repeat(1000))
    const read = reader(100)
    expect(await read(0, 0)).toHaveLength(1)
    expect(await read(0, 0)).toHaveLength(1)
    expect(reads).toEqual(['list', 'list'])
  })
})
