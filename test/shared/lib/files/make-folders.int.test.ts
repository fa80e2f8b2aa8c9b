// New folders on a normal file system, and on one that cannot create any, where Node's own call
// never returns.

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { makeFolders, removeEmptyFolders } from '../../../../shared/lib/files/make-folders.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-folders-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('making folders', () => {
  it('makes only the missing folders, with the requested mode', () => {
    makeFolders(join(folder, 'a', 'b', 'c'), 0o700)
    makeFolders(join(folder, 'a', 'b', 'c'), 0o700)
    expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700)
  })

  it('removes the folders that it made, except those with content', () => {
    const made = makeFolders(join(folder, 'd', 'e', 'f'))
    expect(made).toEqual([join(folder, 'd'), join(folder, 'd', 'e'), join(folder, 'd', 'e', 'f')])
    expect(makeFolders(join(folder, 'd', 'e', 'f'))).toEqual([])
    writeFileSync(join(folder, 'd', 'mine'), '')
    removeEmptyFolders(made)
    expect(readdirSync(join(folder, 'd'))).toEqual(['mine'])
  })

  it('fails if a file is in the way', () => {
    writeFileSync(join(folder, 'file'), '')
    for (const path of [join(folder, 'file'), join(folder, 'file', 'below')])
      expect(() => makeFolders(path)).toThrow(/EEXIST/)
  })

  const onProc = existsSync('/proc/self') ? it : it.skip
  onProc('refuses at once where the file system makes none', () => {
    expect(() => makeFolders('/proc/weir/log')).toThrow(/ENOENT/)
  })
})
