import { describe, expect, it } from '@jest/globals'
import { createHealth } from '../../../../apps/service/health.ts'
import { createMetrics } from '../../../../apps/service/metrics/metrics.ts'
import { createReadPartitions, readerOfGuard } from '../../../../apps/service/read-partitions.ts'
import type { StoredRecord } from '../../../../shared/contract/bus.ts'
import type { CallVerdict, GuardVerdict } from '../../../../shared/contract/messages.ts'
import { guardVerdictWith, verdictWith } from '../../../support/messages.ts'

const now = 10_000

function world() {
  const partitions = createReadPartitions({ now: () => now })
  const metrics = createMetrics({
    stages: [],
    guards: ['shell'],
    partitions,
    clock: { now: () => now },
    lags: async () => [],
    ofProcess: false,
  })
  let caughtUp = false
  const instrument = metrics.guardInstruments.assigned({
    guard: 'shell',
    topic: 'weir.rounds-cleared',
    partition: 0,
    from: 2,
    done: 2,
    end: 5,
    hasCaughtUp: () => caughtUp,
  })
  return {
    instrument,
    partitions,
    health: createHealth([readerOfGuard('shell')], partitions),
    catchUp: () => {
      caughtUp = true
    },
    series: async () =>
      Object.fromEntries(
        (await metrics.text())
          .split('\n')
          .filter((line) => /^weir_(guard|partitions)/.test(line) && !/_bucket|_sum/.test(line))
          .map((line) => [
            line.slice(0, line.lastIndexOf(' ')),
            Number(line.slice(line.lastIndexOf(' ') + 1)),
          ])
          .filter(([, value]) => value !== 0),
      ),
  }
}

const read = [3, 4].map(
  (offset): StoredRecord => ({
    topic: 't',
    partition: 0,
    key: 'c',
    value: null,
    offset,
    time: 9_000,
  }),
)
const said = (ordinal: number, verdict: CallVerdict['verdict'], code = ''): CallVerdict =>
  verdictWith({ ordinal, verdict, code })
const answer = (verdicts: CallVerdict[], enforces: number[], clearedAt: number): GuardVerdict =>
  guardVerdictWith({ conversation: 'an-id', verdicts, clearedAt, judgedMs: 2, enforces })

describe('the metrics of a guard', () => {
  it('count its rounds, verdicts by mode, late answers and judging times', async () => {
    const { instrument, series } = world()
    instrument.acknowledged({
      read,
      answers: [
        answer([said(0, 'deny'), said(1, 'allow')], [0], 9_500),
        answer([said(0, 'allow')], [0], 9_000),
        answer([said(0, 'allow')], [], 1),
      ],
    })
    expect(await series()).toEqual({
      'weir_partitions_assigned{stage="guard.shell"}': 1,
      'weir_guard_rounds_total{guard="shell"}': 3,
      'weir_guard_verdicts_total{guard="shell",mode="enforce",verdict="deny"}': 1,
      'weir_guard_verdicts_total{guard="shell",mode="enforce",verdict="allow"}': 1,
      'weir_guard_verdicts_total{guard="shell",mode="shadow",verdict="allow"}': 2,
      'weir_guard_late_total{guard="shell"}': 1,
      'weir_guard_judge_seconds_count{guard="shell"}': 3,
    })
  })

  it('count failed rounds by code, and no code of the guard itself', async () => {
    const { instrument, series } = world()
    instrument.acknowledged({
      read,
      answers: [
        answer([said(0, 'deny', 'guard.stuck')], [], 9_900),
        answer([said(0, 'deny', 'mine')], [], 9_900),
      ],
    })
    const failures = Object.entries(await series()).filter(([name]) =>
      name.startsWith('weir_guard_failures_total'),
    )
    expect(failures).toEqual([['weir_guard_failures_total{guard="shell",code="guard.stuck"}', 1]])
  })

  it('give its position, so its process is ready after joining and catching up', () => {
    const { instrument, health, catchUp, partitions } = world()
    expect(health.ready.why).toContain('guard.shell has not joined its group yet')
    health.started(new Map([[readerOfGuard('shell'), { joined: true }]]))
    instrument.acknowledged({ read: read.slice(0, 1), answers: [] })
    expect(health.ready.why).toEqual([
      'guard.shell has not caught up in partition 0: it is at 4 of 5',
    ])
    instrument.acknowledged({ read: read.slice(1), answers: [] })
    expect([...partitions.all]).toMatchObject([
      { stage: 'guard.shell', position: 5, newestTime: 9_000 },
    ])
    catchUp()
    expect(health.ready).toMatchObject({
      ready: true,
      stages: { 'guard.shell': { joined: true, partitions: { '0': 'caught up' } } },
    })
    instrument.closed()
    expect([...partitions.all]).toEqual([])
  })
})
