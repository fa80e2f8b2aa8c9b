// The rule about approvals, with a violation planted in a sound run of four calls. One needs no
// decision and one is approved. One expires before its late approval, and one is withdrawn.

import { describe, expect, it } from '@jest/globals'
import { approvals } from './checkers/approvals.ts'
import type { Evidence, Logged } from './evidence.ts'
import { evidenceOf, type Line, start } from './sound-run.ts'

const round = { conversation: 'c', turn: 0, round: 1 }
const texts = ['{"n":"0"}', '{"risk":"person"}', '{"risk":"ledger person"}', '{"risk":"person"}']
const calls = texts.map((text, ordinal) => ({ ordinal, name: 'pay', arguments: text }))
const id = (ordinal: number) => `id-${ordinal}`
const answered = (ordinal: number, answer: string, by: string) => ({
  ...{
    type: 'approval-answered' as const,
    ...round,
    ordinal,
    id: id(ordinal),
    hash: '',
    answer,
    by,
    reason: '',
  },
})
const decided = (ordinal: number, outcome: string, by: string) => ({
  ...{
    type: 'approval-decided' as const,
    ...round,
    ordinal,
    name: 'pay',
    id: id(ordinal),
    outcome,
    by,
    reason: '',
    waitedMs: 1,
  },
})
const tick = { type: 'tick' as const, conversation: 'c', unit: '["c",0,1]' }
const verdict = {
  ...{ type: 'guard-verdict' as const, ...round, guard: 'approval', version: 'v' },
  verdicts: ['pass', 'pass', 'reject', 'reject'].map((word, ordinal) => ({
    ...{
      ordinal,
      verdict: word,
      code: ['', '', 'approval.expired', 'approval.withdrawn'][ordinal],
      text: '',
      evidence: null,
    },
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
  ['approvals', 150, answered(1, 'approve', 'ann')],
  ['approvals', 150, answered(1, 'reject', 'bob')],
  ['activity', 151, decided(1, 'approved', 'ann'), 'approval/0/1/0'],
  [
    'approvals',
    200,
    { type: 'approval-withdrawn', ...round, calls: [{ ordinal: 3, reason: '' }] },
    'executor/0/4/0',
  ],
  ['activity', 201, decided(3, 'withdrawn', ''), 'approval/0/3/0'],
  ['approvals', 399, tick],
  ['approvals', 400, answered(2, 'approve', 'eve')],
  ['activity', 401, decided(2, 'expired', ''), 'approval/0/5/0'],
  ['guard-verdicts.approval', 401, verdict, 'approval/0/5/1'],
]

function soundRun(): Evidence {
  const evidence = evidenceOf(lines, [start(0, 's0'), { ...start(1, 's1'), at: 160 }])
  const word = (
    ordinal: number,
    answer: 'approve' | 'reject',
    by: string,
    told: boolean | undefined,
  ) => ({
    ...{ call: `["c",0,1,${ordinal}]`, id: id(ordinal), answer, by, told },
  })
  evidence.decisions = [
    word(1, 'approve', 'ann', true),
    word(1, 'reject', 'bob', false),
    word(2, 'approve', 'eve', false),
    word(2, 'approve', 'unheard', undefined),
  ]
  return evidence
}

const found = ({ records }: Evidence, type: string, at = 0): Logged => {
  const record = records.filter(({ message }) => message?.type === type)[at]
  if (record === undefined) throw new Error(`there is no ${type}`)
  return record
}
const change = (evidence: Evidence, type: string, fields: object, at = 0) =>
  Object.assign(found(evidence, type, at).message as object, fields)
const remove = (evidence: Evidence, type: string, at = 0): void => {
  const gone = found(evidence, type, at)
  evidence.records = evidence.records.filter((record) => record !== gone)
}

const violations: [name: string, plant: (evidence: Evidence) => void, rings: string][] = [
  [
    'a call that needs a person and of which nobody was told',
    (e) => change(e, 'approval-pending', { calls: calls.slice(2) }),
    'asked about [2,3], and the rule names [1,2,3]',
  ],
  [
    'a call that needs nobody and was asked about',
    (e) => change(e, 'approval-pending', { calls }),
    'asked about [0,1,2,3]',
  ],
  [
    'a question that nobody wanted asked',
    (e) => remove(e, 'approval-asked'),
    'and nobody wanted it',
  ],
  [
    'a call that waits for ever',
    (e) => remove(e, 'approval-answered', 2),
    'call 2 of ["c",0,1] waits for ever',
  ],
  [
    'a second word that counted',
    (e) => change(e, 'approval-decided', { outcome: 'rejected', by: 'bob' }),
    "told as rejected by 'bob'",
  ],
  [
    'a word that counted too late',
    (e) => change(e, 'approval-decided', { outcome: 'approved', by: 'eve' }, 2),
    "log says expired by ''",
  ],
  [
    'an end that is told to nobody',
    (e) => remove(e, 'approval-decided', 1),
    'is withdrawn is told to nobody',
  ],
  [
    'an end that is told twice',
    (e) => e.records.push({ ...found(e, 'approval-decided'), id: 'approval/0/9/0' }),
    'is decided a second time',
  ],
  [
    'a person who was told the wrong thing',
    (e) => Object.assign(e.decisions[1]!, { told: true }),
    'bob was told that the word on',
  ],
  [
    'a verdict that lets pass what was not approved',
    (e) => change(e, 'approval-answered', { answer: 'reject' }),
    'is [0 approved,1 approved',
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
    'started at 149, and was approved at 150',
  ],
]

describe('the checker of approvals', () => {
  it('finds nothing in a sound run', () => {
    expect(approvals.check(soundRun())).toEqual([])
  })

  it.each(violations)('rings for %s', (_, plant, rings) => {
    const evidence = soundRun()
    plant(evidence)
    expect(approvals.check(evidence).map(({ what }) => what)).toContainEqual(
      expect.stringContaining(rings),
    )
  })
})
