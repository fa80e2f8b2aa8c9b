// The verdict on one call of an answer, for adapters whose host asks for each call separately.
// Owns: waiting for an approval, and the refusal of a call that Weir cannot judge.
// Does not own: the decision (services/guest and behind it), the host's form of a refusal.
// ADAPT-1. A call runs only if Weir's verdict on it is `run`. An error is a refusal, because an
//     error in a host's callback would reject the whole run.

import type { Advice, GuestAnswer, GuestConversation } from '../guard/guest-conversation.ts'

/** How often a waiting call asks again. Its siblings can wait longer than the call itself. */
const pollMs = 5_000

/** `refusal` is the text for the model. Undefined: the call runs. Never rejects. */
export async function refusalOf(
  conversation: GuestConversation,
  {
    answer,
    callId,
    signal,
  }: { answer: GuestAnswer; callId: string; signal: AbortSignal | undefined },
): Promise<string | undefined> {
  try {
    for (let waitMs = 0; ; waitMs = pollMs) {
      const options = { waitMs, ...(signal !== undefined && { signal }) }
      const verdicts = (await conversation.afterModel(answer, options)).filter(
        (verdict) => verdict.callId === callId,
      )
      if (verdicts.length === 0) return 'Weir has no verdict on this call. It did not run.'
      // calls that share an id are judged together: the host cannot tell them apart
      const refused = verdicts.find(({ verdict }) => verdict === 'refuse')
      if (refused !== undefined) return refused.text
      if (verdicts.every(({ verdict }) => verdict === 'run')) return undefined
    }
  } catch (error) {
    return `Weir could not judge this call, so it did not run: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The answer to a request that Weir keeps from the model, at rung `end`. */
export function endText({ reason }: Advice): string {
  return reason || 'Weir ended this turn.'
}
