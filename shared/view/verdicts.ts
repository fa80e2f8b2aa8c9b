// The verdicts of guards that count, for lists, pages, spans and counters. Pure.

import { approvalGuard, withdrawnCode } from '../contract/guard/approval-guard.ts'
import type {
  CallVerdict,
  GuardMode,
  GuardVerdict,
  GuardVerdictGiven,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** The calls that the guard judged. A withdrawn approval only fills its place: nobody judged it. */
export function judgedBy(guard: string, verdicts: CallVerdict[]): CallVerdict[] {
  return guard === approvalGuard ? verdicts.filter(({ code }) => code !== withdrawnCode) : verdicts
}

/** The mode of the guard for a call of its own record. */
export function modeOn({ enforces }: Pick<GuardVerdict, 'enforces'>, ordinal: number): GuardMode {
  return enforces.includes(ordinal) ? 'enforce' : 'shadow'
}

/** The calls that the guard stopped, by the executor's reading. */
export function deniedBy({ guard, verdicts }: GuardVerdictGiven): CallVerdict[] {
  return judgedBy(guard, verdicts).filter(({ verdict }) => verdict === 'deny')
}

/**
 * From the round to the answer. Undefined: the record does not show the round's time. `isLate`: after
 * the deadline, so the answer did not count.
 */
export function answerTime(
  { clearedAt, deadlineMs }: Pick<GuardVerdict, 'clearedAt' | 'deadlineMs'>,
  at: Milliseconds,
): { tookMs: Milliseconds | undefined; isLate: boolean } {
  const tookMs = clearedAt === 0 ? undefined : Math.max(0, at - clearedAt)
  return { tookMs, isLate: tookMs !== undefined && deadlineMs > 0 && tookMs >= deadlineMs }
}
