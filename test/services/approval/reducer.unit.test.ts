import { describe, expect, it } from '@jest/globals'
import { approval } from '../../../services/approval/reducer.ts'
import { at, given } from '../../support/given.ts'
import { guardVerdictWith, verdictWith } from '../../support/messages.ts'
import {
  answer,
  approvalAsked,
  clearedAt,
  expiresAt,
  place,
  prod,
  prodToo,
  test,
  tick,
  withdrawal,
} from './samples.ts'

const waiting = given(approval, at(clearedAt, approvalAsked()))
const both = approvalAsked({ calls: [prod, prodToo] })

const { requested: _, ...pendingProd } = prod

describe('calls for the approval guard', () => {
  it('wait for a person if a rule names them, and clients get their exact arguments', () => {
    expect(waiting.records).toEqual([
      {
        to: 'activity',
        message: {
          type: 'approval-pending',
          ...place,
          until: expiresAt,
          calls: [{ ...pendingProd, id: answer().id, hash: answer().hash, rule: 'production' }],
        },
      },
    ])
    expect(waiting.due).toBe(expiresAt)
  })

  it('are marked for the person if the model wrote them as text', () => {
    const written = given(approval, approvalAsked({ calls: [{ ...prod, source: 'text' }] }))
    expect(written.to('activity')).toMatchObject([{ calls: [{ source: 'text' }] }])
  })

  it('pass at once if no rule names any', () => {
    const passed = given(approval, approvalAsked({ calls: [test] }))
    expect(passed.state).toBeUndefined()
    expect(passed.to('verdict')).toMatchObject([
      { guard: 'approval', version: 'v', verdicts: [{ ordinal: 1, verdict: 'allow' }] },
    ])
  })

  it('wait for a person if a guard requests it, with its reason, even if no rule names them', () => {
    const requested = 'guard flow: private data would leave'
    const asked = given(approval, approvalAsked({ calls: [{ ...test, requested }] }))
    expect(asked.to('activity')).toMatchObject([{ calls: [{ ordinal: 1, rule: requested }] }])
  })

  it('do not run under unreadable rules, and wait for nobody', () => {
    for (const rules of ['', '[]', 'nonsense', '[{"name":"x"}]']) {
      const refused = given(approval, approvalAsked({ rules }))
      expect(refused.all).toHaveLength(1)
      expect(refused.to('verdict')).toMatchObject([
        {
          verdicts: [0, 1].map((ordinal) => ({
            ordinal,
            verdict: 'deny',
            code: 'approval.rules-unusable',
          })),
        },
      ])
    }
  })

  it('wait for a person if their arguments cannot be read', () => {
    const calls = [{ ...prod, arguments: '{"env":' }]
    expect(given(approval, approvalAsked({ calls })).to('activity')).toMatchObject([
      { type: 'approval-pending', calls: [{ ...pendingProd, arguments: '{"env":' }] },
    ])
  })

  it('wait once if their record comes several times', () => {
    expect(waiting.when(approvalAsked()).records).toEqual([])
    expect(waiting.when(approvalAsked()).state).toEqual(waiting.state)
  })
})

describe('a decision', () => {
  it('that approves passes the round, and clients get its author and the wait', () => {
    const approved = waiting.when(at(5_000, answer()))
    expect(approved.to('verdict')).toEqual([
      guardVerdictWith({
        ...place,
        guard: 'approval',
        version: 'v',
        judgedMs: 0,
        clearedAt,
        deadlineMs: 60_000,
        enforces: [0, 1],
        verdicts: [0, 1].map((ordinal) => verdictWith({ ordinal })),
      }),
    ])
    expect(approved.to('activity')).toMatchObject([
      {
        type: 'approval-decided',
        ordinal: 0,
        name: 'deploy',
        outcome: 'allow',
        by: 'ann',
        waitedMs: 4_000,
      },
    ])
    expect(approved.state).toBeUndefined()
  })

  it('that denies is a veto with its reason in a text for the model', () => {
    const rejected = waiting.when(answer({ answer: 'deny', by: 'bob', reason: 'not on a Friday' }))
    expect(rejected.to('verdict')).toMatchObject([
      {
        verdicts: [
          {
            ordinal: 0,
            verdict: 'deny',
            code: 'approval.denied',
            evidence: 'by bob',
            text:
              'a person rejected this call of deploy. The reason given: "not on a Friday". ' +
              'Do not send the same call again; go on without it, or ask the user.',
          },
          { ordinal: 1, verdict: 'allow' },
        ],
      },
    ])
  })

  it('counts once: the first of two applies, and the second changes nothing', () => {
    const pending = given(approval, both)
    const first = pending
      .when(answer({ by: 'ann' }, both))
      .when(answer({ answer: 'deny', by: 'bob' }, both))
    expect(first.records).toEqual([])
    expect(first.when(answer({ ordinal: 2 }, both)).to('verdict')).toMatchObject([
      {
        verdicts: [
          { ordinal: 0, verdict: 'allow' },
          { ordinal: 2, verdict: 'allow' },
        ],
      },
    ])
  })

  it('on one call leaves the others waiting, and the last one gives the round its verdict', () => {
    const half = given(approval, both).when(answer({ ordinal: 2, answer: 'deny' }, both))
    expect(half.to('verdict')).toEqual([])
    expect(half.when(answer({}, both)).to('verdict')).toMatchObject([
      {
        verdicts: [
          { ordinal: 0, verdict: 'allow' },
          { ordinal: 2, verdict: 'deny' },
        ],
      },
    ])
  })

  it('on other arguments changes nothing', () => {
    const elsewhere = approvalAsked({ calls: [{ ...prod, arguments: '{"env":"prod","count":3}' }] })
    for (const other of [answer({}, elsewhere), answer({ hash: 'x' }), answer({ id: 'x' })]) {
      expect(waiting.when(other).records).toEqual([])
      expect(waiting.when(other).state).toEqual(waiting.state)
    }
  })

  it('after the end of the round changes nothing', () => {
    const over = waiting.when(answer())
    expect(over.when(answer({ answer: 'deny' })).records).toEqual([])
    expect(given(approval, answer()).records).toEqual([])
  })
})

describe('time', () => {
  it('denies an undecided call before the executor stops waiting', () => {
    const expired = waiting.when(at(expiresAt, tick))
    expect(expired.to('verdict')).toMatchObject([
      {
        verdicts: [
          {
            ordinal: 0,
            verdict: 'deny',
            code: 'approval.expired',
            text: expect.stringContaining("needs a person's approval"),
          },
          { ordinal: 1, verdict: 'allow' },
        ],
      },
    ])
    expect(expired.to('activity')).toMatchObject([
      { type: 'approval-decided', outcome: 'expired', by: '' },
    ])
    expect(expired.state).toBeUndefined()
  })

  it('reserves at most a quarter of a short wait for the verdict', () => {
    expect(given(approval, at(clearedAt, approvalAsked({ until: clearedAt + 8_000 }))).due).toBe(
      clearedAt + 6_000,
    )
  })

  it('denies without a tick too: an approval in that millisecond is too late', () => {
    expect(waiting.when(at(expiresAt - 1, answer())).to('verdict')).toMatchObject([
      { verdicts: [{ verdict: 'allow' }, {}] },
    ])
    expect(waiting.when(at(expiresAt, answer())).to('verdict')).toMatchObject([
      { verdicts: [{ code: 'approval.expired' }, {}] },
    ])
  })
})

describe('withdrawn calls', () => {
  it('wait no longer, and the verdict still covers them if others wait', () => {
    const one = given(approval, both).when(withdrawal(0))
    expect(one.to('activity')).toMatchObject([
      { outcome: 'withdrawn', reason: 'vetoed by guard shell: secrets' },
    ])
    expect(one.to('verdict')).toEqual([])
    expect(one.when(answer({ ordinal: 2 }, both)).to('verdict')).toMatchObject([
      {
        verdicts: [
          { ordinal: 0, code: 'approval.withdrawn' },
          { ordinal: 2, verdict: 'allow' },
        ],
      },
    ])
  })

  it('end the round without a verdict if no other call is left', () => {
    const over = waiting.when(withdrawal(0, 1))
    expect(over.to('verdict')).toEqual([])
    expect(over.state).toBeUndefined()
    expect(over.when(answer()).records).toEqual([])
  })

  it('are followed by the verdict on the calls that no rule names', () => {
    expect(waiting.when(withdrawal(0)).to('verdict')).toMatchObject([
      { verdicts: [{ ordinal: 0 }, { ordinal: 1, verdict: 'allow' }] },
    ])
  })
})

describe('the evidence of a decision', () => {
  it('has everything that the person saw, the author and the time, and comes after the verdict', () => {
    const reason = 'not today'
    const denied = waiting.when(
      at(clearedAt + 500, answer({ answer: 'deny', by: 'key:ann', reason })),
    )
    expect(denied.records.map(({ to }) => to)).toEqual(['activity', 'verdict', 'audit'])
    expect(denied.to('audit')).toEqual([
      {
        type: 'audit-decided',
        ...place,
        ordinal: 0,
        agent: 'releaser',
        name: 'deploy',
        id: answer().id,
        hash: answer().hash,
        program: null,
        input: 0,
        source: null,
        askedAt: clearedAt,
        at: clearedAt + 500,
        outcome: 'deny',
        by: 'key:ann',
        identity: 'claimed',
        arguments: prod.arguments,
        rule: 'production',
        question: '',
        values: '',
        reason,
        link: null,
      },
    ])
  })

  it('is written also if nobody decides, and if the call no longer waits', () => {
    expect(waiting.when(at(expiresAt, tick)).to('audit')).toMatchObject([
      { outcome: 'expired', by: '', at: expiresAt },
    ])
    expect(waiting.when(withdrawal(0)).to('audit')).toMatchObject([
      { outcome: 'withdrawn', by: '', reason: 'vetoed by guard shell: secrets' },
    ])
  })

  it('is written once for each call of a round, and not for a call that no rule names', () => {
    const round = given(approval, at(clearedAt, both), answer(), answer({ answer: 'deny' }))
    expect(round.all.filter(({ to }) => to === 'audit')).toHaveLength(1)
    const passed = given(approval, approvalAsked({ calls: [test] }))
    expect(passed.to('audit')).toEqual([])
  })
})
