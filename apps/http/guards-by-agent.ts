// The guards of one server, by the name of their guest. Each is opened at its first request.
// A name comes from a URL and must be a guest's name. The guests that an operator
// named stay open.
// The others share `limits.frontAgentsMax` places. The one used least recently makes
// room, so no client fills the memory or shuts out another guest.

import { guestName } from '../../client/guard/guest-agent.ts'
import type { GuardSession } from '../../client/guard/guest-conversation.ts'
import { limits } from '../../shared/contract/limits.ts'
import { touch } from '../../shared/lib/recency.ts'
import { HttpError } from './http-error.ts'

export type GuardsByAgent<Opened = Pick<GuardSession, 'conversation'>> = {
  /** Throws 404 for a name that cannot be one. */
  guardOf(agent: string): Promise<Opened>
}

/**
 * `open` is called once for each open name. After a failure the next request calls it again.
 * `isNamed`: whether an operator named the guest.
 */
export function guardsByAgent<Opened>(
  open: (agent: string) => Promise<Opened>,
  isNamed: (agent: string) => boolean = () => false,
): GuardsByAgent<Opened> {
  const named = new Map<string, Promise<Opened>>()
  const others = new Map<string, Promise<Opened>>()
  return {
    async guardOf(agent) {
      const kept = named.get(agent)
      if (kept !== undefined) return kept
      const known = others.get(agent)
      if (known === undefined && !guestName.test(agent))
        throw new HttpError(
          404,
          'guests.agent',
          'the name of a guest has 1 to 64 of a-z, 0-9 and -',
        )
      const guard = known ?? open(agent)
      const guards = known === undefined && isNamed(agent) ? named : others
      if (guards === named) named.set(agent, guard)
      else touch(others, agent, guard, limits.frontAgentsMax)
      guard.catch(() => guards.delete(agent))
      return guard
    },
  }
}
