// The command line of bubblewrap for a sandbox.
// The program has no capabilities, also as root, so it cannot undo a mount. It gets no
// new privileges, and dies with bubblewrap, which dies with its parent.
// Each folder that the program may fill has a bound: its memory would be ours.

import { type Confinement, type Mount, proxySocketInside } from './confinement.ts'
import { filterDescriptor } from './launcher.ts'
import type { MountPlan } from './mounts.ts'
import { seccompFilter } from './seccomp.ts'

export type Bubblewrap = {
  program: string
  version: string
  /** Whether a sandbox can have its own /proc. Without, it has none. */
  hasProc: boolean
  /** Whether a program can be kept from making user namespaces. */
  closesUserNamespaces: boolean
}

const shmBytesMax = 64 * 1024 * 1024

/**
 * `command`: the program to start inside, with its launchers. Start the result with the filter of
 * system calls (launcher.ts).
 */
export function bubblewrapArgv(
  { program, hasProc, closesUserNamespaces }: Omit<Bubblewrap, 'version'>,
  { network, memoryBytes, statusFd }: Pick<Confinement, 'network' | 'memoryBytes' | 'statusFd'>,
  { mounts, cwd }: MountPlan,
  command: readonly string[],
): [string, ...string[]] {
  const scratch = (path: string, bytes: number) => ['--size', String(bytes), '--tmpfs', path]
  const hidden = mounts.flatMap(({ kind, path }) => (kind === 'hidden-folder' ? [path] : []))
  return [
    program,
    ...(seccompFilter() === undefined ? [] : ['--seccomp', String(filterDescriptor)]),
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...(network === 'all' ? [] : ['--unshare-net']),
    ...(closesUserNamespaces ? ['--disable-userns'] : []),
    // A new session, because SIGTERM must reach the program and not bubblewrap, which would end it.
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
    ...(statusFd === undefined ? [] : ['--json-status-fd', String(statusFd)]),
    // Read-only: root without capabilities still owns /proc/sys, and with it the whole machine.
    ...(hasProc ? ['--proc', '/proc', '--remount-ro', '/proc'] : []),
    ...['--dev', '/dev', ...scratch('/dev/shm', Math.min(shmBytesMax, memoryBytes))],
    ...['--remount-ro', '/dev', ...scratch('/tmp', memoryBytes)],
    ...mounts.flatMap(mountFlags),
    ...(typeof network === 'object' ? ['--ro-bind', network.proxySocket, proxySocketInside] : []),
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    ...['--remount-ro', '/', '--chdir', cwd, '--'],
    ...command,
  ]
}

function mountFlags(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.source, mount.path]
    case 'write':
      return ['--bind', mount.path, mount.path]
    case 'link':
      return ['--symlink', mount.target, mount.path]
    case 'hidden-folder':
      return ['--tmpfs', mount.path]
    case 'hidden-file':
      return ['--ro-bind', '/dev/null', mount.path]
  }
}
