import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { lockStateOf } from '../../../shared/bus/embedded/lock.ts'
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
