// Starts the process of a guard: in a sandbox of bubblewrap where this machine has it. No network and
// no other process is in its reach then. The permission model of Node.js applies in both cases.

import { type ChildProcess, spawn } from 'node:child_process'
import { bytesOfSize, sandboxBounds } from '../../../shared/agents/sandbox.ts'
import { type Found, sandboxBackend } from '../../../shared/lib/sandbox/backend.ts'
import { withoutInherited } from '../../../shared/lib/sandbox/inherited-descriptors.ts'
import { confined } from '../../../shared/lib/sandbox/launch.ts'

/** All that the process reads. */
export type Readable = { folders: readonly string[]; files: readonly string[] }

/** `argv`: Node.js, its flags and the program. */
export function startGuardChild(
  argv: readonly [string, ...string[]],
  reads: Readable,
  found: Found = sandboxBackend(),
): ChildProcess {
  const [program, ...rest] = boxed(argv, reads, found) ?? argv
  return spawn(program, rest, {
    env: {},
    // the last one is its lifeline: GUARD-CHILD-3, GUARD-CHILD-4
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'ipc', 'pipe']),
    serialization: 'advanced',
  })
}

/** Undefined: bubblewrap is not usable here. */
function boxed(
  argv: readonly [string, ...string[]],
  { folders, files }: Readable,
  found: Found,
): [string, ...string[]] | undefined {
  if ('missing' in found) return undefined
  const confinement = {
    ...{ argv, cwd: undefined, read: [], write: [], network: 'none' as const },
    programFiles: [process.execPath, ...files],
    programFolders: folders,
    memoryBytes: bytesOfSize(sandboxBounds.memory) ?? 0,
    processes: sandboxBounds.processes,
    cpuSeconds: undefined,
  }
  return confined(confinement, [], found)
}
