// Counts, latencies and agreement of guards, from their own topics and the executor's activity. A
// round counts once for each guard, by its first answer, as it does for the executor.

import { roundKey } from '../../../shared/contract/ids.ts'
import type {
  GuardVerdict,
  GuardVerdictGiven,
  VerdictKind,
} from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { answerTime, judgedBy, modeOn } from '../../../shared/view/verdicts.ts'

export type GuardTally = {
  /** Rounds with an answer of the guard. */
  rounds: number
  /** Calls that it denied, and calls that it would have denied as a shadow. */
  denied: number
  wouldHaveDenied: number
  /** Calls that it sent to a person, and calls that it would have sent as a shadow. */
  asked: number
  wouldHaveAsked: number
  /**
   * Rounds whose answer came after the deadline or that on-timeout decided, each once. Then: calls
   * that on-timeout allowed.
   */
  late: number
  letThrough: number
  /**
   * From the round to the answer, by append time. Late answers are excluded: they measure a pause of
   * the guard. Undefined: no answer was in time.
   */
  p50Ms: Milliseconds | undefined
  p99Ms: Milliseconds | undefined
  /**
   * The share of equal verdicts among all comparisons with other guards on the same call, from 0 to
   * 1. Undefined: no other guard judged its calls.
   */
  agreement: number | undefined
}

type Counts = Pick<
  GuardTally,
  'denied' | 'wouldHaveDenied' | 'asked' | 'wouldHaveAsked' | 'letThrough'
> & {
  rounds: Set<string>
  silent: Set<string>
  late: Set<string>
  latencies: Milliseconds[]
}

export function createTally() {
  const guards = new Map<string, Counts>()
  /** The verdict of each guard, by call. */
  const calls = new Map<string, Map<string, VerdictKind>>()

  return {
    /** Adds a record of the guard's own topic. Returns whether it counts. */
    addVerdict(guard: string, verdict: GuardVerdict, time: Milliseconds): boolean {
      const counts = countsOf(guard)
      const round = roundKey(verdict)
      if (counts.rounds.has(round)) return false
      counts.rounds.add(round)
      const { tookMs, isLate } = answerTime(verdict, time)
      if (tookMs !== undefined && !isLate) counts.latencies.push(tookMs)
      if (isLate) counts.late.add(round)
      for (const { ordinal, verdict: own } of judgedBy(guard, verdict.verdicts)) {
        const call = `${round}/${ordinal}`
        const others = calls.get(call) ?? new Map<string, VerdictKind>()
        calls.set(call, others.set(guard, own))
        if (own === 'allow') continue
        const verb = own === 'ask' ? 'Asked' : 'Denied'
        if (modeOn(verdict, ordinal) === 'shadow') counts[`wouldHave${verb}`] += 1
        else if (!isLate) counts[own === 'ask' ? 'asked' : 'denied'] += 1
      }
      return true
    },

    /**
     * Adds a line of activity: only silent guards are missing in their own topics. Returns whether it
     * counts.
     */
    addDecision(given: GuardVerdictGiven): boolean {
      if (given.answer !== 'silent') return false
      const counts = countsOf(given.guard)
      const round = roundKey(given)
      if (counts.silent.has(round)) return false
      counts.silent.add(round)
      counts.late.add(round)
      counts.letThrough += given.verdicts.filter(({ verdict }) => verdict === 'allow').length
      return true
    },

    of(guard: string): GuardTally {
      const { rounds, late, latencies, silent: _silent, ...counts } = countsOf(guard)
      const sorted = latencies.toSorted((a, b) => a - b)
      const quantile = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
      return {
        ...counts,
        rounds: rounds.size,
        late: late.size,
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
        agreement: agreementOf(guard),
      }
    },
  }

  function countsOf(guard: string): Counts {
    const known = guards.get(guard)
    if (known !== undefined) return known
    const fresh = {
      rounds: new Set<string>(),
      silent: new Set<string>(),
      late: new Set<string>(),
      denied: 0,
      wouldHaveDenied: 0,
      asked: 0,
      wouldHaveAsked: 0,
      letThrough: 0,
      latencies: [],
    }
    guards.set(guard, fresh)
    return fresh
  }

  function agreementOf(guard: string): number | undefined {
    let compared = 0
    let same = 0
    for (const verdicts of calls.values()) {
      const own = verdicts.get(guard)
      if (own === undefined) continue
      for (const [other, verdict] of verdicts) {
        if (other === guard) continue
        compared += 1
        if (verdict === own) same += 1
      }
    }
    return compared === 0 ? undefined : same / compared
  }
}
