// Endings of a guest's turn. Only its reply, its next turn, its end by the front, a budget, time and
// an internal failure end one.

import { limits } from '../../shared/contract/limits.ts'
import type { GuestResults, RoundOutcome, TurnFinished } from '../../shared/contract/messages.ts'
import type { Output } from '../../shared/contract/stage.ts'
import { reasons } from '../../shared/contract/turn/turn-texts.ts'
import { cutToBytes } from '../../shared/lib/text-cut.ts'
import { stopReason } from '../../shared/runtime/stops.ts'
import { capsNow, type OpenTurn, type Place, totalsOf } from './turn.ts'

/** `stopped`: the reason why the turn never opens again; empty: it may. */
export type Ending = Pick<TurnFinished, 'outcome' | 'reply' | 'reason' | 'class' | 'cap'> & {
  stopped: string
}

export const endingReasons = {
  byNextTurn: 'the agent began its next turn',
  byGuest: 'the agent ended its turn',
  idle: 'nothing came from the agent for a long time',
  renewed: 'the log of this agent begins anew',
  over: 'this turn is over: make a request before the next round',
}

/** The end of a turn without a reply. Advice to end it is the reason, if there was one. */
export function endingOf({ last, isCancelled, stop }: OpenTurn, reason: string): Ending {
  const common = { reply: '', cap: last.cap }
  if (last.rung !== 'end' && stop !== undefined)
    return { ...common, outcome: 'failed', reason: stopReason(stop), class: 'stopped', stopped: '' }
  if (last.rung !== 'end')
    return { ...common, outcome: 'cancelled', reason, class: 'cancelled', stopped: '' }
  if (isCancelled)
    return { ...common, outcome: 'cancelled', ...stoppedBy(last.reason), class: 'cancelled' }
  if (last.cap !== null)
    return { ...common, outcome: 'capped', ...stoppedBy(last.reason), class: 'budget' }
  return {
    ...common,
    outcome: 'failed',
    reason: last.reason,
    class: last.class ?? 'no_progress',
    stopped: '',
  }
}

function stoppedBy(reason: string): Pick<Ending, 'reason' | 'stopped'> {
  return { reason, stopped: reason }
}

/** The end of a turn by its reply. One that an operator or a cap has stopped stays stopped. */
export function answered(turn: OpenTurn, { response }: RoundOutcome): Ending {
  const { stopped } = endingOf(turn, '')
  const { cap } = turn.last
  const reason = cap === null ? reasons.answered : reasons.answeredAtCap(cap)
  return { outcome: 'answered', reply: response.text, reason, class: null, cap, stopped }
}

/**
 * The end of a turn that Weir refused: its model request by a budget, or its calls. A later request
 * may open it again.
 */
export function refusedByWeir({ refusal, refusalClass }: GuestResults): Ending {
  const reason = cutToBytes(refusal, limits.reasonBytesMax)
  const common = { outcome: 'failed' as const, reply: '', cap: null, stopped: '' }
  return { ...common, reason, class: refusalClass ?? 'budget' }
}

export function cappedByWall(turn: OpenTurn): Ending {
  const reason = reasons.wall(capsNow(turn).wallMs)
  return { outcome: 'capped', reply: '', ...stoppedBy(reason), class: 'budget', cap: 'wall' }
}

export function internalFailure(reason: string): Ending {
  return { outcome: 'failed', reply: '', reason, class: 'internal', cap: null, stopped: '' }
}

/** Reports the end of a turn to clients. */
export function turnFinished(
  { conversation, time }: Place,
  turn: OpenTurn,
  { stopped: _, ...ending }: Ending,
): Output {
  const [messageId = ''] = turn.names
  return {
    to: 'activity',
    message: {
      type: 'turn-finished',
      conversation,
      turn: turn.turn,
      messageId,
      ...ending,
      totals: totalsOf(turn, time),
    },
  }
}
