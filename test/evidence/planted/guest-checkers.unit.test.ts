// Each rule about guests with a violation planted in a sound run. The run has a turn with a call that
// ran and a call that was refused, and a turn that Weir ended.

import { describe, expect, it } from '@jest/globals'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { check } from '../check.ts'
import { guestAllJudged } from '../checkers/guests/guest-all-judged.ts'
import type { GuestAsked, GuestRun, Violation } from '../evidence.ts'
import { fieldsAt, itReports, type Planted, plantedRules, removeAt, repeatAt } from './planted.ts'
import { type ChaosEvidence, evidenceOf, type Line, logged, type Sketch } from './sound-run.ts'

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
const judged = {
  type: 'guard-verdict' as const,
  ...round,
  guard: 'ledger',
  verdicts: [
    { ordinal: 0, verdict: 'allow' },
    { ordinal: 1, verdict: 'deny' },
  ],
}
const results = [
  { ordinal: 0, status: 'ok', text: 'did a', reason: '' },
  { ordinal: 1, status: 'denied', text: 'no', reason: '', guard: '' },
]

const reported = { key: 'key.1', callId: 'call_0', text: 'did a' }

const lines: Line[] = [
  ['activity', 100, { type: 'turn-started', conversation, turn: 0 }, 'guest/0/0/0'],
  ['rounds-proposed', 101, { type: 'round-proposed', ...round, response }, 'guest/0/0/1'],
  [
    'rounds-cleared',
    103,
    { type: 'round-cleared', ...round, calls, policy: { guards: [ledger] } },
    'loop-detector/0/0/0',
  ],
  ['guard-verdicts.ledger', 104, judged],
  ['rounds-cleared', 105, judged],
  ['activity', 105, verdict('wait', 'wait'), 'executor/0/0/0'],
  ['activity', 106, verdict('allow', 'deny'), 'executor/0/1/0'],
  [
    'activity',
    106,
    { type: 'guest-claimed', ...round, ordinals: [0], owner: 'p', claim: 'c' },
    'guest/0/2/0',
  ],
  ['guest-events', 110, { type: 'round-outcome', ...round, response, results }, 'loop-detector/1'],
  ['guest-events', 108, { type: 'guest-results', conversation, results: [reported] }],
  ['activity', 120, { type: 'turn-finished', conversation, turn: 0 }, 'guest/0/3/0'],
]

const actions: GuestAsked['action'][] = ['none', 'none', 'none', 'nudge', 'text_only', 'end']

function soundGuests(): ChaosEvidence {
  return {
    ...evidenceOf(lines, []),
    sent: [],
    committed: [],
    guestRuns: [{ conversation, at: 107, text: 'did a', call: { mark: 'a' } }],
    guestAdvice: actions.map((action, at) => ({
      conversation: 'g0-1',
      turn: 1,
      round: at + 1,
      action,
      judged: true,
      isStubborn: true,
    })),
    riskGuards: [],
  }
}

type Run = ChaosEvidence
const fields = (e: Run, type: MessageType) => fieldsAt(e, { type })
const remove = (e: Run, type: MessageType, nth = 0) => removeAt(e, { type, nth })
const again = (e: Run, type: MessageType, message: object) =>
  repeatAt(e, { type }, { message, record: { id: 'guest/0/3/9' } })
const run = ({ guestRuns }: Run) => guestRuns[0] as GuestRun
const asked = ({ guestAdvice }: Run, at: number) => guestAdvice[at] as GuestAsked

const violations: Planted[] = [
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
  ['a call that ran twice', (e) => e.guestRuns.push(run(e)), 'the call a ran 2 times'],
  [
    'a call that the log does not know',
    (e) => Object.assign(run(e), { call: { mark: 'x' } }),
    'the call x ran and is not in the log',
  ],
  [
    'a call that two rounds have',
    (e) => again(e, 'round-proposed', { round: 2 }),
    'the call a is judged 2 times',
  ],
  [
    'a call that a guard rejected and that ran',
    (e) => e.guestRuns.push({ ...run(e), call: { mark: 'b' } }),
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
    (e) => e.guestRuns.pop(),
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
    'a call that is offered after its end',
    (e) => {
      const over = verdict('allow', 'deny').calls.map((call) => ({ ...call, isOver: true }))
      again(e, 'guest-verdicts', { calls: over })
      repeatAt(e, { type: 'guest-verdicts', nth: 1 }, { record: { id: 'guest/0/3/8' } })
    },
    'is offered after over',
  ],
  [
    'a call that two fronts have claimed',
    (e) => again(e, 'guest-claimed', { owner: 'q' }),
    'is claimed by two fronts',
  ],
  [
    'a result that no front wrote',
    (e) => remove(e, 'guest-results'),
    'has a result that no front wrote: did a',
  ],
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

function results0(evidence: Run): object {
  return (fields(evidence, 'round-outcome').results as object[])[0] as object
}

/** By the rules about guests: the run is too short for the others. */
async function violationsIn(evidence: Run): Promise<Violation[]> {
  return (await check(evidence)).filter(({ checker }) => checker.startsWith('guest-'))
}

describe('the checkers of guests', () => {
  it('find nothing in a sound run', async () => {
    expect(await violationsIn(soundGuests())).toEqual([])
  })

  itReports(soundGuests, violations, plantedRules.guests)

  it('expect no order of advice that did not come in time', async () => {
    const evidence = soundGuests()
    Object.assign(asked(evidence, 4), { action: 'none', judged: false })
    expect(await violationsIn(evidence)).toEqual([])
  })
})

describe('the checker of judged histories', () => {
  const keyOf = (words: string, ids: string) => `${words.repeat(32)}${ids.repeat(16)}.1`
  const place = { conversation: 'g', turn: 0 }
  const problemsOf = async (key: string, isForked: boolean) => {
    const records: Sketch[] = [
      { type: 'turn-started', ...place, messageId: 'u1' },
      { type: 'round-proposed', ...place, round: 1, response: { attempt: keyOf('a', '1') } },
      { type: 'round-outcome', ...place, round: 1 },
    ]
    const asked = { conversation: 'g', turnKey: 'u1', keys: [key], isForked, judged: true, time: 0 }
    const run = {
      ...soundGuests(),
      records: records.map((message, offset) =>
        logged({ topic: 'activity', offset, message, id: undefined, time: 0 }),
      ),
      guestHistories: {
        asked: [{ ...asked, mode: 'observing' as const, action: 'none' as const }],
        isCalm: false,
      },
    }
    return (await guestAllJudged.check(run)).map(({ problem }) => problem)
  }

  it('reports a round that was never judged', async () => {
    expect(await problemsOf(keyOf('a', '1'), false)).toEqual([])
    expect(await problemsOf(keyOf('b', '1'), false)).toHaveLength(1)
  })

  it('takes a round of a forked guest for the judged one with its call ids, and for no other', async () => {
    expect(await problemsOf(keyOf('b', '1'), true)).toEqual([])
    expect(await problemsOf(keyOf('b', '2'), true)).toHaveLength(1)
  })
})
