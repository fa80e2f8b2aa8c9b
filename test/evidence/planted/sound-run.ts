// The smallest sound run, written by hand: one message, one turn, and one round of three calls. One
// may not be repeated (ordinal 0), one may (1) and one was rejected (2). Tests of the checkers
// plant their violations in it.

import type { Message } from '../../../shared/contract/messages.ts'
import { type Evidence, type Logged, messageKey, type Start } from '../evidence.ts'

/** Everything that a chaos run shows. */
export type ChaosEvidence = Evidence &
  Required<Pick<Evidence, 'disturbances' | 'exits' | 'decisions' | 'riskGuards' | 'guestAdvice'>>

/** A message with the fields that the checkers read. */
export type Sketch = { type: Message['type']; [field: string]: unknown }

const round = { conversation: 'c', turn: 0, round: 1 }
const declaration = { description: '', schema: '{}', timeoutMs: 1_000, poll: false, hints: null }
const declarations = [
  { ...declaration, name: 'pay', idempotent: false },
  { ...declaration, name: 'look', idempotent: true },
]
const policy = { startWithinMs: 1_000, graceMs: 1_000, toolTries: 3, guards: [] }
const calls = ['pay', 'look', 'pay'].map((name, ordinal) => ({
  ordinal,
  name,
  raw: `{"n":"${ordinal}"}`,
  problem: null,
}))
const rejected = {
  ordinal: 2,
  status: 'denied',
  text: 'no',
  reason: 'no',
  durationMs: 0,
  guard: '',
}
const paid = { ordinal: 0, status: 'ok', text: '{"start":"s0"}', reason: '', durationMs: 5 }
const looked = { ordinal: 1, status: 'ok', text: '{"start":"s1"}', reason: '', durationMs: 5 }
const response = { text: '', calls }

/** Topic, time, message and, for a derived record, its id. Offsets follow from the order. */
export type Line = [topic: string, time: number, message: Sketch, id?: string]

const before: Line[] = [
  ['conversation-events', 100, { type: 'user-message', conversation: 'c', messageId: 'm' }],
  [
    'activity',
    101,
    { type: 'turn-started', conversation: 'c', turn: 0, messageId: 'm' },
    'conversation/0/0/0',
  ],
  ['activity', 101, { type: 'round-started', ...round }, 'conversation/0/0/1'],
  [
    'history',
    101,
    { type: 'history-entry', ...round, round: 0, response: null, results: [] },
    'conversation/0/0/2',
  ],
  ['model-requests', 101, { type: 'model-request', ...round }, 'conversation/0/0/3'],
  ['model-requests', 110, { type: 'attempt-finished', ...round }],
  ['model-deltas', 111, { type: 'model-finished', ...round }, 'llm-gateway/0/1/0'],
  ['rounds-proposed', 112, { type: 'round-proposed', ...round, response }, 'accumulator/0/0/0'],
  [
    'rounds-checked',
    113,
    { type: 'round-checked', ...round, response, policy: { shadowed: [] } },
    'validator/0/0/0',
  ],
  [
    'rounds-cleared',
    114,
    {
      type: 'round-cleared',
      ...round,
      calls,
      decided: [rejected],
      declarations,
      policy,
      expiresAt: 9_000,
    },
    'loop-detector/0/0/0',
  ],
  ['rounds-cleared', 115, { type: 'claim', ...round, ordinal: 0, try: 1, owner: 'o' }],
  ['rounds-cleared', 115, { type: 'claim', ...round, ordinal: 1, try: 1, owner: 'o' }],
]

const ran: Line[] = [
  [
    'rounds-cleared',
    125,
    { type: 'outcome', ...round, ordinal: 0, try: 1, owner: 'o', result: paid },
  ],
  [
    'rounds-cleared',
    126,
    { type: 'outcome', ...round, ordinal: 1, try: 1, owner: 'o', result: looked },
  ],
  ['activity', 126, { type: 'call-finished', ...round, ordinal: 0 }, 'executor/0/3/0'],
  ['activity', 127, { type: 'call-finished', ...round, ordinal: 1 }, 'executor/0/4/0'],
  ...after([paid, looked, rejected], 4, 127),
]

/** Both claims lapse. One call becomes unknown; another owner claims and starts the other. */
const lost: Line[] = [
  ['rounds-cleared', 4_000, { type: 'tick', conversation: 'c', unit: '["c",0]' }],
  ['rounds-cleared', 4_001, { type: 'claim', ...round, ordinal: 1, try: 2, owner: 'o2' }],
  [
    'rounds-cleared',
    4_010,
    {
      type: 'outcome',
      ...round,
      ordinal: 1,
      try: 2,
      owner: 'o2',
      result: { ...looked, text: '{"start":"s2"}' },
    },
  ],
  ['activity', 4_001, { type: 'call-finished', ...round, ordinal: 0 }, 'executor/0/3/0'],
  ['activity', 4_011, { type: 'call-finished', ...round, ordinal: 1 }, 'executor/0/5/0'],
  ...after(
    [
      {
        ordinal: 0,
        status: 'unknown',
        text: 'nobody knows',
        reason: 'no result in time',
        durationMs: 0,
      },
      { ...looked, text: '{"start":"s2"}' },
      rejected,
    ],
    5,
    4_011,
  ),
]

/** From the executor's result on. The result is at `offset` of its inbox. */
export function after(
  results: object[],
  offset: number,
  time: number,
  response: object = { text: '', calls },
): Line[] {
  const finished = {
    type: 'turn-finished',
    conversation: 'c',
    turn: 0,
    messageId: 'm',
    outcome: 'answered',
    reply: 'yes',
    reason: 'it was',
  }
  return [
    [
      'rounds-checked',
      time,
      { type: 'round-executed', ...round, results },
      `executor/0/${offset}/1`,
    ],
    [
      'conversation-events',
      time,
      { type: 'round-outcome', ...round, response, failure: null, results },
      'loop-detector/0/1/0',
    ],
    ['history', time, { type: 'history-entry', ...round, response, results }, 'conversation/0/1/0'],
    [
      'rounds-cleared',
      time,
      { type: 'turn-ended', conversation: 'c', turn: 0 },
      'conversation/0/1/1',
    ],
    ['activity', time, finished as Sketch, 'conversation/0/1/2'],
  ]
}

/** A fresh copy each time: tests change it in place. */
export function soundRun(): ChaosEvidence {
  return evidenceOf([...before, ...ran], [start(0, 's0'), start(1, 's1')])
}

/**
 * The same, but the owner of the claims disappears. `disturbances` is empty, so no fault explains
 * it.
 */
export function runWithLostOwner(): ChaosEvidence {
  return evidenceOf(
    [...before, ...lost],
    [start(0, 's0'), start(1, 's1'), { ...start(1, 's2'), process: 'executor-2#1', at: 4_005 }],
  )
}

export function start(ordinal: number, name: string): Start {
  return {
    call: `["c",0,1,${ordinal}]`,
    tool: 'pay',
    process: 'executor-1#1',
    start: name,
    at: 116,
  }
}

export function evidenceOf(lines: Line[], starts: Start[], answered = calls): ChaosEvidence {
  const records: Logged[] = []
  for (const [topic, all] of Map.groupBy(lines, ([topic]) => topic))
    for (const [offset, [, time, message, id]] of all.entries())
      records.push(logged({ topic, offset, time, message: structuredClone(message), id }))
  return {
    topicPrefix: 'weir.',
    partitions: 1,
    records,
    isIdle: false,
    starts,
    startsNotedBy: 'tools',
    sent: [
      {
        conversation: 'c',
        messageId: 'm',
        taken: true,
        refusable: false,
        cancelled: false,
        answer: { outcome: 'answered', reply: 'yes' },
      },
    ],
    modelAnswers: [
      {
        of: messageKey({ conversation: 'c', messageId: 'm' }),
        text: '',
        calls: answered.map(({ name, raw }) => ({ name, raw })),
      },
    ],
    decisions: [],
    disturbances: [],
    guestRuns: [],
    guestAdvice: [],
    riskGuards: ['ledger', 'lookout'],
    exits: [],
    committed: [
      committed(
        'executor',
        'rounds-cleared',
        lines.filter(([topic]) => topic === 'rounds-cleared').length,
      ),
      committed('conversation', 'conversation-events', 2),
    ],
  }
}

export function logged({
  topic,
  offset,
  time,
  message,
  id,
}: {
  topic: string
  offset: number
  time: number
  message: Sketch
  id?: string | undefined
}): Logged {
  const key =
    typeof message.conversation === 'string'
      ? message.conversation
      : message.type === 'guard-registration'
        ? `guard:${message.name}`
        : ''
  return {
    topic,
    partition: 0,
    offset,
    time,
    key,
    id,
    digest: JSON.stringify(message),
    message: message as unknown as Message,
    fault: undefined,
  }
}

export function committed(group: string, topic: string, end: number) {
  return {
    group,
    topic,
    partition: 0,
    offset: end,
    metadata: JSON.stringify({ from: end, marks: {} }),
    begin: 0,
    end,
  }
}
