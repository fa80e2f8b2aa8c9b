// The effect of an operator's stop on the calls of a round. Part of the reducer.
// EXECUTOR-STOPS-1. A call that waits or is ready never starts. A claimed one may be starting now:
//     at `drain` its outcome decides, at `now` it is stopped as by a cancel.
// A stop is a record, so a fold gives the same without the table of stops (R2).

import type { CallsStopped } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { stoppedCall } from '../../shared/runtime/settings/stops.ts'
import { forgetAnswered } from './guards/waiting.ts'
import { stopClaimed } from './offered/offered-calls.ts'
import { finishCall, type Round, type Turn } from './turn.ts'

/** Later rounds are not concerned: each of them has the stops of its own time. */
export function applyStop(
  turn: Turn,
  round: Round,
  { ordinals, stop }: Pick<CallsStopped, 'ordinals' | 'stop'>,
): Output[] {
  const records: Output[] = []
  for (const open of round.calls) {
    const { phase } = open
    if (!ordinals.includes(open.call.ordinal) || phase.kind === 'done') continue
    if (phase.kind !== 'claimed') {
      const lapsed = phase.kind === 'ready' && phase.lapsed
      records.push(finishCall(turn, round, open, stoppedCall(stop, lapsed)))
    } else if (stop.mode === 'now') {
      records.push(...stopClaimed({ turn, round, open, phase }, stop))
    }
  }
  forgetAnswered(round)
  return records
}
