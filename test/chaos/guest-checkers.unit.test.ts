// Each rule about guests with a violation planted in a sound run. The run has a turn with a call that
// ran and a call that was refused, and a turn that Weir ended.

import { describe, expect, it } from '@jest/globals'
import { guestAdvice } from './checkers/guest-advice.ts'
import { guestRounds } from './checkers/guest-rounds.ts'
import { guestRuns } from './checkers/guest-runs.ts'
import type { Evidence, GuestAsked, Violation } from './evidence.ts'
import { evidenceOf, type Line } from './sound-run.ts'

const conversation = 'guest:guest:g0-0'
const round = { conversation, turn: 0, round: 1 }
const calls = ['a', 'b'].map((mark, ordinal) => ({
  ordinal,
  id: `call_${ordinal}`,
  name: 'note',
  problem: null,
  raw: JSON.stringify({ mark, risk: 'none' }),
}))
const response = { attempt: 'key.1', text: '', calls }
const ledger = {
  name: 'ledger',
  onTimeout: 'deny',
  deadlineMs: 1_000,
  tools: [{ pattern: '*', mode: 'enforce' }],
}
const verdict = (...verdicts: string[]) => ({
  type: 'guest-verdicts' as const,
  ...round,
  calls: verdicts.map((one, ordinal) => ({ ordinal, verdict: one, callId: '', text: '' })),
})
const results = [
  { ordinal: 0, status: 'ok', text: 'did a', reason: '' },
  { ordinal: 1, status: 'denied', text: 'no', reason: '', guard: '' },
]

const lines: Line[] = [
  ['activity', 100, { type: 'turn-started', conversation, turn: 0 }, 'guest/0/0/0'],
  ['rounds-proposed', 101, { type: 'round-proposed', ...round, response }, 'guest/0/0/1'],
  [
    'rounds-cleared',
    103,
    { type: 'round-cleared', ...round, calls, policy: { guards: [ledger] } },
    'loop-detector/0/0/0',
  ],
  [
    'guard-verdicts.ledger',
    104,
    {
      type: 'guard-verdict',
      ...round,
      verdicts: [
        { ordinal: 0, verdict: 'allow' },
        { ordinal: 1, verdict: 'deny' },
      ],
    },
  ],
  ['activity', 105, verdict('wait', 'wait'), 'executor/0/0/0'],
  ['activity', 106, verdict('allow', 'deny'), 'executor/0/1/0'],
  ['guest-events', 110, { type: 'round-outcome', ...round, response, results }, 'loop-detector/1'],
  ['activity', 120, { type: 'turn-finished', conversation, turn: 0 }, 'guest/0/3/0'],
]

const actions: GuestAsked['action'][] = ['none', 'none', 'none', 'nudge', 'text_only', 'end']

function soundGuests(): Evidence {
  return {
    ...evidenceOf(lines, []),
    guests: {
      runs: [{ conversation, mark: 'a', at: 107, text: 'did a' }],
      asked: actions.map((action, at) => ({
        conversation: 'g0-1',
        turn: 1,
        round: at + 1,
        action,
        judged: true,
        isStubborn: true,
      })),
    },
  }
}

function check(evidence: Evidence): Violation[] {
  return [guestRuns, guestRounds, guestAdvice].flatMap((checker) => checker.check(evidence))
}

const ofType = (evidence: Evidence, type: string, nth = 0) => {
  const found = evidence.records.filter(({ message }) => message?.type === type)[nth]
  if (found === undefined) throw new Error(`there is no ${type}`)
  return found
}
const fields = (evidence: Evidence, type: string, nth = 0) =>
  ofType(evidence, type, nth).message as unknown as Record<string, unknown>
const remove = (evidence: Evidence, type: string, nth = 0): void => {
  const gone = ofType(evidence, type, nth)
  evidence.records = evidence.records.filter((record) => record !== gone)
}
const again = (evidence: Evidence, type: string, changed: object): void => {
  const { message, ...record } = ofType(evidence, type)
  const copy = { ...structuredClone(message as object), ...changed }
  evidence.records.push({ ...record, id: 'another', message: copy as never })
}
const run = ({ guests }: Evidence) => guests.runs[0] as Evidence['guests']['runs'][number]
const asked = ({ guests }: Evidence, at: number) => guests.asked[at] as GuestAsked

const violations: [name: string, plant: (evidence: Evidence) => void, expected: string][] = [
  [
    'a call that ran before its verdict',
    (e) => Object.assign(run(e), { at: 105 }),
    'the call a ran 1 ms before its verdict',
  ],
  [
    'a call that ran without a verdict',
    (e) => remove(e, 'guest-verdicts', 1),
    'the call a ran without a verdict',
  ],
  [
    'a call that ran although it was refused later',
    (e) => again(e, 'guest-verdicts', verdict('deny', 'deny')),
    'the call a ran although its newest verdict was refuse',
  ],
  ['a call that ran twice', (e) => e.guests.runs.push(run(e)), 'the call a ran 2 times'],
  [
    'a call that the log does not know',
    (e) => Object.assign(run(e), { mark: 'x' }),
    'the call x ran and is not in the log',
  ],
  [
    'a call that two rounds have',
    (e) => again(e, 'round-proposed', { round: 2 }),
    'the call a is judged 2 times',
  ],
  [
    'a call that a guard rejected and that ran',
    (e) => e.guests.runs.push({ ...run(e), mark: 'b' }),
    'though guard ledger rejected it',
  ],
  [
    'a start by an executor',
    (e) =>
      e.starts.push({
        call: JSON.stringify([conversation, 0, 1, 0]),
        tool: 'note',
        start: 's',
        at: 1,
        process: 'executor-1#1',
      }),
    "is a guest's call, and executor-1#1 started it",
  ],
  [
    'a result that is not its own',
    (e) => Object.assign(results0(e), { text: 'did b' }),
    'the call a ran, and its result is ok: did b',
  ],
  [
    'a result without a run',
    (e) => e.guests.runs.pop(),
    'the call a did not run, and its result is ok',
  ],
  [
    'a round without an outcome in a turn without an end',
    (e) => {
      remove(e, 'round-outcome')
      remove(e, 'turn-finished')
    },
    'is an orphan: it has no outcome',
  ],
  ['a turn without an end', (e) => remove(e, 'turn-finished'), 'of a guest has 0 ends'],
  ['a round with two outcomes', (e) => again(e, 'round-outcome', {}), 'has 2 outcomes'],
  [
    'a key with two rounds',
    (e) => again(e, 'round-proposed', { round: 2 }),
    'has the key of round 1',
  ],
  [
    'advice that becomes weaker',
    (e) => Object.assign(asked(e, 4), { action: 'none' }),
    'has the advice none after nudge',
  ],
  [
    'a loop that goes on',
    (e) => Object.assign(asked(e, 5), { action: 'text_only' }),
    'goes on after 5 equal failures',
  ],
]

function results0(evidence: Evidence): object {
  return (fields(evidence, 'round-outcome').results as object[])[0] as object
}

describe('the checkers of guests', () => {
  it('find nothing in a sound run', () => {
    expect(check(soundGuests())).toEqual([])
  })

  it.each(violations)('find %s', (_, plant, expected) => {
    const evidence = soundGuests()
    plant(evidence)
    expect(check(evidence).map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining(expected),
    )
  })

  it('expect no order of advice that did not come in time', () => {
    const evidence = soundGuests()
    Object.assign(asked(evidence, 4), { action: 'none', judged: false })
    expect(check(evidence)).toEqual([])
  })
})
