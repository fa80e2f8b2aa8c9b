// The metrics of guards in this process. The label `guard` holds the names that the process was
// started with, so it is bounded.

import type { Registry } from 'prom-client'
import { guardModes } from '../../../shared/contract/guard/guard.ts'
import type { GuardVerdict } from '../../../shared/contract/messages.ts'
import type { Clock } from '../../../shared/lib/clock.ts'
import type { GuardInstruments } from '../../../shared/runtime/guards/guard-instruments.ts'
import { answerTime, judgedBy, modeOn } from '../../../shared/view/verdicts.ts'
import { type ReadPartitions, readerOfGuard, readOn } from '../read-partitions.ts'
import { createInstruments, type InstrumentTable } from './instrument-table.ts'

export type GuardMetricsOptions = {
  registry: Registry
  guards: readonly string[]
  partitions: ReadPartitions
  clock: Pick<Clock, 'now'>
}

/** Seconds. A guard is aborted after one second, an external one at its deadline. */
const judgeBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

/** The codes of answers that the runner of guards makes (shared/runtime/guards/judgement.ts). */
const failureCodes = ['guard.threw', 'guard.stuck', 'guard.unusable']

const verdicts = ['allow', 'deny', 'ask'] as const

export const guardMetricTable = {
  counters: {
    rounds: [
      'weir_guard_rounds_total',
      'Rounds that the guard judged in this process, with an answer in the log.',
      ['guard'],
    ],
    verdicts: [
      'weir_guard_verdicts_total',
      'Verdicts of the guard on calls, by its mode for the call. A shadow denies nothing.',
      ['guard', 'mode', 'verdict'],
    ],
    late: [
      'weir_guard_late_total',
      "Answers that came after the deadline of a waiting round, by the log's clock.",
      ['guard'],
    ],
    failures: [
      'weir_guard_failures_total',
      'Rounds on which the guard failed: it threw, ran too long, or gave an unusable answer. Their calls were denied.',
      ['guard', 'code'],
    ],
  },
  histograms: {
    seconds: [
      'weir_guard_judge_seconds',
      'Time that the guard needed for a round.',
      ['guard'],
      judgeBuckets,
    ],
  },
  gauges: {},
} as const satisfies InstrumentTable

export function createGuardMetrics({
  registry,
  guards,
  partitions,
  clock,
}: GuardMetricsOptions): GuardInstruments {
  const counters = createInstruments(registry, guardMetricTable)
  for (const guard of guards) {
    for (const counter of [counters.rounds, counters.late]) counter.inc({ guard }, 0)
    for (const mode of guardModes)
      for (const verdict of verdicts) counters.verdicts.inc({ guard, mode, verdict }, 0)
    for (const code of failureCodes) counters.failures.inc({ guard, code }, 0)
  }

  function answered(guard: string, answer: GuardVerdict): void {
    const { verdicts, enforces, judgedMs } = answer
    counters.rounds.inc({ guard })
    counters.seconds.observe({ guard }, judgedMs / 1000)
    if (enforces.length > 0 && answerTime(answer, clock.now()).isLate) counters.late.inc({ guard })
    for (const { ordinal, verdict } of judgedBy(guard, verdicts))
      counters.verdicts.inc({ guard, mode: modeOn(answer, ordinal), verdict })
    const code = verdicts[0]?.code ?? ''
    if (failureCodes.includes(code)) counters.failures.inc({ guard, code })
  }

  return {
    assigned({ guard, ...measured }) {
      const read = partitions.add({ ...measured, stage: readerOfGuard(guard), units: new Map() })
      return {
        acknowledged(step) {
          for (const answer of step.answers) answered(guard, answer)
          readOn(read, step.read)
        },
        closed: () => partitions.remove(read),
      }
    },
  }
}
