import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { lockStateOf } from '../../../shared/bus/embedded/file/lock.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { runSql } from '../../support/run-sql.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the files of a log', () => {
  it('are readable by this user only, also in a folder and with files that existed before', async () => {
    chmodSync(folder, 0o755)
    const file = join(folder, 'weir.db')
    const bus = await openEmbeddedBus({ file, clock: systemClock })
    try {
      await bus.ensureTopics([{ name: 'inbox', kind: 'log', partitions: 1 }])
      const modes = [folder, file, `${file}-wal`, `${file}-shm`, `${file}-lock`].map((path) =>
        (statSync(path).mode & 0o777).toString(8),
      )
      expect(modes).toEqual(['700', '600', '600', '600', '600'])
    } finally {
      await bus.close()
    }
    chmodSync(file, 0o644)
    await (await openEmbeddedBus({ file, clock: systemClock })).close()
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })
})

describe('a lock that another program holds', () => {
  it('is distinguished from the lock of a Weir that has ended', async () => {
    const file = join(folder, 'weir.db')
    await (await openEmbeddedBus({ file, clock: systemClock })).close()
    const ended = spawnSync(process.execPath, ['-e', '']).pid
    runSql(`${file}-lock`, `UPDATE holder SET pid = ${ended}`)
    const program = `const { DatabaseSync } = require('node:sqlite')
      const db = new DatabaseSync(process.argv[1])
      db.exec('BEGIN IMMEDIATE')
      console.log('locked')
      process.stdin.resume()`
    const other = spawn(process.execPath, ['-e', program, `${file}-lock`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    try {
      await once(other.stdout, 'data')
      await expect(openEmbeddedBus({ file, clock: systemClock })).rejects.toThrow(
        `a process without a Weir holds a lock on ${file}-lock; the last holder, process ${ended}, has ended`,
      )
    } finally {
      other.kill('SIGKILL')
    }
  })
})

describe('a lock that no Weir made', () => {
  const endless = `CREATE VIEW holder AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT 1 AS one, 1 AS pid, '' AS since, i AS token FROM n WHERE i < 0`

  it.each([
    ['a view, which could run without an end,', endless],
    ['a trigger', 'CREATE TABLE t (a); CREATE TRIGGER own AFTER INSERT ON t BEGIN SELECT 1; END'],
    ['the table of another program', 'CREATE TABLE places (url TEXT)'],
  ])('is refused with %s and stays unchanged', async (_title, sql) => {
    const file = join(folder, 'weir.db')
    runSql(`${file}-lock`, sql)
    const refusal = { code: 'bus.foreign-schema' }
    await expect(openEmbeddedBus({ file, clock: systemClock })).rejects.toMatchObject(refusal)
    expect(() => lockStateOf(file)).toThrow('which no Weir makes')
  })

  it('is refused as a link, and the mode of its target stays', async () => {
    const file = join(folder, 'weir.db')
    const target = join(folder, 'page.html')
    writeFileSync(target, 'page', { mode: 0o644 })
    symlinkSync(target, `${file}-lock`)
    await expect(openEmbeddedBus({ file, clock: systemClock })).rejects.toMatchObject({
      code: 'bus.foreign-schema',
      message: expect.stringContaining('a link to another file'),
    })
    expect((statSync(target).mode & 0o777).toString(8)).toBe('644')
  })
})

describe('a process that checks the lock of a file', () => {
  it('sees it free if there is no lock, and after its holder has ended', async () => {
    const file = join(folder, 'weir.db')
    expect(lockStateOf(file)).toEqual({ kind: 'free' })
    await (await openEmbeddedBus({ file, clock: systemClock })).close()
    expect(lockStateOf(file)).toEqual({ kind: 'free' })
  })

  it('sees the holder, and does not steal the lock', async () => {
    const file = join(folder, 'weir.db')
    const bus = await openEmbeddedBus({ file, clock: systemClock })
    try {
      expect(lockStateOf(file)).toEqual({ kind: 'held', pid: process.pid })
      expect(lockStateOf(file)).toEqual({ kind: 'held', pid: process.pid })
      await expect(openEmbeddedBus({ file, clock: systemClock })).rejects.toMatchObject({
        code: 'bus.locked',
      })
    } finally {
      await bus.close()
    }
  })
})
