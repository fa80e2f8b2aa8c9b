// Files of keys on a disk.

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { writeSecretFile } from '../../../../shared/lib/files/secret-files.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-secret-files-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

it('a file of keys is private even if a readable file has the name of its unfinished one', async () => {
  const file = join(folder, 'keys.json')
  await writeFile(`${file}.${process.pid}.new`, '', { mode: 0o644 })
  writeSecretFile(file, { version: 1 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ version: 1 })
})
