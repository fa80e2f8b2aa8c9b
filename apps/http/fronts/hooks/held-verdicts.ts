// The verdicts on an answer whose calls wait in hooks of a host.
// HELD-VERDICTS-1. A call that may run does not wait for a person who decides its neighbour.

import type {
  CallVerdict,
  GuestAnswer,
  GuestConversation,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'

export type HeldVerdicts = {
  /**
   * The verdict on the call at this place of the answer. Still `wait` after limits.guestHoldMs.
   * Rejects if Weir cannot judge the answer.
   */
  verdictAt(index: number): Promise<CallVerdict | undefined>
}

/** The strictest verdict on the calls at these places, for a host that cannot tell them apart. */
export async function strictestOf(
  verdicts: HeldVerdicts,
  places: readonly number[],
): Promise<CallVerdict | undefined> {
  const all = await Promise.all(places.map((place) => verdicts.verdictAt(place)))
  return (
    all.find((one) => one?.verdict === 'refuse') ??
    all.find((one) => one?.verdict !== 'run') ??
    all[0]
  )
}

/** Guards in the same process answer within this time. */
const firstWaitMs = 250

/** Asks for the verdicts at once. `answer` resolves when the calls of the answer are known. */
export function heldVerdicts(
  conversation: GuestConversation,
  answer: Promise<GuestAnswer>,
): HeldVerdicts {
  const first = answer.then((known) => conversation.afterModel(known, { waitMs: firstWaitMs }))
  const last = first.then(async (verdicts) =>
    verdicts.some(({ verdict }) => verdict === 'wait')
      ? conversation.afterModel(await answer, { waitMs: limits.guestHoldMs })
      : verdicts,
  )
  last.catch(() => {}) // each hook that waits gets the error
  return {
    async verdictAt(index) {
      const verdict = (await first)[index]
      return verdict?.verdict === 'wait' ? (await last)[index] : verdict
    },
  }
}
