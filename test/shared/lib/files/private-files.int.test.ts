import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  makePrivateFile,
  makePrivateFolder,
  reachedByOthers,
} from '../../../../shared/lib/files/private-files.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-private-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const isOurs = (name: string) => name.startsWith('weir.')

describe('a private folder', () => {
  it('is made for this user only', () => {
    const made = makePrivateFolder(join(folder, 'a', 'b', 'weir.db'), isOurs)
    expect([made, modeOf(join(folder, 'a', 'b'))]).toEqual([
      [join(folder, 'a'), join(folder, 'a', 'b')],
      '700',
    ])
  })

  it('is closed to other users if it existed before', () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o755)
    writeFileSync(join(shared, 'weir.db'), '')
    makePrivateFolder(join(shared, 'weir.db'), isOurs)
    expect(modeOf(shared)).toBe('700')
  })

  it('stays open if it holds files of others', () => {
    const project = join(folder, 'project')
    mkdirSync(project)
    chmodSync(project, 0o755)
    writeFileSync(join(project, 'index.html'), '')
    makePrivateFolder(join(project, 'weir.db'), isOurs)
    expect([modeOf(project), reachedByOthers([project])]).toEqual(['755', [project]])
  })
})

describe('a private file', () => {
  it('does not change the target of a link beside it', () => {
    const [file, beside, target] = ['weir.db', 'weir.db-wal', 'page.html'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    writeFileSync(target, 'page', { mode: 0o644 })
    symlinkSync(target, beside)
    makePrivateFile(file, [beside])
    expect(modeOf(target)).toBe('644')
  })

  it('is created empty for this user only', () => {
    const file = join(folder, 'weir.db')
    makePrivateFile(file)
    expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual(['600', ''])
  })

  it('is closed to other users if it existed before, with the files beside it', () => {
    const [file, wal] = [join(folder, 'weir.db'), join(folder, 'weir.db-wal')] as const
    for (const one of [file, wal]) {
      writeFileSync(one, 'content')
      chmodSync(one, 0o644)
    }
    makePrivateFile(file, [wal, join(folder, 'missing')])
    expect([modeOf(file), modeOf(wal), readFileSync(file, 'utf8')]).toEqual([
      '600',
      '600',
      'content',
    ])
    expect(reachedByOthers([file, wal])).toEqual([])
  })
})
