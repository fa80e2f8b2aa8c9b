// The rule about approvals, with a violation planted in a sound run of four calls. One needs no
// decision and one is approved. One expires before its late approval, and one is withdrawn.

import { describe, expect, it } from '@jest/globals'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { approvals } from '../checkers/guards/approvals.ts'
import { fieldsAt, itReports, type Planted, plantedRules, recordAt, removeAt } from './planted.ts'
import { type ChaosEvidence, evidenceOf, type Line, start } from './sound-run.ts'

const round = { conversation: 'c', turn: 0, round: 1 }
const texts = ['{"n":"0"}', '{"risk":"person"}', '{"risk":"ledger person"}', '{"risk":"person"}']
const calls = texts.map((text, ordinal) => ({ ordinal, name: 'pay', arguments: text }))
const id = (ordinal: number) => `id-${ordinal}`
const answered = (ordinal: number, answer: string, by: string) => ({
  type: 'approval-answered' as const,
  ...round,
  ordinal,
  id: id(ordinal),
  hash: '',
  answer,
  by,
  reason: '',
})
const decided = (ordinal: number, outcome: string, by: string) => ({
  type: 'approval-decided' as const,
  ...round,
  ordinal,
  name: 'pay',
  id: id(ordinal),
  outcome,
  by,
  reason: '',
  waitedMs: 1,
})
const tick = { type: 'tick' as const, conversation: 'c', unit: '["c",0,1]' }
const verdict = {
  type: 'guard-verdict' as const,
  ...round,
  guard: 'approval',
  version: 'v',
  verdicts: ['allow', 'allow', 'deny', 'deny'].map((word, ordinal) => ({
    ordinal,
    verdict: word,
    code: ['', '', 'approval.expired', 'approval.withdrawn'][ordinal],
    text: '',
    evidence: null,
  })),
}
const lines: Line[] = [
  ['approvals', 100, { type: 'approval-asked', ...round, calls, until: 500 }, 'executor/0/0/0'],
  [
    'activity',
    101,
    { type: 'approval-pending', ...round, calls: calls.slice(1), until: 400 },
    'approval/0/0/0',
  ],
  ['approvals', 150, answered(1, 'allow', 'ann')],
  ['approvals', 150, answered(1, 'deny', 'bob')],
  ['activity', 151, decided(1, 'allow', 'ann'), 'approval/0/1/0'],
  [
    'approvals',
    200,
    { type: 'approval-withdrawn', ...round, calls: [{ ordinal: 3, reason: '' }] },
    'executor/0/4/0',
  ],
  ['activity', 201, decided(3, 'withdrawn', ''), 'approval/0/3/0'],
  ['approvals', 399, tick],
  ['approvals', 400, answered(2, 'allow', 'eve')],
  ['activity', 401, decided(2, 'expired', ''), 'approval/0/5/0'],
  ['guard-verdicts.approval', 401, verdict, 'approval/0/5/1'],
]

function soundRun(): ChaosEvidence {
  const evidence = evidenceOf(lines, [start(0, 's0'), { ...start(1, 's1'), at: 160 }])
  const decision = (
    ordinal: number,
    answer: 'allow' | 'deny',
    by: string,
    counted: boolean | undefined,
  ) => ({
    call: `["c",0,1,${ordinal}]`,
    id: id(ordinal),
    answer,
    by,
    counted,
  })
  evidence.decisions = [
    decision(1, 'allow', 'ann', true),
    decision(1, 'deny', 'bob', false),
    decision(2, 'allow', 'eve', false),
    decision(2, 'allow', 'unanswered', undefined),
  ]
  return evidence
}

type Run = ChaosEvidence
const found = (e: Run, type: MessageType) => recordAt(e, { type })
const change = (e: Run, type: MessageType, fields: object, nth = 0) =>
  Object.assign(fieldsAt(e, { type, nth }), fields)
const remove = (e: Run, type: MessageType, nth = 0) => removeAt(e, { type, nth })

const violations: Planted[] = [
  [
    'a call that needs a person and has no request',
    (e) => change(e, 'approval-pending', { calls: calls.slice(2) }),
    'requests for [2,3], and the rule names [1,2,3]',
  ],
  [
    'a call that needs nobody and has a request',
    (e) => change(e, 'approval-pending', { calls }),
    'requests for [0,1,2,3]',
  ],
  ['a request that no stage made', (e) => remove(e, 'approval-asked'), 'without an approval-asked'],
  [
    'a call that waits for ever',
    (e) => remove(e, 'approval-answered', 2),
    'call 2 of ["c",0,1] waits for ever',
  ],
  [
    'a second decision that counted',
    (e) => change(e, 'approval-decided', { outcome: 'deny', by: 'bob' }),
    "reported as deny by 'bob'",
  ],
  [
    'a late decision that counted',
    (e) => change(e, 'approval-decided', { outcome: 'allow', by: 'eve' }, 2),
    "log requires expired by ''",
  ],
  [
    'an outcome that is never reported',
    (e) => remove(e, 'approval-decided', 1),
    'is withdrawn, and no client was notified',
  ],
  [
    'an outcome that is reported twice',
    (e) => e.records.push({ ...found(e, 'approval-decided'), id: 'approval/0/9/0' }),
    'is decided a second time',
  ],
  [
    'a person with the wrong reply',
    (e) => Object.assign(e.decisions[1]!, { counted: true }),
    'the reply to bob is that the decision on',
  ],
  [
    'a verdict that passes a call without approval',
    (e) => change(e, 'approval-answered', { answer: 'deny' }),
    'is [0 allow,1 allow',
  ],
  ['a round without a verdict', (e) => remove(e, 'guard-verdict'), 'got no verdict'],
  [
    'a start without approval',
    (e) => e.starts.push({ ...start(2, 's2'), at: 450 }),
    '["c",0,1,2] started at 450, and was expired at 400',
  ],
  [
    'a start before the approval',
    (e) => Object.assign(e.starts[1]!, { at: 149 }),
    'started at 149, and was allow at 150',
  ],
]

describe('the checker of approvals', () => {
  it('reports nothing for a sound run', async () => {
    expect(await approvals.check(soundRun())).toEqual([])
  })

  itReports(soundRun, violations, plantedRules.approvals)
})
