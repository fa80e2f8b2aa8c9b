// Finds bubblewrap, which makes the sandboxes, and prlimit, which bounds them. A real sandbox is tried,
// because a kernel, a container or a security module can forbid sandboxes.

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { type Bubblewrap, bubblewrapArgv } from './bubblewrap.ts'
import { harmlessEnvironment } from './harmless-variables.ts'
import { launched } from './launcher.ts'
import { systemMounts } from './system-paths.ts'

/** `prlimit`: its file. */
export type Backend = Bubblewrap & { prlimit: string }

/** `missing`: the reason, and the remedy. */
export type Found = { backend: Backend } | { missing: string }

/** By program: its package, which has the same name on all distributions. */
const packages = { bwrap: 'bubblewrap', prlimit: 'util-linux' }

/** By package manager: its argument that installs. */
const managers = {
  'apt-get': 'install',
  dnf: 'install',
  apk: 'add',
  pacman: '-S',
  zypper: 'install',
  brew: 'install',
}

const probeMsMax = 10_000
/** Searched before PATH, whose folders a tool may be able to write. */
const systemFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

let found: Found | undefined

/** Tried once for each process, at the first use: some milliseconds. */
export function sandboxBackend(): Found {
  found ??= findBackend()
  return found
}

/** `path`: the folders to search, as in PATH. */
export function findBackend(path = process.env.PATH ?? '', platform = process.platform): Found {
  if (platform !== 'linux')
    return { missing: `bubblewrap needs Linux, and this is ${platform}: no command installs it` }
  const programOf = (name: string) =>
    [...systemFolders, ...path.split(':')]
      .filter((folder) => folder.startsWith('/'))
      .map((folder) => join(folder, name))
      .find(isProgram)
  return findAmong(programOf)
}

/** `programOf`: the file of a program, or undefined. */
export function findAmong(programOf: (name: string) => string | undefined): Found {
  const bwrap = programOf('bwrap')
  const prlimit = programOf('prlimit')
  if (bwrap === undefined || prlimit === undefined) return { missing: notInstalled(programOf) }
  const usable = bubblewrapOf(bwrap)
  if (!('fault' in usable)) return { backend: { ...usable, prlimit } }
  return {
    missing: `bubblewrap does not work here (${usable.fault}); allow user namespaces (docs/guard/sandbox.md)`,
  }
}

/** Ends with the command that installs the packages. */
function notInstalled(programOf: (name: string) => string | undefined): string {
  const isMissing = ([name]: [string, string]) => programOf(name) === undefined
  const names = Object.entries(packages).filter(isMissing)
  const needed = names.map(([, name]) => name)
  const event = `${needed.join(' and ')} ${needed.length > 1 ? 'are' : 'is'} not installed`
  const [manager, verb] = Object.entries(managers).find((one) => !isMissing(one)) ?? []
  if (manager === undefined) return `${event}; install ${needed.join(' and ')}`
  const rights = manager === 'brew' || process.getuid?.() === 0 ? '' : 'sudo '
  return `${event}; run: ${rights}${manager} ${verb} ${needed.join(' ')}`
}

const probe = { network: 'none', memoryBytes: 1024 * 1024 } as const

/** Tried with all features first, then without those that a container often forbids. */
function bubblewrapOf(program: string): Bubblewrap | { fault: string } {
  let first: string | undefined
  for (const features of [
    { hasProc: true, closesUserNamespaces: true },
    { hasProc: true, closesUserNamespaces: false },
    { hasProc: false, closesUserNamespaces: true },
    { hasProc: false, closesUserNamespaces: false },
  ]) {
    const plan = { mounts: [...systemMounts()], cwd: '/' }
    const argv = bubblewrapArgv({ program, ...features }, probe, plan, ['true'])
    const fault = faultOf(launched(argv, undefined))
    if (fault === undefined) {
      const { stdout } = spawnSync(program, ['--version'], {
        env: harmlessEnvironment(),
        encoding: 'utf8',
      })
      return { program, version: stdout.trim().replace(/^\D*/, ''), ...features }
    }
    first ??= fault
  }
  return { fault: first ?? 'unknown' }
}

/** Undefined: the program ran and ended well. */
function faultOf([program, ...programArguments]: [string, ...string[]]): string | undefined {
  const { status, error, stderr } = spawnSync(program, programArguments, {
    encoding: 'utf8',
    timeout: probeMsMax,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: harmlessEnvironment(),
    cwd: '/',
  })
  if (status === 0) return undefined
  return error?.message ?? (stderr.trim().split('\n')[0]?.slice(0, 200) || `exit code ${status}`)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
