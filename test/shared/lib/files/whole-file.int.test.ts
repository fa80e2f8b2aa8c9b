// A file exists as a whole or not at all. It replaces only a file that the user gave up with
// `force`.

import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEmbeddedBus } from '../../../../shared/bus/embedded/bus.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import {
  beginFile,
  nameFile,
  refusal,
  refuseTaken,
  writeWhole,
} from '../../../../shared/lib/files/whole-file.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-whole-'))
  file = join(folder, 'a.html')
})
afterEach(() => rmSync(folder, { recursive: true }))

const noMore = new Error('no more')

function* failing(): Generator<string> {
  yield 'half'
  throw noMore
}

describe('a file that is written whole', () => {
  it('is complete, and only this user can read it', async () => {
    expect(await writeWhole(file, ['grün', 'er'], { force: false })).toBe(7)
    expect(readFileSync(file, 'utf8')).toBe('grüner')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['a.html'])
  })

  it('cannot have the path -, which means standard output, but ./- is allowed', () => {
    expect(() => refuseTaken('-', { force: true })).toThrow(
      /cannot write to standard output: name a file/,
    )
    expect(() => refuseTaken(join(folder, '-'), { force: false })).not.toThrow()
  })

  it('does not exist if writing it fails', async () => {
    // a mistake of ours, which no other path can fix
    await expect(writeWhole(file, failing(), { force: false })).rejects.toBe(noMore)
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves no unfinished file when a signal ends the process', async () => {
    const somebody = (): void => {} // this handler decides the process's end, and keeps it alive
    process.on('SIGTERM', somebody)
    const left: string[][] = []
    function* interrupted(): Generator<string> {
      yield 'half'
      left.push(readdirSync(folder))
      process.emit('SIGTERM', 'SIGTERM')
      left.push(readdirSync(folder))
      throw noMore
    }
    await expect(writeWhole(file, interrupted(), { force: false })).rejects.toBe(noMore)
    process.off('SIGTERM', somebody)
    expect(left).toEqual([[expect.stringContaining('unfinished')], []])
  })

  it('replaces an existing file only by force', async () => {
    writeFileSync(file, 'mine')
    expect(() => refuseTaken(file, { force: false })).toThrow(
      expect.objectContaining({ code: 'output.exists' }),
    )
    refuseTaken(file, { force: true })
    await expect(writeWhole(file, ['new'], { force: false })).rejects.toMatchObject({
      code: 'output.exists',
    })
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['mine', ['a.html']])
    await writeWhole(file, ['new'], { force: true })
    expect([readFileSync(file, 'utf8'), readdirSync(folder)]).toEqual(['new', ['a.html']])
  })

  it('never replaces a log or its own source, even by force', async () => {
    const log = join(folder, 'weir.db')
    await (await openEmbeddedBus({ file: log, clock: systemClock })).close()
    expect(() => refuseTaken(log, { force: true })).toThrow(
      /is a log of Weir, which is never overwritten, not even with --force/,
    )
    writeFileSync(file, 'mine')
    symlinkSync(file, join(folder, 'link'))
    for (const reads of [file, join(folder, 'link')])
      expect(() => refuseTaken(file, { force: true, reads })).toThrow(
        /is the file that is read, which is never overwritten/,
      )
    refuseTaken(file, { force: true, reads: log })
  })

  it('leaves a file that appeared in the meantime unchanged', () => {
    const unfinished = beginFile(file)
    writeFileSync(file, 'mine')
    expect(() => nameFile(unfinished, file, { force: false })).toThrow(
      expect.objectContaining({ code: 'output.exists' }),
    )
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  it('is refused before any work if its folder is missing', () => {
    const nowhere = join(folder, 'no', 'a.html')
    expect(() => refuseTaken(nowhere, { force: false })).toThrow(
      expect.objectContaining({ code: 'output.unwritable' }),
    )
    expect(() => beginFile(nowhere)).toThrow(
      /cannot be written \(ENOENT\): name a place where this user may write/,
    )
  })

  it('reports a full disk, from the file system or SQLite, and other errors of SQLite', () => {
    const full = `${file} cannot be written (the disk is full): make room there, or name another place (--output)`
    expect(refusal(file, systemError('ENOSPC', -28))).toMatchObject({
      code: 'output.unwritable',
      message: full,
    })
    expect(refusal(file, sqliteError('database or disk is full', 13))).toMatchObject({
      code: 'output.unwritable',
      message: full,
    })
    // with SQLite's extended code
    const unreadable = refusal(file, sqliteError('disk I/O error', 10 | (2 << 8)))
    expect(unreadable).toMatchObject({
      message: expect.stringContaining('(disk I/O error): name a place where this user may write'),
    })
  })

  it('leaves a mistake in SQL as it is', () => {
    const twice = sqliteError('UNIQUE constraint failed: records.topic', 2067)
    expect(refusal(file, twice)).toBe(twice)
  })
})

function systemError(code: string, errno: number): Error {
  return Object.assign(new Error(code), { code, errno })
}

/** In the form of node:sqlite's errors. */
function sqliteError(message: string, errcode: number): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })
}
