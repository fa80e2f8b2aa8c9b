// Endings of a guest's turn. Only a reply, the next turn, an end by the front, a budget, time and
// an internal failure end a turn.

import { limits } from '../../shared/contract/limits.ts'
import type { GuestResults, RoundOutcome, TurnFinished } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { redactedActivity } from '../../shared/runtime/redaction/agent-redaction.ts'
import { stopReason } from '../../shared/runtime/settings/stops.ts'
import { type Allowance, type CapStep, totalsOf, wallStep } from '../turn/allowance.ts'
import { cancelled, capped, type Ending, failed } from '../turn/endings.ts'
import type { Place } from '../turn/unit.ts'
import type { OpenTurn } from './turn.ts'

/**
 * `stopped`: the reason why the turn does not open again. `rule`: the one after it, which keeps the
 * turn closed only for the repeats of its last request.
 */
export type TurnEnding = Ending & { reply?: string; stopped?: string; rule?: string | null }

export const endingReasons = {
  byNextTurn: 'the agent began its next turn',
  byGuest: 'the agent ended its turn',
  idle: 'nothing came from the agent for a long time',
  renewed: 'the log of this agent begins anew',
  over: 'this turn is over: make a request before the next round',
}

/** The end of a turn without a reply. Advice to end it is the reason, if there was one. */
export function endingOf({ last, isCancelled, stop }: OpenTurn, reason: string): TurnEnding {
  const { cap } = last
  if (last.action !== 'end' && stop !== undefined)
    return { ...failed('stopped', stopReason(stop)), cap }
  if (last.action !== 'end') return { ...cancelled, reason, cap }
  if (isCancelled) return { ...cancelled, cap, stopped: last.reason }
  if (cap !== null) return stoppedAt({ cap, reason: last.reason })
  const { reason: stopped, rule } = last
  return { ...failed(last.class ?? 'no_progress', stopped), stopped, rule }
}

/** The end of a turn by its reply. One that an operator or a cap has stopped stays stopped. */
export function answered(turn: OpenTurn, { response }: RoundOutcome): TurnEnding {
  const { stopped = '', rule } = endingOf(turn, '')
  const { cap } = turn.last
  const reason = cap === null ? reasons.answered : reasons.answeredAtCap(cap)
  return {
    outcome: 'answered',
    reply: response.text,
    reason,
    class: null,
    cap,
    stopped: rule === undefined ? stopped : '',
  }
}

/**
 * The end of a turn whose agent finished by itself. Its front does not see the answer. A turn that
 * Weir or an operator has stopped keeps that end.
 */
function answeredUnseen(turn: OpenTurn): TurnEnding {
  const { action, cap } = turn.last
  const isStopped = action === 'end' || turn.stop !== undefined
  if (isStopped) return endingOf(turn, endingReasons.byGuest)
  const reason = cap === null ? reasons.answeredUnseen : reasons.answeredAtCap(cap)
  return { outcome: 'answered', reason, class: null, cap }
}

/**
 * The end of a turn that Weir refused: its model request by a budget, or its calls. A later request
 * may open it again.
 */
function deniedByWeir({ refusal, refusalClass }: GuestResults): Ending {
  return failed(refusalClass ?? 'budget', cutToBytes(refusal, limits.reasonBytesMax))
}

/** The end that the front reports. */
export function endingByFront(turn: OpenTurn, message: GuestResults): TurnEnding {
  if (message.refusal !== '') return deniedByWeir(message)
  return message.answered ? answeredUnseen(turn) : endingOf(turn, endingReasons.byGuest)
}

export function cappedByWall(allowance: Allowance): TurnEnding {
  return stoppedAt(wallStep(allowance))
}

function stoppedAt(step: CapStep): TurnEnding {
  return { ...capped(step), stopped: step.reason }
}

/** Reports the end of a turn to clients. */
export function turnFinished(
  { conversation, time }: Place,
  turn: OpenTurn,
  { stopped: _, rule: __, ...ending }: TurnEnding,
): Output {
  const [messageId = ''] = turn.names
  const message: TurnFinished = {
    type: 'turn-finished',
    conversation,
    turn: turn.turn,
    messageId,
    reply: '',
    ...ending,
    totals: totalsOf(turn.allowance, time),
  }
  const { reason } = redactedActivity(message, turn.redact)
  return { to: 'activity', message: { ...message, reason } }
}
