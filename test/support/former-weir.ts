// An earlier Weir from the history of this checkout, to run next to this one.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `program`: the path of its command. */
export type FormerWeir = { program: string; remove(): Promise<void> }

/** Whether the history of this checkout has the commit. */
export function hasCommit(commit: string): boolean {
  try {
    const type = ['cat-file', '-e', `${commit}^{commit}`]
    execFileSync('git', type, { cwd: root, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The tree of the commit in a new folder, with the packages of this checkout. */
export function formerWeir(commit: string): FormerWeir {
  const folder = mkdtempSync(join(tmpdir(), 'weir-former-'))
  const parts = ['bin', 'apps', 'client', 'schemas', 'services', 'shared', 'package.json']
  const archive = execFileSync('git', ['archive', commit, ...parts], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    program: join(folder, 'bin', 'weir'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
