// A bundle as a file: the reasons to refuse one, and the bus over a valid one.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Bundle, openBundle, refuseCutTurns } from '../../../shared/bus/bundle/bus.ts'
import { bundleFormat, trailerBytes, trailerOf } from '../../../shared/bus/bundle/format.ts'
import { isBundle } from '../../../shared/bus/bundle/open.ts'
import { createBundle } from '../../../shared/bus/bundle/writer.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { historyKey } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { userMessage } from '../../support/messages.ts'
import { runSql } from '../../support/run-sql.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-bundle-'))
  file = join(folder, 'a.weir')
  await make()
})
afterEach(() => rmSync(folder, { recursive: true }))

const turn = {
  conversation: 'c',
  turn: 7,
  partition: 1,
  agent: 'agent',
  messageId: 'm1',
  beganAt: 1_000,
  endedAt: null,
  outcome: 'open',
  failureClass: null,
  cap: null,
  reason: null,
  rounds: 1,
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
}

const facts = {
  madeAt: '2026-01-01T00:00:00.000Z',
  source: 'embedded',
  topicPrefix: 'p.',
  partitions: 3,
  asked: '{}',
  redaction: null,
}

function entry(
  round: number,
  offset: number,
  value: Uint8Array | null = Buffer.from(`round ${round}`),
): StoredRecord {
  return {
    topic: 'history',
    partition: 1,
    offset,
    time: 1_000 + offset,
    key: historyKey({ conversation: 'c', turn: 7, round }),
    value,
  }
}

async function make({ whole = true }: { whole?: boolean } = {}): Promise<void> {
  const bundle = createBundle(file, { force: true })
  bundle.topic('conversation-events', 'log')
  const message = userMessage({ conversation: 'c', text: 'x'.repeat(10_000) })
  for (const offset of [7, 9, 12])
    bundle.add({
      topic: 'conversation-events',
      partition: 1,
      offset,
      time: 1_000 + offset,
      key: 'c',
      value: encode(message),
    })
  bundle.topic('history', 'table')
  for (const record of [entry(0, 3), entry(1, 4), entry(0, 8), entry(2, 9), entry(2, 10, null)])
    bundle.add(record)
  bundle.turn({ ...turn, whole })
  await bundle.finish(facts)
}

async function opened(see: (bundle: Bundle) => Promise<void>): Promise<void> {
  const bundle = await openBundle(file, systemClock)
  try {
    await see(bundle)
  } finally {
    await bundle.bus.close()
  }
}

/**
 * Anyone who changes a bundle on purpose can seal it again: the seal is no protection against that.
 */
function changed(change: (bytes: Buffer) => void): void {
  const content = Buffer.from(readFileSync(file).subarray(0, -trailerBytes))
  change(content)
  writeFileSync(
    file,
    Buffer.concat([content, trailerOf(createHash('sha256').update(content).digest('hex'))]),
  )
}

const refusal = () => openBundle(file, systemClock).then(() => undefined)

describe('a bundle', () => {
  it('neither creates nor reads files next to it, so its folder may be read-only', async () => {
    changed((bytes) => bytes.fill(2, 18, 20)) // as if a tool had changed it to a write-ahead log
    writeFileSync(`${file}-wal`, 'of somebody else')
    await opened(async ({ facts }) => {
      expect(facts.records).toBe(8)
      expect(readdirSync(folder).sort()).toEqual(['a.weir', 'a.weir-wal'])
    })
    expect(readFileSync(`${file}-wal`, 'utf8')).toBe('of somebody else')
  })

  it('has no name before it is whole, and none after an abort at the end', async () => {
    const other = join(folder, 'other.weir')
    const bundle = createBundle(other)
    await expect(bundle.finish(facts, AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    })
    bundle.abandon()
    expect(readdirSync(folder)).toEqual(['a.weir'])
  })

  it('is a read-only bus with the offsets of the log', async () => {
    await opened(async ({ bus, facts, turns }) => {
      expect(facts).toMatchObject({ topicPrefix: 'p.', partitions: 3, records: 8, redaction: null })
      expect([...turns()]).toEqual([{ ...turn, whole: true }])
      expect(await bus.ends('p.conversation-events')).toEqual([
        { partition: 0, begin: 0, end: 0 },
        { partition: 1, begin: 7, end: 13 },
        { partition: 2, begin: 0, end: 0 },
      ])
      const stretch = { topic: 'p.conversation-events', partition: 1 }
      const offsets = async (range: object) =>
        (await bus.read({ ...stretch, from: 0, limit: 10, ...range })).map(({ offset }) => offset)
      expect(await offsets({})).toEqual([7, 9, 12])
      expect(await offsets({ from: 8, to: 12 })).toEqual([9])
      expect(await offsets({ limit: 2 })).toEqual([7, 9])
      expect(await offsets({ bytesMax: 1 })).toEqual([7])
      const read: number[] = []
      for await (const records of bus.follow({
        ...stretch,
        from: 8,
        signal: new AbortController().signal,
      }))
        read.push(...records.map(({ offset }) => offset))
      expect(read).toEqual([9, 12])
      await expect(bus.append([])).rejects.toMatchObject({ code: 'bus.unwritable' })
      await expect(bus.ends('p.nothing')).rejects.toMatchObject({ code: 'bus.topic-missing' })
    })
  })

  it('returns the records of a conversation, without its history and other conversations', async () => {
    await opened(async ({ recordsOf }) => {
      expect(
        recordsOf('c').map(({ topic, partition, offset, key }) => [topic, partition, offset, key]),
      ).toEqual([7, 9, 12].map((offset) => ['p.conversation-events', 1, offset, 'c']))
      expect(recordsOf('nobody')).toEqual([])
    })
  })

  it('reports how much of it is checked, and stops opening on abort', async () => {
    const progress: number[] = []
    const checking = {
      expect: (bytes: number) => void progress.push(bytes),
      read: (bytes: number) => void progress.push(-bytes),
    }
    await (await openBundle(file, systemClock, { checking })).bus.close()
    expect(progress[0]).toBe(readFileSync(file).length - trailerBytes)
    expect(progress.reduce((sum, bytes) => sum + bytes)).toBe(0)
    const stopped = openBundle(file, systemClock, { signal: AbortSignal.abort() })
    await expect(stopped).rejects.toThrow(/aborted/)
  })

  it.each([
    [
      'other tables than ours',
      `topic IN ('history', 'policies')`,
      `topic IN ('history', 'policieX')`,
      'other tables',
    ],
    ['a number of partitions that cannot be', 'partitions3', 'partitions-', 'partitions'],
  ])('is refused with %s, even with a valid seal', async (_, from, to, words) => {
    changed((bytes) => {
      const at = bytes.indexOf(from)
      expect(at).toBeGreaterThan(0)
      bytes.write(to, at, 'latin1')
    })
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.invalid',
      message: expect.stringContaining(words),
    })
  })

  it.each([
    ['UPDATE bundle SET value = 100000 WHERE key = $partitions', /row partitions .* is "100000"/],
    ['UPDATE bundle SET value = -1 WHERE key = $partitions', /row partitions .* is "-1"/],
    ['UPDATE bundle SET value = $1e2 WHERE key = $partitions', /row partitions .* is "1e2"/],
    ['DELETE FROM bundle WHERE key = $partitions', /row partitions .* is ""/],
    ['UPDATE bundle SET value = $many WHERE key = $records', /row records .* is "many"/],
    ['UPDATE records SET time = 9223372036854775807', /column time .* is 9223372036854775807/],
    ['UPDATE records SET time = 8640000000000001', /column time .* is 8640000000000001/],
    ['UPDATE records SET time = -1', /column time .* is -1/],
    [
      'UPDATE records SET offset = 9223372036854775807 WHERE offset = 12',
      /column offset .* is 9223372036854775807/,
    ],
    [
      'UPDATE records SET offset = 9007199254740991 WHERE offset = 12',
      /column offset .* is 9007199254740991/,
    ],
    ['UPDATE records SET offset = -5 WHERE offset = 7', /column offset .* is -5/],
    ['UPDATE records SET partition = 4000000', /column partition .* is 4000000/],
    ['UPDATE turns SET turn = 9223372036854775807', /column turn .* is 9223372036854775807/],
    [
      'UPDATE turns SET began_at = -9223372036854775808',
      /column began_at .* is -9223372036854775808/,
    ],
    [
      'UPDATE turns SET ended_at = 9223372036854775807',
      /column ended_at .* is 9223372036854775807/,
    ],
    [
      'UPDATE turns SET input_tokens = 9223372036854775807',
      /column input_tokens .* is 9223372036854775807/,
    ],
    ['UPDATE turns SET rounds = -1', /column rounds .* is -1/],
  ])('is refused with its value and bounds after %s, with a valid seal', async (sql, words) => {
    const bare = join(folder, 'bare')
    writeFileSync(bare, readFileSync(file).subarray(0, -trailerBytes))
    runSql(bare, sql.replaceAll(/\$(\w+)/g, "'$1'"))
    const content = readFileSync(bare)
    const digest = createHash('sha256').update(content).digest('hex')
    writeFileSync(file, Buffer.concat([content, trailerOf(digest)]))
    await expect(refusal()).rejects.toMatchObject({ code: 'bundle.invalid' })
    await expect(refusal()).rejects.toThrow(words)
    await expect(refusal()).rejects.toThrow(/must be from \d+ to \d+/)
  })

  it.each<[string, (bytes: Buffer) => void]>([
    ['its first byte', (bytes) => bytes.fill(0, 0, 1)],
    ['a page', (bytes) => bytes.fill(0xff, bytes.readUInt16BE(16), 2 * bytes.readUInt16BE(16))],
    ['a key in an index only', (bytes) => bytes.write('X', bytes.lastIndexOf('["c",'))],
  ])('is refused as damaged if %s is broken, with a valid seal', async (_, change) => {
    changed(change)
    await expect(refusal()).rejects.toMatchObject({ code: 'bundle.damaged' })
    await expect(refusal()).rejects.toThrow(/SQLite cannot read it/)
  })

  it('returns the newest value of each key of a table', async () => {
    await opened(async ({ bus }) => {
      const table = { topic: 'p.history', partition: 1 }
      expect((await bus.list({ ...table, prefix: '["c",' })).map(({ offset }) => offset)).toEqual([
        8, 4,
      ])
      expect((await bus.keys({ ...table, limit: 1 })).map(({ offset }) => offset)).toEqual([8])
      const [first] = await bus.keys({ ...table, limit: 1 })
      expect(
        (await bus.keys({ ...table, limit: 5, after: first?.key })).map(({ offset }) => offset),
      ).toEqual([4])
      expect((await bus.get({ ...table, key: entry(0, 0).key, waitMs: 0 }))?.offset).toBe(8)
      expect(await bus.get({ ...table, key: entry(2, 0).key, waitMs: 60_000 })).toBeUndefined()
      await expect(
        bus.list({ topic: 'p.conversation-events', partition: 1, prefix: '' }),
      ).rejects.toMatchObject({
        code: 'bus.topic-differs',
      })
    })
  })

  it('is refused when it is truncated anywhere', async () => {
    const whole = readFileSync(file)
    for (const length of [
      whole.length - 1,
      whole.length - trailerBytes,
      whole.length >> 1,
      4096,
      100,
    ]) {
      writeFileSync(file, whole.subarray(0, length))
      expect(isBundle(file)).toBe(true)
      await expect(refusal()).rejects.toMatchObject({
        code: 'bundle.damaged',
        message: expect.stringContaining('export it again'),
      })
    }
    writeFileSync(file, whole.subarray(0, whole.length >> 1))
    await expect(refusal()).rejects.toThrow(
      `it is truncated: ${whole.length >> 1} of ${whole.length} bytes are left`,
    )
  })

  it('is refused when any byte of it has changed', async () => {
    const whole = readFileSync(file)
    for (let at = 0; at < whole.length; at += 499) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] as number) ^ 0x20
      writeFileSync(file, bytes)
      await expect(refusal()).rejects.toMatchObject({ code: 'bundle.damaged' })
    }
  })

  it('is refused when a newer Weir made it', async () => {
    // the place of SQLite's user_version
    changed((bytes) => bytes.writeUInt32BE(bundleFormat + 1, 60))
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.newer-version',
      message: expect.stringContaining(`has format ${bundleFormat + 1}`),
    })
  })

  it('is refused when its records have unknown schemas', async () => {
    changed((bytes) => {
      const at = bytes.indexOf('"weir.UserMessage"')
      expect(at).toBeGreaterThan(0)
      bytes.write('"weir.UserMassage"', at)
    })
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.unknown-schema',
      message: expect.stringMatching(/user-message of version \d+ \(schema \d+\)/),
    })
  })

  it('is refused when it lacks a schema of its records', async () => {
    changed((bytes) => {
      const bare = join(folder, 'bare.db')
      writeFileSync(bare, bytes)
      runSql(bare, 'DELETE FROM schemas')
      readFileSync(bare).copy(bytes)
    })
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.unknown-schema',
      message: expect.stringMatching(/lacks schemas .*: \d+ \(user-message\)\. /),
    })
  })

  it('is refused when it lacks a topic of its records', async () => {
    changed((bytes) => {
      const bare = join(folder, 'bare.db')
      writeFileSync(bare, bytes)
      runSql(bare, "UPDATE topics SET name = 'conversation-eventz' WHERE kind = 'log'")
      readFileSync(bare).copy(bytes)
    })
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.invalid',
      message: expect.stringContaining('lacks the topic "conversation-events" of its records'),
    })
  })

  it.each(['value', 'key'] as const)(
    'is refused when the %s of a record is larger than one of a log',
    async (part) => {
      const large = Buffer.alloc(limits.recordBytesMax + 1, 'x')
      const own = part === 'key' ? { key: String(large) } : { value: large }
      const bundle = createBundle(file, { force: true })
      bundle.topic('history', 'table')
      bundle.add({ ...entry(0, 3), ...own })
      await bundle.finish(facts)
      await expect(refusal()).rejects.toMatchObject({
        code: 'bundle.invalid',
        message: expect.stringMatching(
          /the record at offset 3 of partition 1 of "history" has \d+ bytes; must be at most 10485760/,
        ),
      })
    },
  )

  it('names the turn that lacks its beginning, for callers that need whole turns', async () => {
    await opened(async (bundle) => expect(() => refuseCutTurns(bundle)).not.toThrow())
    await make({ whole: false })
    await opened(async (bundle) =>
      expect(() => refuseCutTurns(bundle)).toThrow(
        expect.objectContaining({
          code: 'bundle.turn-cut',
          message: expect.stringContaining('turn at offset 7 of c'),
        }),
      ),
    )
  })

  it.each([
    [
      'a named pipe, without waiting for who writes into it',
      () => void execFileSync('mkfifo', [file]),
      'is not a regular file',
    ],
    ['a folder', () => mkdirSync(file), 'is a folder; must be a file'],
  ])('is not %s', async (_, put, words) => {
    rmSync(file)
    put()
    expect(isBundle(file)).toBe(false)
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.invalid',
      message: expect.stringContaining(`a.weir ${words}: weir export`),
    })
  })

  it('is distinguished from other files', async () => {
    writeFileSync(file, 'no bundle')
    expect(isBundle(file)).toBe(false)
    await expect(refusal()).rejects.toMatchObject({ code: 'bundle.invalid' })
    rmSync(file)
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.invalid',
      message: expect.stringContaining('a.weir does not exist'),
    })
    const log = await openEmbeddedBus({ file, clock: systemClock })
    await log.close()
    await expect(refusal()).rejects.toMatchObject({
      code: 'bundle.invalid',
      message: expect.stringContaining('--data-folder'),
    })
  })
})
