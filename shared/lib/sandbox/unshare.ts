// A sandbox by `unshare` and a script of `mount` commands, all of util-linux, for machines without
// bubblewrap. It makes the same mounts and keeps the same promises, and takes some 50 ms to start.
// UNSHARE-1. Any step that fails ends the script, and the program does not start.
// UNSHARE-2. The shell is process 1 of the sandbox, so all processes in it end with the program.

import { readFileSync } from 'node:fs'
import type { Confinement, Mount } from './confinement.ts'
import { isIn } from './links.ts'
import type { MountPlan } from './mounts.ts'

export type Unshare = { kind: 'unshare' } & Record<ProgramName, string>

const programNames = ['unshare', 'mount', 'umount', 'pivot_root', 'setpriv', 'sh', 'mkdir'] as const
type ProgramName = (typeof programNames)[number] | 'ln' | 'touch'
const allNames = [...programNames, 'ln', 'touch'] as const

/** `programOf`: the file of a program, or undefined. */
export function unsharePrograms(
  programOf: (name: string) => string | undefined,
): Unshare | { missing: string } {
  const found: Partial<Record<ProgramName, string>> = {}
  for (const name of allNames) {
    const program = programOf(name)
    if (program === undefined) return { missing: name }
    found[name] = program
  }
  return { kind: 'unshare', ...(found as Record<ProgramName, string>) }
}

/** The new root is built here: no sandbox shows this folder, so it covers no source of a mount. */
const newRoot = '/sys'
const shmBytesMax = 64 * 1024 * 1024
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/** `command`: the program to start inside, with its launchers. */
export function unshareArgv(
  programs: Unshare,
  { network, memoryBytes }: Pick<Confinement, 'network' | 'memoryBytes'>,
  { mounts, cwd }: MountPlan,
  command: readonly string[],
): [string, ...string[]] {
  const { unshare, sh } = programs
  return [
    unshare,
    ...['--user', '--map-root-user', '--mount', '--propagation', 'private'],
    ...['--pid', '--fork', '--kill-child=KILL', '--ipc', '--uts'],
    ...(network === 'all' ? [] : ['--net']),
    ...['--', sh, '-eu', '-c', script(programs, memoryBytes, mounts, cwd), 'sandbox', ...command],
  ]
}

function script(programs: Unshare, memoryBytes: number, mounts: readonly Mount[], cwd: string) {
  const { unshare, mount, umount, pivot_root, setpriv, mkdir, ln } = programs
  // umount works for root only, so the program gets its user back in a namespace within.
  const [uid = 0, gid = 0] = [process.getuid?.(), process.getgid?.()]
  const asUser =
    uid === 0 ? '' : `${unshare} --user --keep-caps --map-user=${uid} --map-group=${gid} -- `
  const { bind, scratch, closed, mountLines } = linesOf(programs)
  return [
    `${mount} -t tmpfs -o nosuid,nodev,mode=0755 tmpfs ${newRoot}`,
    ...scratch('/tmp', memoryBytes),
    ...scratch('/dev', 1024 * 1024),
    ...devices.flatMap((name) => bind(`/dev/${name}`, `/dev/${name}`)),
    ...Object.entries(descriptors).map(([name, to]) => `${ln} -s ${to} ${inRoot(`/dev/${name}`)}`),
    ...scratch('/dev/shm', Math.min(shmBytesMax, memoryBytes)),
    closed('/dev'),
    `${mkdir} -p ${inRoot('/proc')}`,
    // Root without capabilities still owns /proc/sys, and with it the whole machine. For another
    // user it is writable, because the namespace within is made by a write to it.
    `${mount} -t proc -o ${uid === 0 ? 'ro' : 'rw'},nosuid,nodev,noexec proc ${inRoot('/proc')}`,
    ...mounts.flatMap(mountLines),
    ...mounts.flatMap(({ kind, path }) => (kind === 'hidden-folder' ? [closed(path)] : [])),
    `${mkdir} ${newRoot}/.old`,
    `cd ${newRoot}`,
    `${pivot_root} . .old`,
    `${umount} -l /.old`,
    `${mount} -o remount,bind,ro /`,
    `cd ${quoted(cwd)}`,
    // Not exec: keeps UNSHARE-2. The group's SIGTERM reaches the program, and process 1 ignores it.
    `set +e; ${asUser}${setpriv} --no-new-privs --ambient-caps=-all --inh-caps=-all --bounding-set=-all -- "$@"; exit $?`,
  ].join('\n')
}

const descriptors = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
}

/** The lines of the script that make one mount. */
function linesOf({ mount, mkdir, ln, touch }: Unshare) {
  const submounts = mountPoints()
  return { bind, scratch, closed, mountLines }

  function scratch(path: string, bytes: number): string[] {
    const options = `nosuid,nodev,size=${bytes},mode=0755`
    return [`${mkdir} -p ${inRoot(path)}`, `${mount} -t tmpfs -o ${options} tmpfs ${inRoot(path)}`]
  }

  function closed(path: string): string {
    return `${mount} -o remount,bind,ro ${inRoot(path)}`
  }

  function bind(source: string, path: string): string[] {
    const asFile = `${mkdir} -p ${inRoot(around(path))}; [ -e ${inRoot(path)} ] || ${touch} ${inRoot(path)}`
    return [
      `if [ -d ${quoted(source)} ]; then ${mkdir} -p ${inRoot(path)}; else ${asFile}; fi`,
      `${mount} --rbind ${quoted(source)} ${inRoot(path)}`,
    ]
  }

  function mountLines(one: Mount): string[] {
    switch (one.kind) {
      case 'read':
        return [
          ...bind(one.source, one.path),
          closed(one.path),
          ...submounts
            .filter((point) => point !== one.source && isIn(point, one.source))
            .map((point) => closed(one.path + point.slice(one.source.length))),
        ]
      case 'write':
        return bind(one.path, one.path)
      case 'link':
        return [
          `${mkdir} -p ${inRoot(around(one.path))}`,
          `${ln} -s ${quoted(one.target)} ${inRoot(one.path)}`,
        ]
      case 'hidden-folder':
        return scratch(one.path, 4096)
      case 'hidden-file':
        return bind('/dev/null', one.path)
    }
  }
}

function around(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function inRoot(path: string): string {
  return quoted(`${newRoot}${path}`)
}

/** The mount points of this machine. A mount inside a read-only folder must be closed too. */
function mountPoints(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4]?.replace(/\\(\d{3})/g, fromOctal) ?? [])
}

function fromOctal(_found: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8))
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
