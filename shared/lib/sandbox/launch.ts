// Starts a program in a sandbox: turns a confinement into an argv. For tools, and for any other
// program that Weir does not trust.
// Without bubblewrap nothing starts: no program ever runs outside of its sandbox instead.

import { WeirError } from '../errors.ts'
import { type Found, sandboxBackend } from './backend.ts'
import { bubblewrapArgv } from './bubblewrap.ts'
import type { Confinement } from './confinement.ts'
import { checkInherited } from './inherited-descriptors.ts'
import { launched } from './launcher.ts'
import { mountPlan } from './mounts.ts'
import { processCapFor } from './process-cap.ts'

/**
 * The argv of a confined program. SIGTERM must go to the process group that the status lines name
 * (status.ts): bubblewrap would end the program at once. `launcher`: programs to start inside before
 * the limits apply. Throws `sandbox.unavailable` if this machine can make no sandbox, and
 * `sandbox.refused` if a path is unusable.
 */
export function confined(
  confinement: Confinement,
  launcher: readonly string[] = [],
  found: Found = sandboxBackend(),
): [string, ...string[]] {
  if ('missing' in found)
    throw new WeirError('sandbox.unavailable', `no sandbox can be made here: ${found.missing}`)
  checkInherited()
  const { backend } = found
  const limits = prlimitArgv(backend.prlimit, confinement)
  const command = [...launcher, ...limits, ...confinement.argv]
  const argv = bubblewrapArgv(backend, confinement, mountPlan(confinement), command)
  return launched(argv, processCapFor(confinement.processes))
}

// The bounds of a sandbox by `prlimit` (util-linux), which is started inside: there the processes of
// the sandbox count, and not those of its user.
// They hold for each process. A caller bounds all of them together (sandbox-bounds.ts).

/**
 * Private memory that a runtime reserves without using it: Node.js 0.6 GB, and 0.5 GB for each
 * worker.
 */
const reservedBytes = 3 * 2 ** 30

/** The launcher of a program that applies the bounds. */
function prlimitArgv(
  prlimit: string,
  { memoryBytes, processes, cpuSeconds }: Confinement,
): string[] {
  return [
    prlimit,
    `--data=${memoryBytes + reservedBytes}`,
    `--nproc=${processes}`,
    '--core=0',
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    '--',
  ]
}
