import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { databaseValues } from '../../../apps/transcripts/database-values.ts'
import { DatabaseSync } from '../../../shared/bus/sqlite.ts'

const mebibyte = 1024 * 1024

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-database-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the packed texts of a session', () => {
  it('take at most 64 MiB of memory, and the others are no text', () => {
    const file = join(folder, 'sessions.sqlite')
    const db = new DatabaseSync(file)
    db.exec('CREATE TABLE texts (text BLOB)')
    const insert = db.prepare('INSERT INTO texts VALUES (?)')
    const packed = zstdCompressSync(Buffer.alloc(16 * mebibyte, 'a'))
    expect(packed.length).toBeLessThan(4096)
    for (let n = 0; n < 6; n += 1) insert.run(packed)
    db.close()
    const values = databaseValues(file, {
      ids: "SELECT 's' AS id WHERE ? >= 0",
      rows: "SELECT text FROM texts WHERE ? = 's'",
      session: (rows) => ({ lengths: rows.map(({ text }) => (text as string | null)?.length) }),
    })
    expect(values.again(0).value).toEqual({
      lengths: [...new Array(4).fill(16 * mebibyte), undefined, undefined],
    })
    values.close()
  })
})
