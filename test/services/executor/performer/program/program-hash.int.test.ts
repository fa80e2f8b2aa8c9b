import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { programHasher } from '../../../../../services/executor/performer/program/program-hash.ts'
import type { CommandTool, ModuleTool, ToolRun } from '../../../../../shared/agents/agents.ts'

let folder: string
let hash: (run: ToolRun) => string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-program-'))
  for (const name of ['deploy.sh', 'other.sh', 'tool.mjs'])
    writeFileSync(join(folder, name), 'echo one\n')
  hash = programHasher(new Map())
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function command(fields: Partial<CommandTool> = {}): CommandTool {
  return { kind: 'command', argv: ['sh', 'deploy.sh'], cwd: folder, ...fields }
}

function file(name: string): string {
  return join(folder, name)
}

describe('the hash of a program', () => {
  it('stays the same as long as nothing changes, also for another reader', () => {
    expect(hash(command())).toMatch(/^[0-9a-f]{64}$/)
    expect(hash(command())).toBe(hash(command()))
    expect(programHasher(new Map())(command())).toBe(hash(command()))
  })

  it.each<[string, () => void]>([
    ['another content of equal size', () => writeFileSync(file('deploy.sh'), 'echo two\n')],
    ['more content', () => appendFileSync(file('deploy.sh'), '#')],
    ['an empty file', () => writeFileSync(file('deploy.sh'), '')],
    [
      'another file in its place',
      () => {
        writeFileSync(file('new'), 'echo two\n')
        renameSync(file('new'), file('deploy.sh'))
      },
    ],
    ['no file', () => rmSync(file('deploy.sh'))],
    [
      'a link to another file',
      () => {
        writeFileSync(file('evil'), 'echo two\n')
        rmSync(file('deploy.sh'))
        symlinkSync(file('evil'), file('deploy.sh'))
      },
    ],
    [
      'another content with the old time',
      () => {
        writeFileSync(file('deploy.sh'), 'echo two\n')
        utimesSync(file('deploy.sh'), 1, 1)
      },
    ],
  ])('differs for %s', (_, change) => {
    utimesSync(file('deploy.sh'), 1, 1)
    const before = hash(command())
    change()
    expect(hash(command())).not.toBe(before)
  })

  it('notices a change of a file whose digest it has kept', () => {
    // A digest is kept once its file has not changed for two seconds.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2_100)
    const before = hash(command())
    clock.mockRestore()
    writeFileSync(file('deploy.sh'), 'echo two\n')
    utimesSync(file('deploy.sh'), 1, 1)
    expect(hash(command())).not.toBe(before)
  })

  it.each<[string, Partial<CommandTool>]>([
    ['another script', { argv: ['sh', 'other.sh'] }],
    ['a further argument', { argv: ['sh', 'deploy.sh', '--force'] }],
    ['another program', { argv: ['cat', 'deploy.sh'] }],
    ['a further variable', { environment: ['TOKEN'] }],
    ['no sandbox', { sandbox: 'off' }],
  ])('differs for %s', (_, fields) => {
    expect(hash(command(fields))).not.toBe(hash(command()))
  })

  it.each<[string, string[]]>([
    ['a program in its folder', ['./run']],
    ['an option with a file', ['sh', '--script=run']],
    ['a later argument', ['sh', 'deploy.sh', 'run']],
    ['an absolute path', ['sh', '/']],
  ])('covers the content of %s', (_, argv) => {
    copyFileSync(file('deploy.sh'), file('run'))
    chmodSync(file('run'), 0o700)
    const names = argv.map((text) => (text === '/' ? file('run') : text)) as [string, ...string[]]
    const before = hash(command({ argv: names }))
    appendFileSync(file('run'), '# changed')
    expect(hash(command({ argv: names }))).not.toBe(before)
  })

  it('covers the file of a module', () => {
    const run: ModuleTool = { kind: 'module', file: file('tool.mjs') }
    const before = hash(run)
    appendFileSync(run.file, '// changed')
    expect(hash(run)).not.toBe(before)
  })

  it('covers the address of an HTTP tool without its secrets', () => {
    const http = (url: string) =>
      hash({ kind: 'http', url, headers: { authorization: 'k' }, secrets: ['path-secret'] })
    const at = http('https://me:pw@host/path-secret/x?key=one')
    expect(http('https://you:pw2@host/path-secret/x?key=two')).toBe(at)
    expect(http('https://other/path-secret/x?key=one')).not.toBe(at)
    expect(http('https://host/path-secret/y')).not.toBe(at)
  })

  it('waits for no pipe and reads no device', () => {
    expect(hash(command({ argv: ['sh', '/dev/zero'] }))).toMatch(/^[0-9a-f]{64}$/)
  })

  it('changes nothing', () => {
    hash(command())
    expect(readFileSync(file('deploy.sh'), 'utf8')).toBe('echo one\n')
  })
})
