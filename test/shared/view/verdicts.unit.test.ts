// Which verdicts of guards count, wherever they are shown.

import { describe, expect, it } from '@jest/globals'
import type { CallVerdict, GuardVerdictGiven } from '../../../shared/contract/messages.ts'
import { answerTime, deniedBy, judgedBy, modeOn } from '../../../shared/view/verdicts.ts'

const withdrawn = { ordinal: 0, verdict: 'deny', code: 'approval.withdrawn' } as CallVerdict
const denied = { ordinal: 1, verdict: 'deny', code: 'not-here' } as CallVerdict
const allowed = { ordinal: 2, verdict: 'allow', code: '' } as CallVerdict
const verdicts = [withdrawn, denied, allowed]

describe('a verdict of a guard', () => {
  it('does not count if it fills the place of a withdrawn approval', () => {
    const given = { guard: 'approval', verdicts } as GuardVerdictGiven
    expect(deniedBy(given)).toEqual([denied])
    expect(judgedBy('approval', verdicts)).toEqual([denied, allowed])
  })

  it('counts as a denial if another guard writes the code of a withdrawn approval', () => {
    expect(deniedBy({ guard: 'mine', verdicts } as GuardVerdictGiven)).toEqual([withdrawn, denied])
  })

  it('has the mode of its guard for the call', () => {
    expect([1, 2].map((ordinal) => modeOn({ enforces: [1] }, ordinal))).toEqual([
      'enforce',
      'shadow',
    ])
  })

  it('is late from the deadline on, and has no time without that of the round', () => {
    const round = { clearedAt: 1_000, deadlineMs: 50 }
    expect(answerTime(round, 1_049)).toEqual({ tookMs: 49, isLate: false })
    expect(answerTime(round, 1_050)).toEqual({ tookMs: 50, isLate: true })
    expect(answerTime({ ...round, clearedAt: 0 }, 9_000)).toEqual({
      tookMs: undefined,
      isLate: false,
    })
    expect(answerTime({ ...round, deadlineMs: 0 }, 9_000).isLate).toBe(false)
  })
})
