// The verdict on one call of an answer, for adapters whose host requests each call separately.
// Owns: the denial of a call that Weir cannot judge.
// Does not own: the decision (services/guest and behind it), the host's form of a denial.
// ADAPT-1. A call runs only if Weir's verdict on it is `allow`. An error is a denial, because an
//     error in a host's callback would reject the whole run.

import { judgingFailed, noVerdict } from '../../shared/model-texts/guests.ts'
import type {
  Advice,
  CallVerdict,
  GuestAnswer,
  GuestConversation,
} from '../guard/guest-conversation.ts'

/** An answer to judge, and the signal of its request. */
export type ToJudge = { answer: GuestAnswer; signal: AbortSignal | undefined }

/** How long a call waits for its siblings' verdicts once it has its own. */
const firstMs = 2_000

/** The verdicts on an answer. Calls that need longer have the verdict `pending`. */
export function firstVerdicts(
  conversation: GuestConversation,
  { answer, signal }: ToJudge,
): Promise<CallVerdict[]> {
  return conversation.afterModel(answer, {
    waitMs: firstMs,
    signal,
  })
}

/** `denial` is the text for the model. Undefined: the call runs. Never rejects. */
export async function denialOf(
  conversation: GuestConversation,
  { callId, ...round }: ToJudge & { callId: string },
): Promise<string | undefined> {
  try {
    let own = verdictOn(callId, await firstVerdicts(conversation, round))
    if (own?.verdict === 'pending') {
      const { answer, signal } = round
      const verdicts = conversation.afterModel(answer, signal && { signal })
      own = verdictOn(callId, await verdicts)
    }
    if (own?.verdict === 'allow') return undefined
    return own?.text || noVerdict
  } catch (error) {
    return judgingFailed(error instanceof Error ? error.message : String(error))
  }
}

/** The strictest verdict on the calls with this id: the host cannot tell them apart. */
function verdictOn(callId: string, verdicts: CallVerdict[]): CallVerdict | undefined {
  const own = verdicts.filter((one) => one.callId === callId)
  return (
    own.find(({ verdict }) => verdict === 'deny') ??
    own.find(({ verdict }) => verdict === 'pending') ??
    own[0]
  )
}

/** The denials among the verdicts that an answer has at once, by call id. */
export function denialsOf(verdicts: CallVerdict[]): Map<string, string> {
  return new Map(
    verdicts.flatMap(({ callId, verdict, text }) => (verdict === 'deny' ? [[callId, text]] : [])),
  )
}

/** The answer to a request that Weir keeps from the model, at action `end`. Its user reads it. */
export function endText({ userText, fallback }: Advice): string {
  return [userText, fallback].filter((text) => text !== '').join('\n\n')
}
