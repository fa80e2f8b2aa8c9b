// The files of the embedded bus: the one writer, the state after a killed process, refused files,
// and readers next to the writer.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'

import { type EmbeddedBusOptions, openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { type Clock, systemClock } from '../../../shared/lib/clock.ts'
import { runSql } from '../../support/run-sql.ts'
import { collect, readAll, record } from './contract-world.ts'
import { handClock } from './hand-clock.ts'
import { textOf, until } from './recording-readers.ts'

type Writer = {
  process: ChildProcessByStdio<null, Readable, null>
  lines: string[]
  kill(): Promise<void>
}

/** A reader's timers of a second and more never fire, so only the operating system wakes it. */
const withoutPolling: Clock = {
  ...systemClock,
  after: (delayMs, fire) => (delayMs < 1000 ? systemClock.after(delayMs, fire) : () => {}),
}
const writingProcess = fileURLToPath(new URL('./writing-process.ts', import.meta.url))

let folder: string
let file: string
let opened: Bus[]
let writers: Writer[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-bus-files-'))
  file = join(folder, 'weir.sqlite')
  opened = []
  writers = []
})

afterEach(async () => {
  for (const bus of opened) await bus.close()
  for (const writer of writers) await writer.kill()
  rmSync(folder, { recursive: true })
})

async function open(options: Partial<EmbeddedBusOptions> = {}): Promise<Bus> {
  const bus = await openEmbeddedBus({ file, clock: systemClock, synchronous: 'off', ...options })
  opened.push(bus)
  return bus
}

/** Starts a process that writes the log (writing-process.ts), and waits until it has opened it. */
async function startWriter({ calls }: { calls: number }): Promise<Writer> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', writingProcess, file, `${calls}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const writer: Writer = {
    process: child,
    lines: [],
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
  writers.push(writer)
  let rest = ''
  child.stdout.on('data', (text: Buffer) => {
    const lines = (rest + text.toString()).split('\n')
    rest = lines.pop() ?? ''
    writer.lines.push(...lines)
  })
  await until(
    'the writing process has the log open',
    () => writer.lines.includes('open') || child.exitCode !== null,
  )
  return writer
}

describe('one writing process', () => {
  test('refuses a second process, names the first, and admits the next at once after a kill', async () => {
    const writer = await startWriter({ calls: 0 })
    await expect(open()).rejects.toMatchObject({ code: 'bus.locked', retryable: false })
    await expect(open()).rejects.toThrow(`process ${writer.process.pid}`)
    await writer.kill()
    expect((await (await open()).ends('inbox')).length).toBe(2)
  })

  test('refuses a second bus in the same process, also through a link, until the first is closed', async () => {
    const first = await open()
    const link = join(folder, 'link.sqlite')
    symlinkSync(file, link)
    await expect(open()).rejects.toThrow(`this process (${process.pid})`)
    await expect(open({ file: link })).rejects.toMatchObject({ code: 'bus.locked' })
    await first.close()
    expect((await open({ file: link })).provesFormerOwnersDead).toBe(true)
  })

  test('keeps its lock when a second attempt of the same process is refused', async () => {
    await open()
    await expect(open()).rejects.toMatchObject({ code: 'bus.locked' })
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', writingProcess, file, '0'],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    let errors = ''
    child.stderr.on('data', (text: Buffer) => {
      errors += text.toString()
    })
    const [exitCode] = await once(child, 'close')
    expect(exitCode).toBe(1)
    expect(errors).toContain('bus.locked')
  })

  test('leaves one file when it is closed', async () => {
    const bus = await open()
    await bus.ensureTopics([{ name: 'inbox', kind: 'log', partitions: 1 }])
    await bus.append([record('inbox', 'a')])
    await bus.close()
    expect([`${file}-wal`, `${file}-shm`].filter((each) => existsSync(each))).toEqual([])
  })
})

describe('a killed process', () => {
  /**
   * Checks the state that must hold after any end of a writing process. Returns the calls in the
   * log.
   */
  async function expectWhole(bus: Bus): Promise<Map<string, number>> {
    const calls = new Map<string, number>()
    for (const partition of [0, 1]) {
      const [inbox, copy] = [
        await readAll(bus, 'inbox', partition),
        await readAll(bus, 'copy', partition),
      ]
      for (const records of [inbox, copy])
        expect(records.map(({ offset }) => offset)).toEqual(records.map((_, n) => n))
      for (const { key } of inbox) calls.set(key, (calls.get(key) ?? 0) + 1)
      // Outputs and commit are one transaction: each committed record is copied once.
      const bundle = await commitOf(bus, partition)
      expect(copy.map(({ id }) => id)).toEqual(
        inbox.slice(0, bundle).map(({ offset }) => `copier/${partition}/${offset}/0`),
      )
    }
    // each call is one transaction
    expect([...calls.values()].every((records) => records === 10)).toBe(true)
    return calls
  }

  async function commitOf(bus: Bus, partition: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    const subscription = await bus.subscribe({
      group: 'copier',
      topic: 'inbox',
      async assign({ ends, committed }) {
        if (ends.partition === partition) resolve(committed?.offset ?? 0)
        return {
          position: ends.end,
          read: async () => ({ outputs: [], commit: undefined }),
          acknowledged() {},
          close: async () => {},
        }
      },
    })
    await subscription.close()
    return promise
  }

  test('loses no acknowledged record and leaves no half transaction, also with synchronous off', async () => {
    const acknowledged: string[] = []
    for (const atLeast of [1, 40, 150]) {
      const writer = await startWriter({ calls: 1_000_000 })
      await until('it has written for a while', () => writer.lines.length > atLeast)
      await writer.kill()
      acknowledged.push(
        ...writer.lines
          .filter((line) => line !== 'open')
          .map((call) => `${writer.process.pid} ${call}`),
      )
      const bus = await open()
      const calls = await expectWhole(bus)
      expect(acknowledged.filter((call) => !calls.has(call))).toEqual([])
      await bus.close()
    }
  })

  test('leaves whole transactions when its last write is truncated anywhere', async () => {
    const writer = await startWriter({ calls: 30 })
    await until('it is done', () => writer.lines.includes('done'))
    await writer.kill()
    const bytes = statSync(`${file}-wal`).size
    const cut = { file: join(folder, 'cut.sqlite') }
    let fewest = 30
    for (const part of [0.5, 0.75, 0.9, 0.99, 0.999, 1]) {
      copyFileSync(file, cut.file)
      copyFileSync(`${file}-wal`, `${cut.file}-wal`)
      truncateSync(`${cut.file}-wal`, Math.floor(bytes * part))
      const bus = await open(cut)
      const calls = await expectWhole(bus)
      fewest = Math.min(fewest, calls.size)
      if (part === 1) expect(calls.size).toBe(30)
      await bus.close()
    }
    expect(fewest).toBeLessThan(30)
  })
})

describe('a file that is something else', () => {
  test.each([
    ['a text', () => writeFileSync(file, 'This is a diary. '.repeat(500))],
    [
      'a database of another program',
      () => foreignDatabase("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('sea')"),
    ],
    [
      'a database of another program that says so',
      () => foreignDatabase('CREATE TABLE t (x); PRAGMA application_id = 7'),
    ],
  ])('is refused and left as it is: %s', async (_, make) => {
    make()
    const before = readFileSync(file)
    for (const readOnly of [false, true]) {
      await expect(open({ readOnly })).rejects.toMatchObject({
        code: 'bus.not-a-database',
        retryable: false,
      })
      await expect(open({ readOnly })).rejects.toThrow(file)
    }
    expect(readFileSync(file)).toEqual(before)
    expect(existsSync(`${file}-lock`)).toBe(false)
  })

  test('is refused with a way to rescue it when it is a damaged log', async () => {
    const bus = await open()
    await bus.ensureTopics([{ name: 'inbox', kind: 'log', partitions: 1 }])
    await bus.close()
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xaa, 100))
    await expect(open()).rejects.toMatchObject({ code: 'bus.not-a-database' })
    await expect(open()).rejects.toThrow('.recover')
  })

  test('is refused when a newer Weir wrote it', async () => {
    await (await open()).close()
    const bytes = readFileSync(file)
    bytes.writeUInt32BE(3, 60) // user_version, in the header of every SQLite file
    writeFileSync(file, bytes)
    await expect(open()).rejects.toMatchObject({ code: 'bus.newer-version' })
    await expect(open({ readOnly: true })).rejects.toThrow(
      /format 3, but this Weir knows formats up to 2/,
    )
  })

  test.each([
    [
      'a trigger that deletes registrations',
      'CREATE TRIGGER quiet AFTER INSERT ON "inbox/0" BEGIN DELETE FROM "names/0"; END',
      'a trigger named "quiet"',
    ],
    [
      'an endless view in place of a partition',
      'DROP TABLE "inbox/0"; CREATE VIEW "inbox/0" AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS offset, i AS time, \'\' AS key, x\'00\' AS value, NULL AS id FROM n',
      'a view named "inbox/0"',
    ],
    ['a further table', 'CREATE TABLE photos (name TEXT)', 'a table named "photos"'],
    [
      'an index over an expression',
      'CREATE INDEX slow ON "inbox/0" (hex(value))',
      'an index named "slow"',
    ],
    [
      'a view of all records with other SQL',
      'DROP VIEW records; CREATE VIEW records AS SELECT 1 AS topic',
      'a view named "records"',
    ],
    [
      'an index whose name hides SQL in a comment',
      'DROP INDEX "names/0 by key"; CREATE INDEX "names/0--" ON "names/0" (hex(value)) /*\nby key" ON "names/0" (key) */',
      'an index named "names/0--"',
    ],
  ])('is refused when it is a log with %s', async (_, sql, found) => {
    const bus = await open()
    await bus.ensureTopics([
      { name: 'inbox', kind: 'log', partitions: 1 },
      { name: 'names', kind: 'table', partitions: 1 },
    ])
    await bus.close()
    runSql(file, sql)
    for (const readOnly of [false, true]) {
      await expect(open({ readOnly })).rejects.toMatchObject({ code: 'bus.foreign-schema' })
      await expect(open({ readOnly })).rejects.toThrow(`${file} has ${found}`)
    }
  })

  test('is read when an earlier version wrote other comments into its tables', async () => {
    const bus = await open()
    await bus.ensureTopics([{ name: 'inbox', kind: 'log', partitions: 2 }])
    await bus.close()
    const sqlOf = () =>
      runSql(file, `SELECT sql FROM sqlite_schema WHERE name = 'inbox/0'`) as [{ sql: string }]
    const older = sqlOf()[0].sql.replace('never goes back', 'and only grows')
    runSql(file, `DROP VIEW records; DROP VIEW "inbox/all"; DROP TABLE "inbox/0"; ${older}`)
    expect(sqlOf()).toEqual([{ sql: expect.stringContaining('and only grows') }])
    await (await open()).close()
    await (await open({ readOnly: true })).close()
  })

  test('may be new or empty, in a folder that does not exist yet', async () => {
    writeFileSync(file, '')
    expect((await open()).recordBytesMax).toBeGreaterThan(0)
    expect((await open({ file: join(folder, 'a/b/weir.sqlite') })).recordBytesMax).toBeGreaterThan(
      0,
    )
  })

  test('cannot be read if it does not exist', async () => {
    await expect(open({ readOnly: true })).rejects.toMatchObject({ code: 'bus.not-a-database' })
    expect(existsSync(file)).toBe(false)
  })

  function foreignDatabase(sql: string): void {
    runSql(file, sql)
  }
})

describe('a folder without rights', () => {
  test('is refused with the folder in the message', async () => {
    writeFileSync(join(folder, 'a-file'), '')
    await expect(open({ file: join(folder, 'a-file/weir.sqlite') })).rejects.toMatchObject({
      code: 'bus.unwritable',
    })
    await expect(open({ file: join(folder, 'a-file/weir.sqlite') })).rejects.toThrow('a-file')
  })

  test('can be read after the log in it was closed, but not written', async () => {
    const closedFolder = join(folder, 'closed')
    mkdirSync(closedFolder)
    const bundle = { file: join(closedFolder, 'weir.sqlite') }
    const bus = await open(bundle)
    await bus.ensureTopics([{ name: 'inbox', kind: 'log', partitions: 1 }])
    await bus.append([record('inbox', 'a')])
    await bus.close()
    chmodSync(folder, 0o755)
    chmodSync(closedFolder, 0o555)
    chmodSync(bundle.file, 0o444)
    await withoutRootRights(async () => {
      await expect(open(bundle)).rejects.toMatchObject({ code: 'bus.unwritable' })
      const reader = await open({ ...bundle, readOnly: true })
      expect((await readAll(reader, 'inbox')).map(textOf)).toEqual(['a'])
      await reader.close()
    })
    chmodSync(closedFolder, 0o755)
  })

  /** Root may write anywhere, so the test changes its user for a moment. */
  async function withoutRootRights(work: () => Promise<void>): Promise<void> {
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.(65534)
    try {
      await work()
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  }
})

describe('a reader next to the writer', () => {
  test('reads while the writer runs and after it has ended', async () => {
    const writer = await startWriter({ calls: 20 })
    const reader = await open({ readOnly: true })
    const stop = new AbortController()
    const seen: string[] = []
    const following = collect(
      reader.follow({ topic: 'copy', partition: 1, from: 0, signal: stop.signal }),
      seen,
    )
    await until('it has seen all', () => seen.length === 100)
    await until('the writer is done', () => writer.lines.includes('done'))
    expect((await reader.ends('inbox')).map(({ end }) => end)).toEqual([100, 100])
    await writer.kill()
    expect(await readAll(reader, 'inbox', 1)).toHaveLength(100)
    const next = await startWriter({ calls: 1 })
    await until('it has seen what the next writer wrote', () => seen.length === 105)
    stop.abort()
    await following
    await next.kill()
  })

  test('ends a batch with the record that reaches the byte limit, for any mix of sizes', async () => {
    const writing = await open()
    await writing.ensureTopics([{ name: 'sizes', kind: 'log', partitions: 1 }])
    const sizes = Array.from({ length: 120 }, (_, i): number =>
      i < 10 ? 0 : i % 40 === 39 ? 3_000 : i % 7 === 0 ? 200 : 3,
    )
    await writing.append(
      sizes.map((size) => ({ ...record('sizes', ''), value: new Uint8Array(size) })),
    )
    await writing.close()
    const reading = await open({ readOnly: true })
    for (const bytesMax of [1, 10, 250, 3_000, 5_000, 1_000_000])
      for (const limit of [1, 7, 30, 500])
        for (const from of [0, 5, 38, 119]) {
          const batch = await reading.read({ topic: 'sizes', partition: 0, from, limit, bytesMax })
          const fitting = sizes
            .slice(from, from + limit)
            .findIndex((_, i, rest) => rest.slice(0, i + 1).reduce((a, b) => a + b, 0) >= bytesMax)
          expect(batch.map(({ offset }) => offset)).toEqual(
            Array.from(
              { length: fitting < 0 ? Math.min(limit, sizes.length - from) : fitting + 1 },
              (_, i) => from + i,
            ),
          )
        }
  })

  test('is woken by the writes of the other process', async () => {
    const writer = await startWriter({ calls: 1_000_000 })
    const reader = await open({ readOnly: true, clock: withoutPolling })
    const from = (await reader.ends('copy'))[1]?.end ?? 0
    const stop = new AbortController()
    const seen: string[] = []
    const following = collect(
      reader.follow({ topic: 'copy', partition: 1, from, signal: stop.signal }),
      seen,
    )
    await until('it has seen more than there was', () => seen.length > 100)
    await writer.kill()
    stop.abort()
    await following
  })

  test('opens the file of a killed process', async () => {
    const writer = await startWriter({ calls: 3 })
    await until('it is done', () => writer.lines.includes('done'))
    await writer.kill()
    const reader = await open({ readOnly: true })
    expect(await readAll(reader, 'inbox', 0)).toHaveLength(15)
  })

  test('waits for a value that the writer of the same process sets', async () => {
    const writer = await open()
    await writer.ensureTopics([{ name: 'policies', kind: 'table', partitions: 1 }])
    const reader = await open({ readOnly: true })
    const getting = reader.get({ topic: 'policies', partition: 0, key: 'k', waitMs: 20_000 })
    await writer.append([record('policies', 'set', { key: 'k' })])
    const found = await getting
    expect(found === undefined ? undefined : textOf(found)).toBe('set')
    expect(
      (await reader.list({ topic: 'policies', partition: 0, prefix: '' })).map(textOf),
    ).toEqual(['set'])
  })

  test('sees topics that were created after it opened', async () => {
    const writer = await open()
    const reader = await open({ readOnly: true })
    await writer.ensureTopics([{ name: 'late', kind: 'log', partitions: 1 }])
    await writer.append([record('late', 'a')])
    expect((await readAll(reader, 'late')).map(textOf)).toEqual(['a'])
  })

  test('writes nothing', async () => {
    const writer = await open()
    const spec = { name: 'inbox', kind: 'log', partitions: 1 } as const
    await writer.ensureTopics([spec])
    const reader = await open({ readOnly: true })
    const refused = { code: 'bus.unwritable', retryable: false }
    const assign = () => Promise.reject(new Error('must not be called'))
    await reader.ensureTopics([spec])
    await expect(reader.ensureTopics([{ ...spec, name: 'other' }])).rejects.toMatchObject(refused)
    await expect(reader.append([record('inbox', 'a')])).rejects.toMatchObject(refused)
    await expect(reader.subscribe({ group: 'g', topic: 'inbox', assign })).rejects.toMatchObject(
      refused,
    )
    expect(reader.provesFormerOwnersDead).toBe(false)
  })
})

describe('the file as a postmortem bundle', () => {
  test('shows topics, records and commits by name in any SQLite tool', async () => {
    const bus = await open({ clock: handClock(Date.parse('2026-01-02T03:04:05.678Z')) })
    await bus.ensureTopics([
      { name: 'weir.rounds-checked', kind: 'log', partitions: 2, retentionMs: 1000 },
      { name: 'weir.history', kind: 'table', partitions: 1 },
    ])
    await bus.append([
      record('weir.rounds-checked', 'hello', { partition: 1 }),
      record('weir.history', 'hi', { key: 'k' }),
    ])
    await bus.close()
    expect(runSql(file, 'SELECT * FROM topics')).toEqual([
      { name: 'weir.rounds-checked', kind: 'log', partitions: 2, retention_ms: 1000 },
      { name: 'weir.history', kind: 'table', partitions: 1, retention_ms: null },
    ])
    expect(
      runSql(
        file,
        'SELECT topic, partition, offset, at, key, id, bytes, CAST(value AS TEXT) AS text FROM records',
      ),
    ).toEqual([
      {
        topic: 'weir.history',
        partition: 0,
        offset: 0,
        at: '2026-01-02T03:04:05.678Z',
        key: 'k',
        id: null,
        bytes: 2,
        text: 'hi',
      },
      {
        topic: 'weir.rounds-checked',
        partition: 1,
        offset: 0,
        at: '2026-01-02T03:04:05.678Z',
        key: 'conversation',
        id: null,
        bytes: 5,
        text: 'hello',
      },
    ])
    expect(runSql(file, 'SELECT offset FROM "weir.rounds-checked/1"')).toEqual([{ offset: 0 }])
    expect(runSql(file, 'PRAGMA application_id')).toEqual([{ application_id: 0x57656972 }])
    expect(runSql(file, 'PRAGMA user_version')).toEqual([{ user_version: 2 }])
  })

  test('holds more partitions than the terms that one UNION ALL allows', async () => {
    const bus = await open()
    const names = Array.from({ length: 12 }, (_, n) => `topic-${n}`)
    await bus.ensureTopics(names.map((name) => ({ name, kind: 'log', partitions: 64 })))
    await bus.append(names.map((name) => record(name, name, { partition: 63 })))
    await bus.close()
    expect(runSql(file, 'SELECT count(*) AS n FROM records')).toEqual([{ n: 12 }])
  })
})
