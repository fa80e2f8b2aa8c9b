// A bound on the processes of all sandboxes of a root user together. The kernel does not apply
// `prlimit --nproc` to root, and a fork bomb grows faster than anybody can look at it.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const processesMax = 1024

let file: string | undefined
let isTried = false

/**
 * The file that takes a process into a cgroup with this bound. Undefined: the user is not root, or
 * has no writable cgroup. Made once for each process, and removed at its end.
 */
export function processCap(): string | undefined {
  if (!isTried && process.getuid?.() === 0) file = groupFile()
  isTried = true
  return file
}

/** Adds the process that starts `argv` to the cgroup first. If that fails, nothing starts. */
export function withProcessCap(argv: [string, ...string[]]): [string, ...string[]] {
  const group = processCap()
  return group === undefined
    ? argv
    : ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', group, ...argv]
}

function groupFile(): string | undefined {
  for (const parent of parents()) {
    const folder = join(parent, `weir-sandboxes-${process.pid}`)
    try {
      mkdirSync(folder)
    } catch {
      continue
    }
    process.once('exit', () => remove(folder))
    try {
      if (!existsSync(join(folder, 'pids.max'))) throw new Error('no controller of processes')
      writeFileSync(join(folder, 'pids.max'), String(processesMax))
      return join(folder, 'cgroup.procs')
    } catch {
      remove(folder)
    }
  }
  return undefined
}

/** It stays if a process is left in it. */
function remove(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}

/** The cgroups of this process that may bound processes: of version 1 and of version 2. */
function parents(): string[] {
  const lines = existsSync('/proc/self/cgroup')
    ? readFileSync('/proc/self/cgroup', 'utf8').split('\n')
    : []
  return lines.flatMap((line) => {
    const [, controllers, path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === 'pids') return [join('/sys/fs/cgroup/pids', path)]
    return controllers === '' ? [join('/sys/fs/cgroup', path)] : []
  })
}
