// Endings: the records that end a turn, a round, or a message that never opened a turn.

import { limits } from '../../shared/contract/limits.ts'
import type { QueuedMessage, Totals, TurnFinished } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { latestOutcome } from '../../shared/contract/turn/tool-deadline.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import { expiresAt, totalsOf } from '../turn/allowance.ts'
import type { Ending } from '../turn/endings.ts'
import type { Place } from '../turn/unit.ts'
import type { Turn } from './turn.ts'

/** The end of a turn. Without `reply` the user gets the fallback of the agent. */
export type TurnEnding = Ending & { reply?: string }

/** Reports the end of an open turn to clients. */
export function turnFinished(place: Place, turn: Turn, ending: TurnEnding): Output {
  const totals = totalsOf(turn.allowance, place.time)
  return finished({ ...place, turn: turn.turn, totals }, turn.message, ending)
}

/** Reports a message that opened no turn: it was refused or removed from the queue. */
export function neverOpened(place: Place, message: Ended, ending: TurnEnding): Output {
  const totals = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 0 }
  return finished({ ...place, turn: place.offset, totals }, message, ending)
}

type Ended = Pick<QueuedMessage, 'messageId' | 'settings'>

function finished(
  { conversation, turn, totals }: Place & { turn: number; totals: Totals },
  { messageId, settings }: Ended,
  { outcome, reply, reason, class: failureClass, cap }: TurnEnding,
): Output {
  const message: TurnFinished = {
    type: 'turn-finished',
    conversation,
    turn,
    messageId,
    outcome,
    // A message with an over-long fallback is refused, and its reply must still fit (R7).
    reply: reply ?? shortened(settings.fallback, limits.fallbackBytesMax),
    reason,
    class: failureClass,
    cap,
    totals,
  }
  const redacted = redactedActivity(message, settings.policy.redact)
  return { to: 'activity', message: { ...message, reason: redacted.reason } }
}

/**
 * The end of the wait for the outcome of a cancelled round. By then loop-detector and executor must
 * have reported it.
 *
 * If that time has passed (no stage ran for long), the wait ends with the next tick. It is later
 * than now because a tick must move the deadline.
 */
export function waitUntil(turn: Turn, now: Milliseconds): Milliseconds {
  const { settings, toolTimeoutMsMax } = turn.message
  return Math.max(
    latestOutcome(expiresAt(turn.allowance), settings.policy, toolTimeoutMsMax),
    now + 1,
  )
}
