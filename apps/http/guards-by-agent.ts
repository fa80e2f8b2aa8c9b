// The guards of one server, by the name of their guest. Each is opened once, at its first request.
// GUARDS-BY-AGENT-1. A name comes from a URL. It must be a guest's name, and at most
//     `limits.frontAgentsMax` are open: a client cannot fill the memory with names.

import { guestName } from '../../client/guard/guest-agent.ts'
import type { GuardSession } from '../../client/guard/guest-conversation.ts'
import { limits } from '../../shared/contract/limits.ts'
import { HttpError } from './http-error.ts'

export type GuardsByAgent<Opened = Pick<GuardSession, 'conversation'>> = {
  /** Throws 404 for a name that cannot be one, 429 if too many are open. */
  guardOf(agent: string): Promise<Opened>
}

/** `open` is called once for each name. After a failure the next request calls it again. */
export function guardsByAgent<Opened>(
  open: (agent: string) => Promise<Opened>,
): GuardsByAgent<Opened> {
  const guards = new Map<string, Promise<Opened>>()
  return {
    async guardOf(agent) {
      const known = guards.get(agent)
      if (known !== undefined) return known
      if (!guestName.test(agent))
        throw new HttpError(
          404,
          'guests.agent',
          'the name of a guest has 1 to 64 of a-z, 0-9 and -',
        )
      if (guards.size >= limits.frontAgentsMax)
        throw new HttpError(
          429,
          'guests.full',
          `${limits.frontAgentsMax} guests are open: use one of them, or start another server`,
        )
      const opening = open(agent)
      guards.set(agent, opening)
      opening.catch(() => guards.delete(agent))
      return opening
    },
  }
}
