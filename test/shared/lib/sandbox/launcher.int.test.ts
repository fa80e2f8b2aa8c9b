import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { launched } from '../../../../shared/lib/sandbox/launcher.ts'
import { seccompFilter } from '../../../../shared/lib/sandbox/seccomp.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-launcher-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const filter = seccompFilter()
const show: [string, ...string[]] = ['sh', '-c', 'cat <&9; printf "%s|" "$@"', 'show', 'a b', '$0']

describe.each(['/bin/sh', '/bin/bash'])('the launcher in %s', (shell) => {
  const there = filter !== undefined && existsSync(shell) && process.platform === 'linux'
  const whereItIs = there ? it : it.skip

  whereItIs('gives the program the filter and its own arguments', () => {
    const [, ...rest] = launched(show, undefined)
    const { stdout } = spawnSync(shell, rest)
    expect(stdout).toEqual(Buffer.concat([filter ?? Buffer.alloc(0), Buffer.from('a b|$0|')]))
  })

  whereItIs('joins the group before it becomes the program', () => {
    const group = join(folder, 'cgroup.procs')
    const [, ...rest] = launched(['sh', '-c', 'echo $$'], group)
    const { stdout } = spawnSync(shell, rest, { encoding: 'utf8' })
    expect(readFileSync(group, 'utf8')).toBe(stdout)
  })

  whereItIs('starts nothing if the group cannot be joined', () => {
    const group = join(folder, 'gone', 'cgroup.procs')
    const [, ...rest] = launched(['echo', 'started'], group)
    const { stdout, status } = spawnSync(shell, rest, { encoding: 'utf8' })
    expect([stdout, status === 0]).toEqual(['', false])
  })
})

describe('a process that is killed', () => {
  it('leaves no file of its sandboxes', () => {
    const module = new URL('../../../../shared/lib/sandbox/backend.ts', import.meta.url).href
    const program = `const { sandboxBackend } = await import(${JSON.stringify(module)})
      sandboxBackend()
      process.kill(process.pid, 'SIGKILL')`
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program]
    const env = { ...process.env, TMPDIR: folder }
    expect(() => execFileSync(process.execPath, flags, { env })).toThrow()
    expect(readdirSync(folder)).toEqual([])
  })
})
