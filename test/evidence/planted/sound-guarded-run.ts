// A sound run with guards, written by hand. `ledger` enforces for pay and rejects the last of three
// calls; `lookout` watches all of them as a shadow.

import { after, type ChaosEvidence, committed, evidenceOf, type Line, start } from './sound-run.ts'

const place = { conversation: 'c', turn: 0 }
const round = { ...place, round: 1 }
const declarations = ['pay', 'look'].map((name) => ({
  name,
  description: '',
  schema: '{}',
  timeoutMs: 1_000,
  poll: false,
  hints: null,
  idempotent: false,
}))
const ledger = {
  name: 'ledger',
  version: 'v1',
  tools: [{ pattern: 'pay', mode: 'enforce' }],
  deadlineMs: 1_000,
  onTimeout: 'deny',
}
const lookout = {
  name: 'lookout',
  version: 'v1',
  tools: [{ pattern: '*', mode: 'shadow' }],
  deadlineMs: 1_000,
  onTimeout: 'allow',
}
const watching = { ...lookout, tools: [{ pattern: 'loo*', mode: 'enforce' }] }
const calls = ['{"n":"0"}', '{"n":"1"}', '{"n":"2","risk":"ledger"}'].map((raw, ordinal) => ({
  ordinal,
  name: ordinal === 1 ? 'look' : 'pay',
  raw,
  problem: null,
}))
const pass = { verdict: 'allow', code: '', text: '', evidence: null }
const text = 'ledger v1 has seen 1 calls before; it does not want this one.'
const verdicts = [
  { ordinal: 0, ...pass },
  { ordinal: 2, verdict: 'deny', code: 'risk', text, evidence: null },
]
const verdict = {
  type: 'guard-verdict',
  ...round,
  guard: 'ledger',
  version: 'v1',
  verdicts,
  enforces: [0, 2],
} as const
const results = [
  { ordinal: 0, status: 'ok', text: '{"start":"s0"}', reason: '', durationMs: 5 },
  { ordinal: 1, status: 'ok', text: '{"start":"s1"}', reason: '', durationMs: 5 },
  {
    ordinal: 2,
    status: 'denied',
    reason: 'vetoed by guard ledger: risk',
    guard: 'ledger',
    durationMs: 0,
    text: `Tool call vetoed before execution: the guard "ledger" says: ${text}`,
  },
]

function before(guards: (typeof ledger)[]): Line[] {
  const policy = { startWithinMs: 1_000, graceMs: 1_000, toolTries: 3, guards }
  return [
    ...guards.map(
      (guard): Line => [
        'policies',
        50,
        { type: 'guard-registration', ...guard, firstAt: null, replaced: [] },
      ],
    ),
    ['conversation-events', 100, { type: 'user-message', conversation: 'c', messageId: 'm' }],
    ['activity', 101, { type: 'turn-started', ...place, messageId: 'm' }, 'conversation/0/0/0'],
    ['activity', 101, { type: 'round-started', ...round }, 'conversation/0/0/1'],
    [
      'history',
      101,
      { type: 'history-entry', ...round, round: 0, response: null, results: [] },
      'conversation/0/0/2',
    ],
    ['model-requests', 101, { type: 'model-request', ...round }, 'conversation/0/0/3'],
    ['model-requests', 105, { type: 'attempt-started', ...round, attempt: 'a' }],
    ['model-requests', 110, { type: 'attempt-finished', ...round, attempt: 'a', policy }],
    ['model-deltas', 111, { type: 'model-finished', ...round }, 'llm-gateway/0/2/0'],
    [
      'rounds-proposed',
      112,
      { type: 'round-proposed', ...round, response: { text: '', calls } },
      'accumulator/0/0/0',
    ],
    [
      'rounds-checked',
      113,
      { type: 'round-checked', ...round, policy: { shadowed: [] } },
      'validator/0/0/0',
    ],
    [
      'rounds-cleared',
      114,
      {
        type: 'round-cleared',
        ...round,
        calls,
        decided: [],
        declarations,
        policy,
        expiresAt: 9_000,
      },
      'loop-detector/0/0/0',
    ],
    ['activity', 114, { type: 'calls-waiting', ...round, calls: [] }, 'executor/0/0/0'],
    ['guard-verdicts.ledger', 120, verdict, 'guard.ledger/0/0/0'],
  ]
}

const ledgerSpoke: Line[] = [
  ['rounds-cleared', 122, verdict],
  [
    'activity',
    123,
    { type: 'guard-verdict-given', ...round, guard: 'ledger', answer: 'verdicts', verdicts },
    'executor/0/1/0',
  ],
  ['activity', 123, { type: 'call-finished', ...round, ordinal: 2 }, 'executor/0/1/1'],
  ['rounds-cleared', 124, { type: 'claim', ...round, ordinal: 0, try: 1, owner: 'o' }],
  [
    'rounds-cleared',
    126,
    { type: 'outcome', ...round, ordinal: 0, try: 1, owner: 'o', result: results[0] },
  ],
  ['activity', 126, { type: 'call-finished', ...round, ordinal: 0 }, 'executor/0/3/0'],
]

/** A fresh copy each time: tests change it in place. */
export function guardedRun(): ChaosEvidence {
  const all = [0, 1, 2].map((ordinal) => ({ ordinal, ...pass }))
  return withGuards(
    [
      ...before([ledger, lookout]),
      [
        'guard-verdicts.lookout',
        121,
        { ...verdict, guard: 'lookout', verdicts: all, enforces: [] },
        'guard.lookout/0/0/0',
      ],
      ...ledgerSpoke,
      ['rounds-cleared', 127, { type: 'claim', ...round, ordinal: 1, try: 1, owner: 'o' }],
      [
        'rounds-cleared',
        128,
        { type: 'outcome', ...round, ordinal: 1, try: 1, owner: 'o', result: results[1] },
      ],
      ['activity', 128, { type: 'call-finished', ...round, ordinal: 1 }, 'executor/0/5/0'],
      ...after(results, 5, 129, { text: '', calls }),
    ],
    128,
  )
}

/**
 * The same, but `lookout` enforces for look and answers too late. Its on-timeout allows the call.
 */
export function runWithLateGuard(): ChaosEvidence {
  const late = [{ ordinal: 1, verdict: 'deny', code: 'risk', text: 'no', evidence: null }]
  const given = [{ ordinal: 1, ...pass, code: 'guard.silent' }]
  const evidence = withGuards(
    [
      ...before([ledger, watching]),
      ...ledgerSpoke,
      ['rounds-cleared', 1_120, { type: 'tick', conversation: 'c', unit: '["c",0]' }],
      [
        'activity',
        1_120,
        {
          type: 'guard-verdict-given',
          ...round,
          guard: 'lookout',
          answer: 'silent',
          verdicts: given,
        },
        'executor/0/4/0',
      ],
      [
        'guard-verdicts.lookout',
        1_121,
        { ...verdict, guard: 'lookout', verdicts: late, enforces: [1] },
        'guard.lookout/0/0/0',
      ],
      ['rounds-cleared', 1_122, { ...verdict, guard: 'lookout', verdicts: late, enforces: [1] }],
      ['rounds-cleared', 1_127, { type: 'claim', ...round, ordinal: 1, try: 1, owner: 'o' }],
      [
        'rounds-cleared',
        1_128,
        { type: 'outcome', ...round, ordinal: 1, try: 1, owner: 'o', result: results[1] },
      ],
      ['activity', 1_128, { type: 'call-finished', ...round, ordinal: 1 }, 'executor/0/7/0'],
      ...after(results, 7, 1_129, { text: '', calls }),
    ],
    1_127,
  )
  return evidence
}

function withGuards(lines: Line[], secondStart: number): ChaosEvidence {
  const evidence = evidenceOf(
    lines,
    [
      { ...start(0, 's0'), at: 125 },
      { ...start(1, 's1'), at: secondStart },
    ],
    calls,
  )
  const end = lines.filter(([topic]) => topic === 'rounds-cleared').length
  evidence.committed.push(
    committed('weir.guard.ledger', 'rounds-cleared', end),
    committed('weir.guard.lookout', 'rounds-cleared', end),
  )
  return evidence
}
