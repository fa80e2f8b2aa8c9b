// The sessions of hosts that use the proxy, hooks, or both on this server. A call that passes both
// fronts is judged once, in the proxy's round. Its hook waits for that verdict.
// Owns: which session uses which front, and the verdicts on the newest calls of the proxy.
// HOST-SESSIONS-1. It decides nothing. Without an entry the hook judges the call alone.

import type { CallVerdict } from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'
import { type HeldVerdicts, strictestOf } from '../held-verdicts.ts'

export type HostSessions = {
  /** The proxy has a request of this session. */
  sawProxy(session: string): void
  /** Whether the proxy has had a request of this session. */
  hasProxy(session: string): boolean
  /** The proxy passes on an answer with these calls. The verdicts are in their order. */
  judging(session: string, callIds: readonly string[], verdicts: Judged['verdicts']): void
  /** A hook of this session was called. */
  sawHook(session: string): void
  /** Whether a hook can hold the calls of this session. */
  hasHooks(session: string): boolean
  /**
   * For a hook: the proxy's verdict on this call, as of strictestOf. Undefined: the session does not
   * use the proxy, or no answer with this call has passed within `limits.hookProxyMs`. Rejects as the
   * verdicts.
   */
  verdictOn(
    session: string,
    callId: string,
  ): Promise<{ verdict: CallVerdict | undefined } | undefined>
}

type Judged = { callIds: readonly string[]; verdicts: Pick<HeldVerdicts, 'last'> }
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
  const at = (id: string) =>
    sessions.at(id, () => ({ hasProxy: false, hasHooks: false, judged: [], waiting: new Set() }))

  return {
    sawProxy(id) {
      at(id).hasProxy = true
    },
    hasProxy: (id) => sessions.get(id)?.hasProxy === true,
    judging(id, callIds, verdicts) {
      const session = at(id)
      session.judged = [...session.judged.slice(1 - messagesKept), { callIds, verdicts }]
      for (const look of session.waiting) look()
    },
    sawHook(id) {
      at(id).hasHooks = true
    },
    hasHooks: (id) => sessions.get(id)?.hasHooks === true,
    async verdictOn(id, callId) {
      const session = sessions.get(id)
      if (session === undefined || !session.hasProxy) return undefined
      const judged = await judgedOf(session, callId, clock)
      if (judged === undefined) return undefined
      const places = judged.callIds.flatMap((id, at) => (id === callId ? [at] : []))
      return { verdict: await strictestOf(judged.verdicts, places) }
    },
  }
}

/** The entry with this call, once there is one. Undefined: not within `limits.hookProxyMs`. */
function judgedOf(session: Session, callId: string, clock: Clock): Promise<Judged | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.after(limits.hookProxyMs, () => finish(undefined))
    session.waiting.add(look)
    look()

    function look(): void {
      const judged = session.judged.findLast(({ callIds }) => callIds.includes(callId))
      if (judged !== undefined) finish(judged)
    }

    function finish(judged: Judged | undefined): void {
      cancel()
      session.waiting.delete(look)
      resolve(judged)
    }
  })
}
