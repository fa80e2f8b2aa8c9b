import { describe, expect, it } from '@jest/globals'
import { createTally } from '../../../../apps/service/guards/tally.ts'
import type {
  CallVerdict,
  GuardVerdict,
  GuardVerdictGiven,
} from '../../../../shared/contract/messages.ts'
import { guardVerdictWith, verdictWith } from '../../../support/messages.ts'

const said = (ordinal: number, verdict: CallVerdict['verdict']): CallVerdict =>
  verdictWith({ ordinal, verdict })

/** Cleared at 1,000, with a second's deadline. */
function answer(
  round: number,
  verdicts: CallVerdict[],
  enforces: number[] = [],
  fields: Partial<GuardVerdict> = {},
): GuardVerdict {
  return guardVerdictWith({ round, guard: 'g', verdicts, clearedAt: 1_000, enforces, ...fields })
}

const silent = (round: number, verdicts: CallVerdict[]): GuardVerdictGiven => ({
  type: 'guard-verdict-given',
  conversation: 'c',
  turn: 0,
  round,
  guard: 'g',
  version: '1',
  answer: 'silent',
  verdicts,
  waitedMs: 1_000,
})

describe('the tally of a guard', () => {
  it('counts denied calls where the guard enforces, and would-be denials where it is a shadow', () => {
    const tally = createTally()
    tally.addVerdict(
      'g',
      answer(1, [said(0, 'deny'), said(1, 'deny'), said(2, 'allow')], [0, 2]),
      1_010,
    )
    tally.addVerdict('g', answer(2, [said(0, 'deny')]), 1_030)
    expect(tally.of('g')).toMatchObject({
      rounds: 2,
      denied: 1,
      wouldHaveDenied: 2,
      late: 0,
      letThrough: 0,
      p50Ms: 30,
      p99Ms: 30,
    })
  })

  it('counts the calls that the guard sent to a person apart from its denials', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'ask'), said(1, 'ask'), said(2, 'allow')], [0]), 1_010)
    tally.addVerdict('g', answer(2, [said(0, 'ask')], [0]), 2_500)
    expect(tally.of('g')).toMatchObject({
      asked: 1,
      wouldHaveAsked: 1,
      denied: 0,
      wouldHaveDenied: 0,
    })
  })

  it('does not count a call that the approval guard withdrew', () => {
    const tally = createTally()
    const withdrawn = { ...said(0, 'deny'), code: 'approval.withdrawn' }
    tally.addVerdict('approval', answer(1, [withdrawn, said(1, 'allow')], [0, 1]), 1_010)
    tally.addVerdict('g', answer(1, [said(0, 'allow'), said(1, 'allow')], [0, 1]), 1_010)
    expect(tally.of('approval')).toMatchObject({ rounds: 1, denied: 0, agreement: 1 })
    tally.addVerdict('g', answer(2, [withdrawn], [0]), 1_010)
    expect(tally.of('g')).toMatchObject({ denied: 1 })
  })

  it('counts a round once, by its first answer', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'deny')], [0]), 1_010)
    tally.addVerdict('g', answer(1, [said(0, 'allow')], [0]), 1_020)
    expect(tally.of('g')).toMatchObject({ rounds: 1, denied: 1, p99Ms: 10 })
  })

  it('counts a late answer once as late and its denial not at all', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'deny')], [0]), 2_500)
    tally.addDecision(silent(1, [said(0, 'deny')]))
    tally.addDecision(silent(1, [said(0, 'deny')]))
    expect(tally.of('g')).toMatchObject({ rounds: 1, denied: 0, late: 1, letThrough: 0 })
  })

  it('excludes answers after a pause of the guard from the latency', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'allow')]), 1_010)
    tally.addVerdict('g', answer(2, [said(0, 'allow')]), 600_000)
    expect(tally.of('g')).toMatchObject({ rounds: 2, late: 1, p50Ms: 10, p99Ms: 10 })
  })

  it('counts calls that the silence of the guard allowed', () => {
    const tally = createTally()
    tally.addDecision(silent(1, [said(0, 'allow'), said(1, 'allow')]))
    expect(tally.of('g')).toMatchObject({
      rounds: 0,
      late: 1,
      letThrough: 2,
      p50Ms: undefined,
      agreement: undefined,
    })
  })

  it('gives the share of calls with equal verdicts of other guards', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'deny'), said(1, 'allow')]), 1_010)
    tally.addVerdict('h', answer(1, [said(0, 'deny'), said(1, 'deny')]), 1_010)
    tally.addVerdict('h', answer(2, [said(0, 'deny')]), 1_010)
    expect([
      tally.of('g').agreement,
      tally.of('h').agreement,
      tally.of('nobody').agreement,
    ]).toEqual([0.5, 0.5, undefined])
  })

  it('has no latency for an answer without the time of its round', () => {
    const tally = createTally()
    tally.addVerdict('g', answer(1, [said(0, 'deny')], [0], { clearedAt: 0, deadlineMs: 0 }), 9_000)
    expect(tally.of('g')).toMatchObject({ rounds: 1, denied: 1, late: 0, p50Ms: undefined })
  })
})
