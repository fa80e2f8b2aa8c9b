// The speed of the embedded bus against its lowest possible cost: a bare loop of one prepared
// INSERT on node:sqlite, with the same bytes, transactions and `synchronous`. Run alone: node
// test/bench/bus.ts
//
// Not measured: Kafka, several processes, and decoding, folding and performing, the main work of a
// stage. Values of more than 300 bytes. A file larger than memory. A shared disk. A reader next to
// the writer. Percentiles over hours.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Synchronous } from '../../shared/bus/embedded/file/open-file.ts'
import type { Bus, RecordToAppend } from '../../shared/contract/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import type { Row } from './row.ts'

const partitions = 4
const valueBytes = 300
const secondsEach = 1.5
const readRecords = 100_000
const hops = 3000

/**
 * Runs all measurements, in about a minute. Needs some 300 MB in the folder for temporary files;
 * `folder` names another one.
 */
export async function benchBus({ folder = tmpdir() } = {}): Promise<Row[]> {
  const rows: Row[] = []
  for (const synchronous of ['off', 'normal', 'full'] as const) {
    const at = mkdtempSync(join(folder, 'weir-bench-'))
    try {
      for (const size of [1, 10, 100]) {
        const bare = bareInserts({ file: join(at, `bare-${size}`), synchronous, size })
        const value = await withBus(at, synchronous, (bus) => appends(bus, size))
        rows.push(
          row(synchronous, `append, ${size} in a transaction`, {
            value,
            unit: 'records/s',
            ...against('bare INSERTs', value, bare),
          }),
        )
      }
      const { p50, p99, through } = await withBus(at, synchronous, hop)
      rows.push(row(synchronous, 'one hop at rest, p50', { value: p50, unit: 'µs' }))
      rows.push(row(synchronous, 'one hop at rest, p99', { value: p99, unit: 'µs' }))
      rows.push(row(synchronous, 'one hop under load', { value: through, unit: 'records/s' }))
      if (synchronous !== 'off') continue
      const bare = bareReads(join(at, 'bare-100'))
      const value = await withBus(at, synchronous, reads)
      rows.push(
        row(synchronous, 'read, 500 at a time', {
          value,
          unit: 'records/s',
          ...against('bare SELECTs', value, bare),
        }),
      )
    } finally {
      rmSync(at, { recursive: true })
    }
  }
  return rows
}

function row(synchronous: Synchronous, name: string, measured: Omit<Row, 'name'>): Row {
  return { name: `embedded bus, synchronous ${synchronous}: ${name}`, ...measured }
}

function against(name: string, value: number, bare: number): { baseline: string; ratio: number } {
  return { baseline: `${Math.round(bare)} ${name} of node:sqlite`, ratio: value / bare }
}

async function withBus<T>(
  folder: string,
  synchronous: Synchronous,
  measure: (bus: Bus) => Promise<T>,
): Promise<T> {
  const at = mkdtempSync(join(folder, 'bus-'))
  const bus = await openEmbeddedBus({
    file: join(at, 'weir.sqlite'),
    clock: systemClock,
    synchronous,
  })
  await bus.ensureTopics(['inbox', 'next'].map((name) => ({ name, kind: 'log', partitions })))
  const result = await measure(bus)
  await bus.close()
  rmSync(at, { recursive: true })
  return result
}

/** Each call is awaited, so each is one transaction. */
async function appends(bus: Bus, size: number): Promise<number> {
  return perSecond(async (written) => {
    await bus.append(Array.from({ length: size }, (_, n) => recordOf('inbox', written + n)))
    return size
  })
}

async function reads(bus: Bus): Promise<number> {
  await fill(bus, readRecords)
  const ends = await bus.ends('inbox')
  let read = 0
  const start = performance.now()
  for (const { partition, end } of ends) {
    for (let from = 0; from < end; from += 500)
      read += (await bus.read({ topic: 'inbox', partition, from, limit: 500 })).length
  }
  return read / seconds(start)
}

/**
 * append -> reader.read -> one output for each record -> acknowledged. Idle: one record at a time,
 * the next after the acknowledgement.
 */
async function hop(bus: Bus): Promise<{ p50: number; p99: number; through: number }> {
  let through = 0
  let acknowledged = (): void => {}
  const subscription = await bus.subscribe({
    group: 'bench',
    topic: 'inbox',
    assign: async ({ ends }) => ({
      position: ends.end,
      async read(records) {
        through += records.length
        const outputs = records.map((record) => ({ ...record, topic: 'next' }))
        return {
          outputs,
          commit: { offset: (records.at(-1)?.offset ?? 0) + 1, metadata: '{"from":0}' },
        }
      },
      acknowledged: () => acknowledged(),
      close: async () => {},
    }),
  })
  const taken: number[] = []
  for (let n = 0; n < hops; n += 1) {
    const start = performance.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    acknowledged = resolve
    await bus.append([recordOf('inbox', n)])
    await promise
    taken.push((performance.now() - start) * 1000)
  }
  const start = performance.now()
  const before = through
  const load = 50_000
  const { promise: done, resolve } = Promise.withResolvers<void>()
  acknowledged = () => (through - before >= load ? resolve() : undefined)
  await fill(bus, load)
  await done
  const rate = load / seconds(start)
  await subscription.close()
  const sorted = taken.sort((a, b) => a - b)
  return {
    p50: sorted[Math.floor(hops * 0.5)] ?? 0,
    p99: sorted[Math.floor(hops * 0.99)] ?? 0,
    through: rate,
  }
}

async function fill(bus: Bus, records: number): Promise<void> {
  for (let n = 0; n < records; n += 1000)
    await bus.append(Array.from({ length: 1000 }, (_, m) => recordOf('inbox', n + m)))
}

type BareInserts = { file: string; synchronous: Synchronous; size: number }

function bareInserts({ file, synchronous, size }: BareInserts): number {
  const db = openBare(file)
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 4000`,
  )
  db.exec(
    'CREATE TABLE records (offset INTEGER PRIMARY KEY, time INTEGER NOT NULL, key TEXT NOT NULL, value BLOB, id TEXT) STRICT',
  )
  const insert = db.prepare('INSERT INTO records (time, key, value, id) VALUES (?, ?, ?, ?)')
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  let written = 0
  const start = performance.now()
  while (seconds(start) < secondsEach) {
    begin.run()
    for (let n = 0; n < size; n += 1) {
      const { key, value, id } = recordOf('inbox', written + n)
      insert.run(Date.now(), key, value, id ?? null)
    }
    commit.run()
    written += size
  }
  const rate = written / seconds(start)
  db.close()
  return rate
}

function bareReads(file: string): number {
  const db = openBare(file)
  const select = db.prepare(
    'SELECT offset, time, key, value, id FROM records WHERE offset >= ? ORDER BY offset LIMIT 500',
  )
  let read = 0
  const start = performance.now()
  for (let from = 1; read < readRecords; from += 500) {
    const records = select.all(from).length
    if (records === 0) break
    read += records
  }
  const rate = read / seconds(start)
  db.close()
  return rate
}

/**
 * The only import of SQLite outside shared/bus/embedded. The import rules do not cover measurements
 * of SQLite itself.
 */
function openBare(file: string) {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  return new DatabaseSync(file)
}

const value = new Uint8Array(valueBytes).fill(120)

function recordOf(topic: string, n: number): RecordToAppend {
  return {
    topic,
    partition: n % partitions,
    key: `conversation-${n % 1000}`,
    value,
    id: `accumulator/3/${n}/0`,
  }
}

async function perSecond(once: (written: number) => Promise<number>): Promise<number> {
  let written = 0
  const start = performance.now()
  while (seconds(start) < secondsEach) written += await once(written)
  return written / seconds(start)
}

function seconds(start: number): number {
  return (performance.now() - start) / 1000
}

if (import.meta.main) {
  for (const { name, value, unit, baseline, ratio } of await benchBus()) {
    const compared = baseline === undefined ? '' : `  ${ratio?.toFixed(2)} of ${baseline}`
    console.log(`${name.padEnd(60)} ${String(Math.round(value)).padStart(8)} ${unit}${compared}`)
  }
}
