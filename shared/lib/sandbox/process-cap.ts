// A bound on the processes of each sandbox of a root user. The kernel does not apply
// `prlimit --nproc` to root, and a fork bomb grows faster than anybody can look at it.
// No two sandboxes share a cgroup, so one that is full keeps no other from
// starting.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const prefix = 'weir-sandboxes-'
/** Next to the program there are the first process of the sandbox and its launchers. */
export const launchersMax = 16
/** A start joins its cgroup within this time. One that is empty later is no longer needed. */
const joinMsMax = 60_000

type Group = { folder: string; madeAt: number }

/** Of this process, the oldest first. */
const groups: Group[] = []
let made = 0
let parent: string | undefined
let isTried = false

/** Whether root's sandboxes have a bound here: this user is root, and a cgroup is writable. */
export function hasProcessCap(): boolean {
  return parentFolder() !== undefined
}

/**
 * The file of a new cgroup, which the process of a sandbox must join before it starts anything.
 * Undefined: without `hasProcessCap`. Throws if there is no room for a cgroup.
 */
export function processCapFor(processes: number): string | undefined {
  const place = parentFolder()
  if (place === undefined) return undefined
  removeEnded()
  const folder = groupIn(place, processes + launchersMax)
  groups.push({ folder, madeAt: performance.now() })
  return join(folder, 'cgroup.procs')
}

/** Tried once for each process. Undefined: the user is not root, or has no writable cgroup. */
function parentFolder(): string | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (!isTried) {
    parent = parents().find(isUsable)
    if (parent !== undefined) process.once('exit', () => groups.forEach(remove))
  }
  isTried = true
  return parent
}

function isUsable(place: string): boolean {
  try {
    removeStale(place)
    rmdirSync(groupIn(place, 1))
    return true
  } catch {
    return false
  }
}

/** Throws the error of a file that cannot be made or written. */
function groupIn(place: string, processes: number): string {
  // A second copy of this module may have taken the name.
  let folder: string
  do folder = join(place, `${prefix}${process.pid}-${made++}`)
  while (existsSync(folder))
  mkdirSync(folder)
  try {
    if (!existsSync(join(folder, 'pids.max'))) throw new Error('no controller of processes')
    writeFileSync(join(folder, 'pids.max'), String(processes))
  } catch (error) {
    remove({ folder })
    throw error
  }
  return folder
}

/** Looks at two for each new one, so it keeps up and costs no more with many. */
function removeEnded(): void {
  const oldest = performance.now() - joinMsMax
  for (let looks = 0; looks < 2; looks++) {
    const [first] = groups
    if (first === undefined || first.madeAt > oldest) return
    groups.shift()
    if (!remove(first)) groups.push({ ...first, madeAt: performance.now() })
  }
}

/** Those of processes that were killed. */
function removeStale(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^weir-sandboxes-(\d+)/.exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove({ folder: join(place, name) })
  }
}

/** False: a process is left in it. */
function remove({ folder }: { folder: string }): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
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
