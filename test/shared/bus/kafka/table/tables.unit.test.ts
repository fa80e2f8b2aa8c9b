// Tables over a scripted topic: the test decides which records are fetched, and when.

import { afterEach, expect, it } from '@jest/globals'
import { pino } from 'pino'
import type { Cursor } from '../../../../../shared/bus/kafka/fetch/fetch-cursors.ts'
import { openTableStore } from '../../../../../shared/bus/kafka/table/table-store.ts'
import { createTables } from '../../../../../shared/bus/kafka/table/tables.ts'
import type { StoredRecord } from '../../../../../shared/contract/bus.ts'
import { scriptedCluster, turns } from '../scripted-cluster.ts'

const name = { topic: 't', partition: 0 }
const record = (offset: number, key: string): StoredRecord => ({
  ...name,
  key,
  value: Buffer.from('v'),
  offset,
  time: 1,
})
let close = (): void => {}
afterEach(() => close())

/**
 * `reach`: the topic has these records, written by others. `fetch`: they are also fetched.
 * `confirmed`: the number of confirmations of the copy.
 */
function start() {
  const topic: StoredRecord[] = []
  const cursors: Cursor[] = []
  let confirmed = 0
  const { cluster, clock } = scriptedCluster([{ name: 't', id: 'id', leaders: [] }], {
    kind: async () => 'table',
    topic: async () => ({ name: 't', id: 'id', leaders: [{ id: 1, host: 'h', port: 1 }] }),
    ends: async () => [{ partition: 0, begin: 0, end: topic.length }],
  })
  const store = openTableStore({ folder: undefined, clock, log: pino({ level: 'silent' }) })
  const tables = createTables({
    cluster,
    fetching: {
      add: (cursor) => void cursors.push(cursor),
      remove() {},
      wake() {},
      close() {},
      onWritten() {},
      endSeen: () => 0,
    },
    store: {
      ...store,
      table(wanted) {
        const table = store.table(wanted)
        const confirm = (): void => {
          confirmed += 1
        }
        return Object.create(table, { confirm: { value: confirm } })
      },
    },
    writtenTo: () => undefined,
    closed: new AbortController().signal,
  })
  close = tables.close
  const fetch = () => {
    for (const cursor of cursors) {
      const records = topic.slice(cursor.next)
      cursor.next = topic.length
      if (records.length > 0) cursor.onRecords(records, topic.length)
      cursor.onEnd?.()
    }
  }
  return { tables, clock, topic, fetch, confirmed: () => confirmed }
}

it('a list up to now waits for earlier writes of others; a plain list returns the local copy', async () => {
  const { tables, topic, fetch } = start()
  expect(await tables.list({ ...name, prefix: '' })).toEqual([])
  topic.push(record(0, 'a'))
  expect(await tables.list({ ...name, prefix: '' })).toEqual([])
  let listed: string[] | undefined
  const listing = tables.list({ ...name, prefix: '', upToNow: true }).then((records) => {
    listed = records.map(({ key }) => key)
  })
  await turns()
  expect(listed).toBeUndefined()
  fetch()
  await listing
  expect(listed).toEqual(['a'])
})

it('confirms a copy only while the broker reports its end, because a missed record may be a tombstone', async () => {
  const { tables, clock, fetch, confirmed } = start()
  await tables.list({ ...name, prefix: '' })
  clock.advance(60_000)
  await turns()
  expect(confirmed()).toBe(0)
  fetch()
  clock.advance(60_000)
  await turns()
  expect(confirmed()).toBe(1)
  clock.advance(60_000) // the broker is away
  await turns()
  expect(confirmed()).toBe(1)
})
