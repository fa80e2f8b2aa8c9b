// Endings: the records that end a turn, a round, or a message that never opened a turn.

import type { MessageId, TurnId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AgentSettings,
  Cap,
  FailureClass,
  Totals,
  TurnFinished,
} from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { latestOutcome } from '../../shared/contract/turn/tool-deadline.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import { expiresAt, type Place, type Turn, totalsOf } from './turn.ts'

/** The end of a turn. Without `reply` the user gets the fallback of the agent. */
export type Ending =
  | { outcome: 'answered'; reply: string; reason: string; class: null; cap: Cap | null }
  | { outcome: 'capped'; reason: string; class: 'budget'; cap: Cap }
  | { outcome: 'failed' | 'cancelled'; reason: string; class: FailureClass; cap: null }

export const cancelledByClient: Ending = {
  outcome: 'cancelled',
  reason: reasons.cancelled,
  class: 'cancelled',
  cap: null,
}

export function internalFailure(stage: string, reason: string): Ending {
  return {
    outcome: 'failed',
    reason: reasons.internal(stage, reason),
    class: 'internal',
    cap: null,
  }
}

/** Reports the end of an open turn to clients. */
export function turnFinished({ conversation, time }: Place, turn: Turn, ending: Ending): Output {
  const { messageId, settings } = turn.message
  return finished({
    conversation,
    turn: turn.turn,
    messageId,
    settings,
    ending,
    totals: totalsOf(turn, time),
  })
}

/** Reports a message that opened no turn: it was refused or removed from the queue. */
export function neverOpened(
  { conversation, offset }: Place,
  message: { messageId: MessageId; settings: AgentSettings },
  ending: Ending,
): Output {
  const totals = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 0 }
  return finished({
    conversation,
    turn: offset,
    messageId: message.messageId,
    settings: message.settings,
    ending,
    totals,
  })
}

type Finished = TurnId & {
  messageId: MessageId
  settings: AgentSettings
  ending: Ending
  totals: Totals
}

function finished({ settings, ending, ...turn }: Finished): Output {
  // A message with an over-long fallback is refused, and its reply must still fit (R7).
  const reply = shortened(settings.fallback, limits.fallbackBytesMax)
  const message: TurnFinished = { type: 'turn-finished', reply, ...ending, ...turn }
  const { reason } = redactedActivity(message, settings.policy.redact)
  return { to: 'activity', message: { ...message, reason } }
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
  return Math.max(latestOutcome(expiresAt(turn), settings.policy, toolTimeoutMsMax), now + 1)
}
