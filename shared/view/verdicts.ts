// The verdicts of guards that count, for lists, pages, spans and counters. Pure.

import { approvalGuard, withdrawnCode } from '../contract/guard/approval-guard.ts'
import type {
  CallVerdict,
  GuardMode,
  GuardVerdict,
  GuardVerdictGiven,
  VerdictKind,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'

/** `mode`: of the guard for the call. */
export type JudgedCall = { ordinal: number; verdict: VerdictKind; mode: GuardMode }

/** The calls that the guard judged, by its own record. */
export function judgedBy(guard: string, { verdicts, enforces }: GuardVerdict): JudgedCall[] {
  return countedOf(guard, verdicts).map(({ ordinal, verdict }) => ({
    ordinal,
    verdict,
    mode: enforces.includes(ordinal) ? 'enforce' : 'shadow',
  }))
}

/** The calls that the guard stopped, by the executor's reading. */
export function deniedBy({ guard, verdicts }: GuardVerdictGiven): CallVerdict[] {
  return countedOf(guard, verdicts).filter(({ verdict }) => verdict === 'deny')
}

/** A withdrawn approval only fills its place: nobody judged the call. */
function countedOf(guard: string, verdicts: CallVerdict[]): CallVerdict[] {
  return guard === approvalGuard ? verdicts.filter(({ code }) => code !== withdrawnCode) : verdicts
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
