// A guard that has a data folder alone, as other processes on that folder see it. It runs only the
// stages of guests and can answer no question of theirs, so it refuses them at once.

import type { LinkHost } from '../../shared/bus/embedded/owner-links.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { OwnerState } from '../stage-host.ts'

/** `guards`: the names of its guards. */
export function guardHost(dataFolder: string, guards: readonly string[]): LinkHost {
  return {
    async answer(_, request): Promise<OwnerState> {
      if ((request as { type?: unknown } | null)?.type === 'state')
        return { pid: process.pid, agents: [], guards: [...guards], beside: [] }
      throw new WeirError(
        'bus.locked',
        `process ${process.pid} guards agents with the data folder ${dataFolder} and has it alone: give one of the two another data folder, or let weir up --front-port serve the guarded agents beside yours`,
      )
    },
    left() {},
  }
}
