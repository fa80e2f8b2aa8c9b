// Each rule about guards with a violation planted in a sound run with guards, as check.unit.test.ts
// does for the other rules.

import { describe, expect, it } from '@jest/globals'
import type { MessageType } from '../../../shared/contract/messages.ts'
import { check } from '../check.ts'
import {
  fieldsAt,
  itReports,
  type Planted,
  plantedRules,
  recordAt,
  removeAt,
  repeatAt,
} from './planted.ts'
import { guardedRun, runWithLateGuard } from './sound-guarded-run.ts'
import { type ChaosEvidence, logged } from './sound-run.ts'

type Run = ChaosEvidence
const found = (e: Run, topic: string, type: MessageType) => recordAt(e, { topic, type })
const fields = (e: Run, topic: string, type: MessageType) => fieldsAt(e, { topic, type })
const remove = (e: Run, topic: string, type: MessageType) => removeAt(e, { topic, type })
const again = (e: Run, topic: string, type: MessageType, message: object, id?: string) =>
  repeatAt(e, { topic, type }, { message, record: { id } })
const verdictsOf = (evidence: ChaosEvidence, topic: string) =>
  fields(evidence, topic, 'guard-verdict').verdicts as Record<string, unknown>[]
const resultsOf = (evidence: ChaosEvidence) =>
  fields(evidence, 'conversation-events', 'round-outcome').results as Record<string, unknown>[]
const ledger = 'guard-verdicts.ledger'
const lookout = 'guard-verdicts.lookout'

const violations: Planted[] = [
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

  [
    'a changed guard that seems new',
    (e) => changeLedger(e, { firstAt: null }),
    'firstAt of the registration of ledger at 116 differs from the log',
  ],
  [
    'a changed guard that does not keep its registration before',
    (e) => changeLedger(e, { replaced: [] }),
    'replaced of the registration of ledger at 116 differs from the log',
  ],
  [
    'a changed guard that keeps a registration which never was',
    (e) => changeLedger(e, { replaced: [{ since: 50, guard: { ...ofLedger(e), version: 'v0' } }] }),
    'replaced of the registration of ledger at 116 differs from the log',
  ],
  [
    'a start in a round without its guard',
    (e) => {
      Object.assign(found(e, 'policies', 'guard-registration'), { time: -700_000 })
      Object.assign(fields(e, 'rounds-cleared', 'round-cleared'), {
        policy: { guards: [], shadowed: [] },
      })
    },
    'its round does not name guard ledger as it was',
  ],
]

const ofLedger = (e: Run) => fields(e, 'policies', 'guard-registration')

/** The guard has another version while a round waits for it. */
function changeLedger(evidence: Run, wrong: object = {}): void {
  const { type: _, ...guard } = ofLedger(evidence)
  repeatAt(
    evidence,
    { topic: 'policies', type: 'guard-registration' },
    {
      record: { time: 116 },
      message: { version: 'v2', firstAt: 50, replaced: [{ since: 50, guard }], ...wrong },
    },
  )
}

function removedLongAgo(evidence: ChaosEvidence): void {
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
  it('report nothing for a sound run', async () => {
    expect(await check(guardedRun())).toEqual([])
  })

  itReports(guardedRun, violations, plantedRules.guards)

  it('report nothing for two instances of a guard that register the same change at once', async () => {
    const evidence = guardedRun()
    const change = { topic: 'policies', type: 'guard-registration' } as const
    repeatAt(evidence, change, { record: { time: 51 } })
    const { type: _, ...guard } = ofLedger(evidence)
    const replaced = [{ since: 51, guard }]
    for (const time of [116, 117])
      repeatAt(evidence, change, {
        record: { time },
        message: { version: 'v2', firstAt: 51, replaced },
      })
    expect(await check(evidence)).toEqual([])
  })

  it('report nothing for a guard that is changed while a round waits for it', async () => {
    const evidence = guardedRun()
    changeLedger(evidence)
    expect(await check(evidence)).toEqual([])
  })

  it('allow a guard to repeat itself', async () => {
    const evidence = guardedRun()
    again(evidence, ledger, 'guard-verdict', { judgedMs: 7 }, 'guard.ledger/0/0/0')
    expect(await check(evidence)).toEqual([])
  })

  it('allow a call to run without an answer of its guard only if on-timeout allows it, and only after the deadline', async () => {
    const late = () => runWithLateGuard().records.find(({ topic }) => topic === lookout)
    expect(late()?.message).toMatchObject({ verdicts: [{ verdict: 'deny' }] })
    const problemsOf = async (evidence: ChaosEvidence) =>
      (await check(evidence)).filter(({ checker }) => checker !== 'guard-answers')
    expect(await problemsOf(runWithLateGuard())).toEqual([])
    const early = runWithLateGuard()
    Object.assign(early.starts[1]!, { at: 1_113 })
    expect((await problemsOf(early)).map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining('though guard lookout rejected it'),
    )
  })

  it('allow a stamp of an ended state if the gateway could not know of the change', async () => {
    const evidence = guardedRun()
    removedLongAgo(evidence)
    evidence.disturbances.push({ kind: 'broker', process: 'broker', from: -5_000, to: 0 })
    expect(await check(evidence)).toEqual([])
  })
})
