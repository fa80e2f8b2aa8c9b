// The verdicts on a round whose calls are held by a gateway: the newest one of each call, as soon as
// it is known.
// ROUND-VERDICTS-1. A call that may run does not wait for a person who decides its neighbour.

import type {
  CallVerdict,
  GuestConversation,
  ReadGuestAnswer,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'

/** At `pending` it has an approval. Undefined: nobody decided in time. */
export type KnownVerdict = CallVerdict | undefined

export type RoundVerdicts = {
  /** Resolves once the call may run, is refused, or waits for a known person. Rejects on a failure. */
  first(index: number): Promise<KnownVerdict>
  /** Resolves once the call no longer waits. */
  last(index: number): Promise<KnownVerdict>
}

/** Guards in the same process answer within this time. */
const firstWaitMs = 250
/** Between two looks at a round with several calls that wait. */
const lookMs = 1_000

/** Sends the round at once. */
export function roundVerdicts(
  conversation: GuestConversation,
  answer: ReadGuestAnswer,
): RoundVerdicts {
  let newest: readonly CallVerdict[] = []
  let next = Promise.withResolvers<void>()
  next.promise.catch(() => {}) // each call that waits gets the error
  let isOver = false
  void look().then(
    () => finish(() => next.resolve()),
    (error: unknown) => finish(() => next.reject(error)),
  )

  function finish(settle: () => void): void {
    isOver = true
    settle()
  }

  /** A wait for a person ends by the approval's deadline, any other one by that of fronts. */
  async function look(): Promise<void> {
    let waitMs: Milliseconds = firstWaitMs
    for (let waitedMs = 0; ; waitedMs += waitMs) {
      newest = await conversation.afterModel(answer, { waitMs })
      const waiting = newest.filter(({ verdict }) => verdict === 'pending')
      if (waiting.length === 0) return
      const isForPersons = waiting.every(({ approval }) => approval !== undefined)
      if (!isForPersons && waitedMs >= limits.guestHoldMs) return
      const seen = next
      next = Promise.withResolvers<void>()
      next.promise.catch(() => {})
      seen.resolve()
      const isAlone = waiting.length === 1 && waiting[0]?.approval !== undefined
      waitMs = isAlone ? limits.guestHoldMs : lookMs
    }
  }

  async function until(
    index: number,
    isKnown: (verdict: CallVerdict) => boolean,
  ): Promise<KnownVerdict> {
    for (;;) {
      const verdict = newest[index]
      if (verdict !== undefined && isKnown(verdict)) return verdict
      if (isOver) {
        await next.promise // it rejects after a failure
        return undefined
      }
      await next.promise
    }
  }

  return {
    first: (index) =>
      until(index, ({ verdict, approval }) => verdict !== 'pending' || approval !== undefined),
    last: (index) => until(index, ({ verdict }) => verdict !== 'pending'),
  }
}
