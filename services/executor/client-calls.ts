// The calls that the client of a conversation runs: the offer, and the result that it sends. Part of
// the reducer.
// CLIENT-CALLS-1. The claim of the owner `client` is the offer (R4). A performer writes it after the
//     checks that precede each start (offers.ts), so no executor can start the call.
// CLIENT-CALLS-2. The first result that is in the log before the deadline counts. Without one, the
//     outcome is unknown, and the call is never offered again.

import { type CallEnding, outcomeUnknown } from '../../shared/contract/call/call-endings.ts'
import type { CallId } from '../../shared/contract/ids.ts'
import type { CallResult, ResultSent } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { cancelledAtClient as cancelledText } from '../../shared/model-texts/endings.ts'

/** The activity record of an offer. `until`: the deadline of the result. */
export function offered(
  { conversation, turn, round, ordinal }: CallId,
  name: string,
  until: Milliseconds,
): Output {
  const place = { conversation, turn, round, ordinal }
  return { to: 'activity', message: { type: 'call-offered', ...place, name, until } }
}

/** The result of the call, not bounded. */
export function resultOf(
  { ordinal, isError, text }: ResultSent,
  durationMs: Milliseconds,
): CallResult {
  const end = isError
    ? ({ status: 'error', reason: 'the client reported an error' } as const)
    : ({ status: 'ok', reason: '' } as const)
  return { ordinal, ...end, text, durationMs, contents: [], tokens: null }
}

export const cancelledAtClient: CallEnding = outcomeUnknown(
  cancelledText,
  'cancelled before the client sent its result',
)
