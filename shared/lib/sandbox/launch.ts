// Starts a program in a sandbox: turns a confinement into an argv. For tools, and for any other
// program that Weir does not trust.
// SANDBOX-1. Without a backend nothing starts: no program ever runs outside of its sandbox instead.

import { WeirError } from '../errors.ts'
import { type Found, sandboxBackend } from './backend.ts'
import { bubblewrapArgv } from './bubblewrap.ts'
import type { Confinement } from './confinement.ts'
import { checkInherited } from './inherited-descriptors.ts'
import { launched } from './launcher.ts'
import { prlimitArgv } from './limits-argv.ts'
import { mountPlan } from './mounts.ts'
import { processCapFor } from './process-cap.ts'
import { unshareArgv } from './unshare.ts'

export type Launch = {
  argv: [string, ...string[]]
  /**
   * `own-session`: SIGTERM goes to the process group that the status lines name (status.ts).
   * `same-session`: it goes to the group of the started process.
   */
  signals: 'own-session' | 'same-session'
}

/**
 * `launcher`: programs to start inside before the limits apply. Throws `sandbox.unavailable` if this
 * machine has no backend, or not the needed feature, and `sandbox.refused` if a path is unusable.
 */
export function confined(
  confinement: Confinement,
  launcher: readonly string[] = [],
  found: Found = sandboxBackend(),
): Launch {
  if ('missing' in found)
    throw new WeirError('sandbox.unavailable', `no sandbox can be made here: ${found.missing}`)
  checkInherited()
  const { backend } = found
  const { prlimit } = backend
  if (prlimit === undefined)
    throw new WeirError(
      'sandbox.unavailable',
      'no sandbox can be bounded here: prlimit is missing; install util-linux',
    )
  const command = [...launcher, ...prlimitArgv(prlimit, confinement), ...confinement.argv]
  const plan = mountPlan(confinement)
  if (backend.kind === 'bubblewrap') {
    const argv = bubblewrapArgv(backend, confinement, plan, command)
    const group = processCapFor(confinement.processes)
    return { argv: launched(argv, { group, filtered: true }), signals: 'own-session' }
  }
  if (typeof confinement.network === 'object')
    throw new WeirError(
      'sandbox.unavailable',
      'a list of hosts needs bubblewrap, which is not usable here; install it, or write network: none',
    )
  const argv = unshareArgv(backend, confinement, plan, command)
  const group = processCapFor(confinement.processes)
  return { argv: launched(argv, { group, filtered: false }), signals: 'same-session' }
}
