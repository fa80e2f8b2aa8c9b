// The verdicts on an answer whose calls wait in hooks of a host.
// HELD-VERDICTS-1. A call that may run does not wait for a person who decides its neighbour.

import type {
  AnyGuestAnswer,
  CallVerdict,
  GuestConversation,
} from '../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../shared/contract/limits.ts'

export type HeldVerdicts = {
  /**
   * The verdict on the call at this place of the answer. Still `pending` after limits.guestHoldMs.
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
    all.find((one) => one?.verdict === 'deny') ??
    all.find((one) => one?.verdict !== 'allow') ??
    all[0]
  )
}

/**
 * The looks at a round with a call that waits. Each one writes a record. Guards in the same process
 * answer within the first, and most others within the next two.
 */
const earlyLooksMs = [250, 2_000, 30_000]
const looksMs = [
  ...earlyLooksMs,
  limits.guestHoldMs - earlyLooksMs.reduce((sum, waitMs) => sum + waitMs),
]

/** Asks for the verdicts at once. `answer` resolves when the calls of the answer are known. */
export function heldVerdicts(
  conversation: GuestConversation,
  answer: Promise<AnyGuestAnswer>,
): HeldVerdicts {
  const looks: Promise<CallVerdict[]>[] = []
  let newest = Promise.resolve<CallVerdict[] | undefined>(undefined)
  for (const waitMs of looksMs) {
    const look = newest.then(async (verdicts) =>
      verdicts === undefined || verdicts.some(({ verdict }) => verdict === 'pending')
        ? conversation.afterModel(await answer, { waitMs })
        : verdicts,
    )
    look.catch(() => {}) // each hook that waits gets the error
    looks.push(look)
    newest = look
  }
  return {
    async verdictAt(index) {
      let verdict: CallVerdict | undefined
      for (const look of looks) {
        verdict = (await look)[index]
        if (verdict?.verdict !== 'pending') break
      }
      return verdict
    },
  }
}
