// The evidence after a person's decision: the end of each such call. Part of the reducer.
// A call that a person may have decided has one record, when its round ends. The
// verdict on a guest's call does not tell a permission from the lack of a rule.

import type { Output } from '../../shared/contract/stage.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import type { Round, Turn } from './turn.ts'

export function auditsOf(
  { conversation, turn }: Turn,
  { round, calls, policy }: Round,
  time: Milliseconds,
): Output[] {
  return calls.flatMap(({ call, phase, isDecided }): Output[] => {
    if (isDecided !== true || phase.kind !== 'done') return []
    const { status, durationMs, reason } = phase.result
    return [
      {
        to: 'audit',
        message: {
          type: 'audit-followed',
          conversation,
          turn,
          round,
          ordinal: call.ordinal,
          name: call.name,
          status,
          durationMs,
          at: time,
          redact: policy.redact,
          reason,
          link: null,
        },
      },
    ]
  })
}
