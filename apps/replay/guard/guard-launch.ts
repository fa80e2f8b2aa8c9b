// Starts the process of a guard in a sandbox: it reaches no network, no other process and no files but
// its code, and ends with the replay. The permission model of Node.js keeps the guard from programs,
// threads and files that would tell it the time.

import { type ChildProcess, spawn } from 'node:child_process'
import { bytesOfSize, sandboxBounds } from '../../../shared/agents/sandbox.ts'
import type { Found } from '../../../shared/lib/sandbox/backend.ts'
import { withoutInherited } from '../../../shared/lib/sandbox/inherited-descriptors.ts'
import { confined } from '../../../shared/lib/sandbox/launch.ts'

/** All that the process reads. */
export type Readable = { folders: readonly string[]; files: readonly string[] }

/**
 * `argv`: Node.js, its flags and the program. Throws `sandbox.unavailable` if this machine can make no
 * sandbox.
 */
export function startGuardChild(
  argv: readonly [string, ...string[]],
  { folders, files }: Readable,
  found?: Found,
): ChildProcess {
  const confinement = {
    argv,
    cwd: undefined,
    read: [],
    write: [],
    programFiles: [process.execPath, ...files],
    programFolders: folders,
    network: 'none' as const,
    memoryBytes: bytesOfSize(sandboxBounds.memory) ?? 0,
    processes: sandboxBounds.processes,
    cpuSeconds: undefined,
  }
  const [program, ...rest] = confined(confinement, [], found)
  return spawn(program, rest, {
    env: {},
    // The last two: the lines of guard-lines.ts, and the pipe that names the current round.
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'pipe', 'pipe']),
  })
}
