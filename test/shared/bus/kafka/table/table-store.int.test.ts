import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  openTableStore,
  type TableStore,
} from '../../../../../shared/bus/kafka/table/table-store.ts'
import type { StoredRecord } from '../../../../../shared/contract/bus.ts'
import { handClock } from '../../hand-clock.ts'
import { bytesOf, textOf } from '../../recording-readers.ts'

let folder = ''
let stores: TableStore[] = []
const clock = handClock()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-tables-'))
})
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
  rmSync(folder, { recursive: true })
})

function open(): TableStore {
  const store = openTableStore({ folder, clock, log: pino({ level: 'silent' }) })
  stores.push(store)
  return store
}

function reopen(store: TableStore): TableStore {
  store.close()
  stores = stores.filter((each) => each !== store)
  return open()
}

const record = (offset: number, key: string, text: string | null): StoredRecord => ({
  topic: 'history',
  partition: 1,
  key,
  offset,
  time: 1000 + offset,
  id: `c/1/${offset}/0`,
  value: text === null ? null : bytesOf(text),
})
const name = { topic: 'history', partition: 1, topicId: 'id', end: 1000 }

describe('the stored copy of a table', () => {
  it('has the newest record of each key, in key order, and the next offset, also after a restart', () => {
    const store = open()
    const table = store.table(name)
    expect(table.next).toBe(0)
    table.write(
      [
        record(0, 'b', '1'),
        record(1, 'a', '2'),
        record(2, 'b', '3'),
        record(3, 'gone', '4'),
        record(4, 'gone', null),
      ],
      7,
    )
    const again = reopen(store).table(name)
    expect(again.next).toBe(7)
    expect(again.newestWithPrefix('').map((each) => [each.key, textOf(each)])).toEqual([
      ['a', '2'],
      ['b', '3'],
    ])
    expect(again.newest('b')).toMatchObject({
      topic: 'history',
      partition: 1,
      offset: 2,
      time: 1002,
      id: 'c/1/2/0',
    })
    expect([again.newest('gone'), again.keys({ after: 'a', limit: 9 })]).toEqual([
      undefined,
      [{ key: 'b', offset: 2, time: 1002 }],
    ])
  })

  it.each([
    ['of another topic of that name', { topicId: 'another' }, 0],
    ['longer than the topic is', { end: 3 }, 0],
    ['of a broker that knows no ids', { topicId: undefined }, 0],
    ['not confirmed for a day, in which tombstones may have come and gone', {}, 24 * 3_600_000],
  ])('is recreated when it is %s', (_, changed, passedMs) => {
    const store = open()
    store.table(name).write([record(0, 'a', '1')], 7)
    clock.advance(passedMs)
    const table = reopen(store).table({ ...name, ...changed })
    expect([table.next, table.newestWithPrefix('')]).toEqual([0, []])
  })

  it('is kept if it was confirmed since', () => {
    const store = open()
    const table = store.table(name)
    table.write([record(0, 'a', '1')], 7)
    for (let hour = 0; hour < 24; hour += 1) {
      clock.advance(3_600_000)
      table.confirm()
    }
    expect(reopen(store).table(name).next).toBe(7)
  })

  it('keeps the tables of several partitions apart', () => {
    const store = open()
    store.table(name).write([record(0, 'a', '1')], 1)
    const other = store.table({ ...name, partition: 2 })
    expect(other.newest('a')).toBeUndefined()
    expect(other.next).toBe(0)
  })
})

describe('the files of a folder', () => {
  it('are locked one per process, and found again', () => {
    const [one, two] = [open(), open()]
    expect(one.file).not.toBe(two.file)
    two.table(name).write([record(0, 'a', 'second')], 1)
    one.close()
    two.close()
    stores = []
    const [three, four] = [open(), open()]
    expect([three.file, four.file]).toEqual([one.file, two.file])
    expect(four.table(name).next).toBe(1)
    expect(readdirSync(folder).filter((file) => file.endsWith('.db'))).toHaveLength(2)
  })

  it('are recreated when damaged', () => {
    writeFileSync(
      join(folder, 'tables-0.db'),
      'this is no database, and long enough to be taken for one'.repeat(100),
    )
    const store = open()
    expect(store.file).toBe(join(folder, 'tables-0.db'))
    store.table(name).write([record(0, 'a', '1')], 1)
    expect(reopen(store).table(name).next).toBe(1)
  })

  it('are optional: without a writable folder, tables stay in memory', () => {
    for (const unusable of [undefined, '/dev/null/tables']) {
      const store = openTableStore({ folder: unusable, clock, log: pino({ level: 'silent' }) })
      store.table(name).write([record(0, 'a', '1')], 1)
      expect([store.file, store.table(name).next]).toEqual([undefined, 1])
      store.close()
    }
  })
})
