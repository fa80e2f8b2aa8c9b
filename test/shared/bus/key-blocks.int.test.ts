// The index of the embedded bus by key.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { offsetsInBlock } from '../../../shared/bus/embedded/file/schema.ts'
import { type Log, openLog } from '../../../shared/bus/embedded/log/log.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { type HandClock, handClock } from './hand-clock.ts'

const topic = 'weir.activity'
const place = { topic, partition: 0 }
const count = offsetsInBlock * 6 + 100

let folder: string
let file: string
let clock: HandClock
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-key-blocks-'))
  file = join(folder, 'weir.db')
  clock = handClock()
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Each third record has the key `common`. Each other one shares its key with a few neighbours. */
const keyAt = (offset: number) => (offset % 3 === 0 ? 'common' : `c${Math.floor(offset / 40)}`)

function write(log: Log, keys: string[]): void {
  const value = new Uint8Array(300)
  log.write({
    records: log.stage(keys.map((key) => ({ ...place, key, value }))),
    commits: [],
  })
}

function openFilled(): Log {
  const log = openLog({ file, clock, readOnly: false, synchronous: 'off' })
  log.ensureTopics([{ name: topic, kind: 'log', partitions: 1, retentionMs: 1_000 }])
  for (let from = 0; from < count; from += 250)
    write(
      log,
      Array.from({ length: Math.min(250, count - from) }, (_, n) => keyAt(from + n)),
    )
  return log
}

/** The offsets of the records of the keys, and how many records were read for them. */
async function read(
  log: Pick<Log, 'read'>,
  keys: string[],
  from = 0,
  to = count,
): Promise<{ offsets: number[]; records: number }> {
  const offsets: number[] = []
  let records = 0
  const bus = { read: async (range: Parameters<Log['read']>[0]) => log.read(range) }
  for await (const batch of batchesOf(bus, { ...place, from, to, keys })) {
    records += batch.length
    offsets.push(...batch.filter(({ key }) => keys.includes(key)).map(({ offset }) => offset))
  }
  return { offsets, records }
}

const offsetsOf = (keys: string[], from = 0, to = count) =>
  Array.from({ length: count }, (_, offset) => offset).filter(
    (offset) => offset >= from && offset < to && keys.includes(keyAt(offset)),
  )

/** The entries of the index, and those that the records need. */
function entries(): { has: unknown[]; needs: unknown[] } {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const order = 'ORDER BY key, block'
    return {
      has: db.prepare(`SELECT key, block FROM key_blocks ${order}`).all(),
      needs: db
        .prepare(
          `SELECT DISTINCT key, offset / ${offsetsInBlock} AS block FROM "${topic}/0" ${order}`,
        )
        .all(),
    }
  } finally {
    db.close()
  }
}

/** Leaves a file of version 1. */
function removeIndex(): void {
  const db = new DatabaseSync(file)
  db.exec('DROP TABLE key_blocks; DROP TABLE key_blocks_from; PRAGMA user_version = 1')
  db.close()
}

describe('a read by key', () => {
  it.each([
    [['c1'], 0, count],
    [['c70'], 0, count],
    [['c1', 'c60'], 0, count],
    [['common'], 0, count],
    [['common'], 700, 2_900],
    [['c20'], 810, 820],
    [['nobody'], 0, count],
  ])('gives all records of %j from %d to %d in order', async (keys, from, to) => {
    const log = openFilled()
    expect((await read(log, keys, from, to)).offsets).toEqual(offsetsOf(keys, from, to))
    log.close()
  })

  it('reads no record of another key, far from the end of the log', async () => {
    const log = openFilled()
    const { records } = await read(log, ['c1'], 0, offsetsInBlock * 2)
    expect(records).toBe(offsetsOf(['c1']).length)
    log.close()
  })

  it('finds records of a process that reads next to the writer', async () => {
    const log = openFilled()
    const reader = openLog({ file, clock, readOnly: true })
    expect(await read(reader, ['c1'])).toEqual({
      offsets: offsetsOf(['c1']),
      records: offsetsOf(['c1']).length,
    })
    reader.close()
    log.close()
  })

  it('finds a record whose first write failed', async () => {
    const log = openFilled()
    const [late] = log.stage([{ ...place, key: 'late', value: null }])
    const taken = { ...late!, offset: 7 }
    expect(() => log.write({ records: [late!, taken], commits: [] })).toThrow()
    log.write({ records: [late!], commits: [] })
    log.close()
    const { has, needs } = entries()
    expect(has).toEqual(needs)
  })
})

describe('the index of a file of version 1', () => {
  it('grows from the newest records to the oldest, and reads are whole meanwhile', async () => {
    openFilled().close()
    const made = entries().has
    removeIndex()
    const log = openLog({ file, clock, readOnly: false, synchronous: 'off' })
    const counts: number[] = []
    do {
      const found = await read(log, ['c1'])
      expect(found.offsets).toEqual(offsetsOf(['c1']))
      counts.push(found.records)
    } while (log.extendIndex())
    expect(counts[0]).toBe(count)
    expect(counts.at(-1)).toBe(offsetsOf(['c1']).length)
    expect(counts).toEqual(counts.toSorted((a, b) => b - a))
    expect(new Set(counts).size).toBeGreaterThan(2)
    log.close()
    expect(entries().has).toEqual(made)
  })

  it('is finished by the timers of an owner, also of one after the other', async () => {
    openFilled().close()
    removeIndex()
    const owner = await openEmbeddedBus({ file, clock })
    clock.advance(1)
    await owner.close()
    expect(entries().has.length).toBeLessThan(entries().needs.length)

    const next = await openEmbeddedBus({ file, clock })
    clock.advance(1_000)
    const { has, needs } = entries()
    expect(has).toEqual(needs)
    expect(clock.waiting()).toHaveLength(1) // of retention
    await next.close()
  })

  it('is made by no reader', async () => {
    openFilled().close()
    removeIndex()
    const reader = openLog({ file, clock, readOnly: true })
    expect((await read(reader, ['c1'])).offsets).toEqual(offsetsOf(['c1']))
    reader.close()
    expect(() => entries()).toThrow(/no such table/)
  })
})

describe('a deleted record', () => {
  it('leaves no entry when its time is over', () => {
    const log = openFilled()
    clock.advance(5_000)
    write(log, ['c1', 'young'])
    for (let from: number | undefined = 0; from !== undefined; )
      from = log.trim({ ...place, from, keepFrom: count + 2, olderThan: clock.now() - 1_000 })
    log.close()
    const { has, needs } = entries()
    expect(needs).toHaveLength(2)
    expect(has).toEqual(needs)
  })

  it('leaves no entry when its conversation is deleted, and a record that stays is found', async () => {
    const log = openFilled()
    const conversation = keyAt(count - 1) as ConversationId
    const kept = offsetsOf([conversation])[3]!
    log.erase({
      topicPrefix: 'weir.',
      conversations: [conversation, 'common' as ConversationId],
      forks: [],
      keep: [{ ...place, offset: kept }],
      seen: [],
      evidence: [],
    })
    write(log, [conversation])
    const { offsets } = await read(log, [conversation], 0, count + 1)
    expect(offsets).toEqual([kept, count])
    log.close()
    const { has, needs } = entries()
    expect(has).toEqual(needs)
  })
})
