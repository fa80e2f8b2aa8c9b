// Each rule about guards with a violation planted in a sound run with guards, as check.unit.test.ts
// does for the other rules.

import { describe, expect, it } from '@jest/globals'
import { check } from './check.ts'
import type { Evidence, Logged } from './evidence.ts'
import { guardedRun, runWithLateGuard } from './sound-guarded-run.ts'
import { logged, type Sketch } from './sound-run.ts'

const found = ({ records }: Evidence, topic: string, type: string): Logged => {
  const record = records.find((one) => one.topic === topic && one.message?.type === type)
  if (record === undefined) throw new Error(`there is no ${type} in ${topic}`)
  return record
}
const fields = (evidence: Evidence, topic: string, type: string) =>
  found(evidence, topic, type).message as unknown as Record<string, unknown>
const remove = (evidence: Evidence, topic: string, type: string): void => {
  const gone = found(evidence, topic, type)
  evidence.records = evidence.records.filter((record) => record !== gone)
}
const again = (
  evidence: Evidence,
  topic: string,
  type: string,
  changed: object,
  id?: string,
): void => {
  const { message, time } = found(evidence, topic, type)
  evidence.records.push(
    logged({
      topic,
      offset: 90,
      time,
      message: { ...(structuredClone(message) as unknown as Sketch), ...changed },
      id,
    }),
  )
}
const verdictsOf = (evidence: Evidence, topic: string) =>
  fields(evidence, topic, 'guard-verdict').verdicts as Record<string, unknown>[]
const resultsOf = (evidence: Evidence) =>
  fields(evidence, 'conversation-events', 'round-outcome').results as Record<string, unknown>[]
const ledger = 'guard-verdicts.ledger'
const lookout = 'guard-verdicts.lookout'

const violations: [name: string, plant: (evidence: Evidence) => void, expected: string][] = [
  [
    'a call that a guard rejected and that started',
    (e) => e.starts.push({ ...e.starts[0]!, call: '["c",0,1,2]' }),
    'started at 125, though guard ledger rejected it',
  ],
  [
    'a start before the guard had answered',
    (e) => Object.assign(e.starts[0]!, { at: 119 }),
    'before guard ledger let it pass',
  ],
  [
    'a start that no guard allowed',
    (e) => remove(e, ledger, 'guard-verdict'),
    'without a verdict of guard ledger, which enforced',
  ],
  [
    'a start of a call that the guard left out',
    (e) => verdictsOf(e, ledger).shift(),
    'though guard ledger left it out',
  ],

  [
    'a claim while the call waited',
    (e) => remove(e, 'rounds-cleared', 'guard-verdict'),
    'its claims lead to undefined',
  ],
  [
    'a veto that no guard gave',
    (e) => Object.assign(verdictsOf(e, 'rounds-cleared')[1]!, { verdict: 'allow' }),
    'and no guard denied it',
  ],
  [
    'a veto that names another guard',
    (e) => Object.assign(resultsOf(e)[2]!, { guard: 'lookout' }),
    'does not name it',
  ],
  [
    'a veto without the guard’s text',
    (e) => Object.assign(resultsOf(e)[2]!, { text: 'the guard "ledger" says: no' }),
    'and the model reads: the guard "ledger" says: no',
  ],
  [
    'a verdict that is never reported',
    (e) => remove(e, 'activity', 'guard-verdict-given'),
    'is not reported',
  ],
  [
    'a verdict that is reported twice',
    (e) => again(e, 'activity', 'guard-verdict-given', {}, 'executor/0/2/0'),
    'is reported a second time',
  ],
  [
    'a verdict that is reported as another',
    (e) => Object.assign(fields(e, 'activity', 'guard-verdict-given'), { answer: 'silent' }),
    'is reported as',
  ],

  [
    'a guard that never answered',
    (e) => remove(e, lookout, 'guard-verdict'),
    'lookout never answered ["c",0,1]',
  ],
  [
    'an answer that no round requires',
    (e) => again(e, ledger, 'guard-verdict', { round: 2 }),
    'ledger on ["c",0,2]: no round requires it',
  ],
  [
    'an answer before its round',
    (e) => Object.assign(found(e, ledger, 'guard-verdict'), { time: 113 }),
    'it is older than the round',
  ],
  [
    'a verdict that is not the guard’s',
    (e) => Object.assign(verdictsOf(e, lookout)[0]!, { verdict: 'deny' }),
    'and must be',
  ],
  [
    'a guard that lost its memory',
    (e) =>
      Object.assign(verdictsOf(e, ledger)[1]!, {
        text: 'ledger v1 has seen 0 calls before; it does not want this one.',
      }),
    'ledger v1 has seen 1 calls before',
  ],
  [
    'a repeated answer with another content',
    (e) => again(e, ledger, 'guard-verdict', { enforces: [] }),
    'before, and is now',
  ],

  [
    'a stamp that was never registered',
    (e) => Object.assign(fields(e, 'policies', 'guard-registration'), { version: 'v2' }),
    'was never registered',
  ],
  [
    'a stamp of a state that ended long before',
    (e) => removedLongAgo(e),
    'guard ledger in this round ended 10105 ms before',
  ],
]

function removedLongAgo(evidence: Evidence): void {
  Object.assign(found(evidence, 'policies', 'guard-registration'), { time: -20_000 })
  const { key } = found(evidence, 'policies', 'guard-registration')
  const tombstone = logged({
    topic: 'policies',
    offset: 90,
    time: -10_000,
    message: { type: 'guard-registration' },
  })
  evidence.records.push({ ...tombstone, key, message: undefined })
}

describe('the chaos checkers for a run with guards', () => {
  it('report nothing for a sound run', () => {
    expect(check(guardedRun())).toEqual([])
  })

  it.each(violations)('report %s', (_, plant, expected) => {
    const evidence = guardedRun()
    plant(evidence)
    expect(check(evidence).map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining(expected),
    )
  })

  it('allow a guard to repeat itself', () => {
    const evidence = guardedRun()
    again(evidence, ledger, 'guard-verdict', { judgedMs: 7 }, 'guard.ledger/0/0/0')
    expect(check(evidence)).toEqual([])
  })

  it('allow a call to run without an answer of its guard only if on-timeout allows it, and only after the deadline', () => {
    const late = () => runWithLateGuard().records.find(({ topic }) => topic === lookout)
    expect(late()?.message).toMatchObject({ verdicts: [{ verdict: 'deny' }] })
    const problemsOf = (evidence: Evidence) =>
      check(evidence).filter(({ checker }) => checker !== 'guard-answers')
    expect(problemsOf(runWithLateGuard())).toEqual([])
    const early = runWithLateGuard()
    Object.assign(early.starts[1]!, { at: 1_113 })
    expect(problemsOf(early).map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining('though guard lookout rejected it'),
    )
  })

  it('allow a stamp of an ended state if the gateway could not know of the change', () => {
    const evidence = guardedRun()
    removedLongAgo(evidence)
    evidence.disturbances.push({ kind: 'broker', process: 'broker', from: -5_000, to: 0 })
    expect(check(evidence)).toEqual([])
  })
})
