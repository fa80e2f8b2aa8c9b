// The program that makes sandboxes on this machine: bubblewrap, otherwise util-linux. Each is tried
// with a real sandbox, because a kernel, a container or a security module can forbid it.

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { type Bubblewrap, bubblewrapArgv } from './bubblewrap.ts'
import { launched } from './launcher.ts'
import { systemMounts } from './system-paths.ts'
import { type Unshare, unshareArgv, unsharePrograms } from './unshare.ts'

/** `prlimit`: undefined: no bound on memory, processes and CPU time holds. */
export type Backend = (Bubblewrap | Unshare) & { prlimit: string | undefined }

/** `missing`: the reason, and the remedy. */
export type Found = { backend: Backend } | { missing: string }

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
    return { missing: `sandboxes need Linux, and this is ${platform}; write sandbox: off` }
  const programOf = (name: string) =>
    [...systemFolders, ...path.split(':')]
      .filter((folder) => folder.startsWith('/'))
      .map((folder) => join(folder, name))
      .find(isProgram)
  return findAmong(programOf)
}

/** `programOf`: the file of a program, or undefined. */
export function findAmong(programOf: (name: string) => string | undefined): Found {
  const prlimit = programOf('prlimit')
  const faults: string[] = []
  const bwrap = programOf('bwrap')
  if (bwrap === undefined) faults.push('bubblewrap is not installed')
  else {
    const usable = bubblewrapOf(bwrap)
    if ('kind' in usable) return { backend: { ...usable, prlimit } }
    faults.push(`bubblewrap does not work here (${usable.fault})`)
  }
  const programs = unsharePrograms(programOf)
  if ('missing' in programs) faults.push(`util-linux lacks ${programs.missing}`)
  else {
    const fault = faultOf(
      unshareArgv(programs, probe, { mounts: [...systemMounts()], cwd: '/' }, ['true']),
    )
    if (fault === undefined) return { backend: { ...programs, prlimit } }
    faults.push(`unshare does not work here (${fault})`)
  }
  return {
    missing: `${faults.join(', and ')}; install bubblewrap, allow user namespaces, or write sandbox: off`,
  }
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
    const fault = faultOf(launched(argv, { group: undefined, filtered: true }))
    if (fault === undefined) {
      const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
      return {
        kind: 'bubblewrap',
        program,
        version: stdout.trim().replace(/^\D*/, ''),
        ...features,
      }
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
