import {
  chmodSync,
  chownSync,
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
  widerThanUser,
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

describe('a folder that is wider than its user needs', () => {
  it('has its open paths listed, also below, without links and files of others', () => {
    const data = join(folder, 'data')
    mkdirSync(join(data, 'weir.tools', 'call'), { recursive: true })
    for (const name of ['weir.db', 'weir.key', 'weir.tools/call/result', 'notes.txt'])
      writeFileSync(join(data, name), '', { mode: 0o600 })
    symlinkSync('/etc/passwd', join(data, 'weir.link'))
    for (const path of ['', 'weir.tools', 'weir.tools/call']) chmodSync(join(data, path), 0o700)
    chmodSync(join(data, 'notes.txt'), 0o644)
    expect(widerThanUser(data, isOurs)).toEqual({ open: [], foreign: [] })
    chmodSync(data, 0o750)
    chmodSync(join(data, 'weir.key'), 0o640)
    chmodSync(join(data, 'weir.tools', 'call', 'result'), 0o602)
    expect(widerThanUser(data, isOurs)).toEqual({
      open: ['', 'weir.key', 'weir.tools/call/result'].map((path) => join(data, path)),
      foreign: [],
    })
    expect(widerThanUser(join(folder, 'gone'), isOurs)).toEqual({ open: [], foreign: [] })
  })

  const whereRoot = process.getuid?.() === 0 ? it : it.skip
  whereRoot('has paths of another user listed', () => {
    const file = join(folder, 'weir.db')
    writeFileSync(file, '', { mode: 0o600 })
    chownSync(file, 65_534, 65_534)
    expect(widerThanUser(folder, isOurs).foreign).toEqual([file])
  })
})

describe('a private file', () => {
  it('does not change the target of a link next to it', () => {
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

  it('is closed to other users if it existed before, with the files next to it', () => {
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
