// What guards have done, from their own words and from the executor's: counts, latencies,
// agreement. A round counts once for each guard, by its first answer, as it does for the executor.

import { approvalGuard, withdrawnCode } from '../../../shared/contract/approval-guard.ts'
import type { GuardVerdict, GuardVerdictGiven } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

export type GuardTally = {
  /** Rounds that it answered. */
  rounds: number
  /** Calls that it stopped, and calls that it would have stopped where it is a shadow. */
  rejected: number
  wouldHaveRejected: number
  /**
   * Rounds whose answer came after the deadline, or that were decided by on-timeout, each once; and
   * calls that on-timeout let through.
   */
  late: number
  letThrough: number
  /**
   * From the round to the answer, by append time, where it was in time: what it catches up with
   * after a pause says how long it was away. Undefined: none.
   */
  p50Ms: Milliseconds | undefined
  p99Ms: Milliseconds | undefined
  /**
   * Share of its calls on which each other guard that judged them said the same, from 0 to 1;
   * undefined: no other judged them.
   */
  agreement: number | undefined
}

type Kept = {
  rounds: Set<string>
  silent: Set<string>
  late: Set<string>
  rejected: number
  wouldHaveRejected: number
  letThrough: number
  latencies: Milliseconds[]
}

export function createTally() {
  const guards = new Map<string, Kept>()
  /** By call: what each guard said of it. */
  const calls = new Map<string, Map<string, 'pass' | 'reject'>>()

  return {
    /** A record of the guard's own topic. */
    heard(guard: string, verdict: GuardVerdict, time: Milliseconds): void {
      const kept = keptOf(guard)
      const round = placeOf(verdict)
      if (kept.rounds.has(round)) return
      kept.rounds.add(round)
      const tookMs = verdict.clearedAt === 0 ? undefined : Math.max(0, time - verdict.clearedAt)
      const isLate = tookMs !== undefined && verdict.deadlineMs > 0 && tookMs >= verdict.deadlineMs
      if (tookMs !== undefined && !isLate) kept.latencies.push(tookMs)
      if (isLate) kept.late.add(round)
      for (const { ordinal, verdict: said, code } of verdict.verdicts) {
        if (guard === approvalGuard && code === withdrawnCode) continue // nobody judged the call; its word is there because it needs one
        const call = `${round}/${ordinal}`
        const others = calls.get(call) ?? new Map<string, 'pass' | 'reject'>()
        calls.set(call, others.set(guard, said))
        if (said === 'pass') continue
        if (!verdict.enforces.includes(ordinal)) kept.wouldHaveRejected += 1
        else if (!isLate) kept.rejected += 1
      }
    },

    /** A line of activity: only the silent ones are not in the guard's own topic. */
    decided(given: GuardVerdictGiven): void {
      if (given.answer !== 'silent') return
      const kept = keptOf(given.guard)
      const round = placeOf(given)
      if (kept.silent.has(round)) return
      kept.silent.add(round)
      kept.late.add(round)
      kept.letThrough += given.verdicts.filter(({ verdict }) => verdict === 'pass').length
    },

    of(guard: string): GuardTally {
      const { rounds, rejected, wouldHaveRejected, late, letThrough, latencies } = keptOf(guard)
      const sorted = latencies.toSorted((a, b) => a - b)
      const quantile = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
      const counts = {
        rounds: rounds.size,
        rejected,
        wouldHaveRejected,
        late: late.size,
        letThrough,
      }
      return {
        ...counts,
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
        agreement: agreementOf(guard),
      }
    },
  }

  function keptOf(guard: string): Kept {
    const known = guards.get(guard)
    if (known !== undefined) return known
    const fresh = {
      rounds: new Set<string>(),
      silent: new Set<string>(),
      late: new Set<string>(),
      rejected: 0,
      wouldHaveRejected: 0,
      letThrough: 0,
      latencies: [],
    }
    guards.set(guard, fresh)
    return fresh
  }

  function agreementOf(guard: string): number | undefined {
    let compared = 0
    let same = 0
    for (const said of calls.values()) {
      const own = said.get(guard)
      if (own === undefined) continue
      for (const [other, verdict] of said) {
        if (other === guard) continue
        compared += 1
        if (verdict === own) same += 1
      }
    }
    return compared === 0 ? undefined : same / compared
  }
}

function placeOf({
  conversation,
  turn,
  round,
}: Pick<GuardVerdict, 'conversation' | 'turn' | 'round'>): string {
  return JSON.stringify([conversation, turn, round])
}
