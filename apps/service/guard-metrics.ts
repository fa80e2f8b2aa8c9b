// The metrics of guards that run in this process. The label `guard` holds the names of the guards
// that it was started with, so it is bounded.

import type { Registry } from 'prom-client'
import type { GuardVerdict } from '../../shared/contract/messages.ts'
import type { Clock } from '../../shared/lib/clock.ts'
import type { GuardInstruments } from '../../shared/runtime/guards/guard-instruments.ts'
import { createInstruments, type InstrumentTable } from './instrument-table.ts'
import { type ReadPartitions, readerOfGuard, readOn } from './read-partitions.ts'

export type GuardMetricsOptions = {
  registry: Registry
  guards: readonly string[]
  partitions: ReadPartitions
  clock: Pick<Clock, 'now'>
}

/** Seconds; a guard that judges for a second is broken off. */
const judgeBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1]

/**
 * What the runner of guards says of an answer of its own making
 * (shared/runtime/guards/judgement.ts).
 */
const failureCodes = ['guard.threw', 'guard.stuck', 'guard.unusable']

const modes = ['enforce', 'shadow'] as const
const verdicts = ['pass', 'reject'] as const

const table = {
  rounds: [
    'counter',
    'weir_guard_rounds_total',
    'Rounds that the guard judged in this process and whose answer is in the log.',
    ['guard'],
  ],
  verdicts: [
    'counter',
    'weir_guard_verdicts_total',
    'Verdicts of the guard on calls: in which mode it was for the call, and what it said. A shadow stops nothing.',
    ['guard', 'mode', 'verdict'],
  ],
  late: [
    'counter',
    'weir_guard_late_total',
    "Answers to rounds that waited for the guard which were in the log after its deadline, by this machine's clock.",
    ['guard'],
  ],
  failures: [
    'counter',
    'weir_guard_failures_total',
    'Rounds that the guard failed on: it threw, took too long, or answered what cannot be used. Their calls were rejected.',
    ['guard', 'code'],
  ],
  seconds: [
    'histogram',
    'weir_guard_judge_seconds',
    'How long the guard judged a round.',
    ['guard'],
    judgeBuckets,
  ],
} as const satisfies InstrumentTable

export function createGuardMetrics({
  registry,
  guards,
  partitions,
  clock,
}: GuardMetricsOptions): GuardInstruments {
  const counters = createInstruments(registry, table)
  for (const guard of guards) {
    for (const counter of [counters.rounds, counters.late]) counter.inc({ guard }, 0)
    for (const mode of modes)
      for (const verdict of verdicts) counters.verdicts.inc({ guard, mode, verdict }, 0)
    for (const code of failureCodes) counters.failures.inc({ guard, code }, 0)
  }

  function answered(
    guard: string,
    { verdicts, enforces, judgedMs, clearedAt, deadlineMs }: GuardVerdict,
  ): void {
    counters.rounds.inc({ guard })
    counters.seconds.observe({ guard }, judgedMs / 1000)
    if (enforces.length > 0 && clock.now() - clearedAt >= deadlineMs) counters.late.inc({ guard })
    for (const { ordinal, verdict } of verdicts)
      counters.verdicts.inc({
        guard,
        mode: enforces.includes(ordinal) ? 'enforce' : 'shadow',
        verdict,
      })
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
