// The bounds of a sandbox by `prlimit` (util-linux), which is started inside: there the processes of
// the sandbox count, and not those of its user.
// They hold for each process. A caller bounds all of them together (sandbox-bounds.ts).

import type { Confinement } from './confinement.ts'

/**
 * Private memory that a runtime reserves without using it: Node.js 0.6 GB, and 0.5 GB for each
 * worker.
 */
const reservedBytes = 3 * 2 ** 30

/** The launcher of a program that applies the bounds. */
export function prlimitArgv(
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
