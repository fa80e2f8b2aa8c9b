// The sessions of hosts that use the proxy, hooks, or both on this server. A call that passes both
// fronts is judged once, in the proxy's round. Its hook waits for that verdict.
// Owns: which session uses which front, and the verdicts on the newest calls of the proxy.
// It decides nothing. Without an entry the hook judges the call alone.
// A verdict holds for a call with the same id, tool and arguments, and is given once: to
// all hooks that wait for it. An id alone names no call, because models repeat ids.
// A verdict is about the guest of the proxy's path. A hook of another guest is judged
// alone too, and the stricter verdict counts.

import type { CallVerdict } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { givenOnce, type HeldVerdicts } from '../held-verdicts.ts'
import type { HookCall } from './hook-payload.ts'

/** The wait of a hook for the verdicts of a message that also passes the proxy. */
export const hookProxyMs = 5_000

export type HostSessions = {
  /** The proxy has a request of this session, under the name of this guest. */
  sawProxy(owner: Owner): void
  /** Whether the proxy has had a request of this session, under the name of this guest. */
  hasProxy(owner: Owner): boolean
  /** The proxy passes on an answer with these calls. The verdicts are in their order. */
  judging(owner: Owner, judged: JudgedCalls, verdicts: Judged['verdicts']): void
  /** A hook of this session was called. */
  sawHook(session: string): void
  /** Whether a hook can hold the calls of this session. */
  hasHooks(session: string): boolean
  /**
   * For a hook: the proxy's verdict on this call, as of strictestOf, and the guest that the verdict is
   * about. Undefined: the session does not use the proxy, or no answer with this call has passed within
   * `hookProxyMs`. Rejects as the verdicts.
   */
  verdictOn(
    session: string,
    call: HookCall,
  ): Promise<{ verdict: CallVerdict | undefined; agent: string } | undefined>
}

/** A guest's name, which the path of a request has, and the session of its host. */
type Owner = { agent: string; session: string }

/** The calls of an answer. Equal calls have several places. */
export type JudgedCalls = { placesOf(call: HookCall): number[] }
/** `given`: the places of the calls whose verdicts a hook has. */
type Judged = JudgedCalls & {
  agent: string
  verdicts: Pick<HeldVerdicts, 'last'>
  given: Set<number>
}
type Session = {
  hasProxy: boolean
  hasHooks: boolean
  judged: Judged[]
  /** Hooks that wait for the next entry of `judged`. */
  waiting: Set<() => void>
}

/** The newest messages of a session whose calls a hook can still name. */
const messagesKept = 4

export function hostSessions(clock: Clock): HostSessions {
  const sessions = newest<Session>(limits.hookSessionsMax)
  const proxied = newest<true>(limits.hookSessionsMax)
  const at = (id: string) =>
    sessions.at(id, () => ({ hasProxy: false, hasHooks: false, judged: [], waiting: new Set() }))

  return {
    sawProxy({ agent, session }) {
      at(session).hasProxy = true
      proxied.at(JSON.stringify([agent, session]), () => true)
    },
    hasProxy: ({ agent, session }) => proxied.get(JSON.stringify([agent, session])) === true,
    judging({ agent, session: id }, judged, verdicts) {
      const session = at(id)
      const entry = { ...judged, agent, verdicts, given: new Set<number>() }
      session.judged = [...session.judged.slice(1 - messagesKept), entry]
      for (const look of session.waiting) look()
    },
    sawHook(id) {
      at(id).hasHooks = true
    },
    hasHooks: (id) => sessions.get(id)?.hasHooks === true,
    async verdictOn(id, call) {
      const session = sessions.get(id)
      if (session === undefined || !session.hasProxy) return undefined
      const found = await entryWith(session, call, clock)
      return (
        found && {
          verdict: await givenOnce(found.judged, found.places),
          agent: found.judged.agent,
        }
      )
    },
  }
}

type Entry = { judged: Judged; places: readonly number[] }

/**
 * The newest entry with this call whose verdict no hook has, once there is one. Undefined: not within
 * `hookProxyMs`.
 */
function entryWith(session: Session, call: HookCall, clock: Clock): Promise<Entry | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.after(hookProxyMs, () => finish(undefined))
    session.waiting.add(look)
    look()

    function look(): void {
      for (const judged of session.judged.toReversed()) {
        const places = judged.placesOf(call).filter((place) => !judged.given.has(place))
        if (places.length > 0) return finish({ judged, places })
      }
    }

    function finish(found: Entry | undefined): void {
      cancel()
      session.waiting.delete(look)
      resolve(found)
    }
  })
}
