import { describe, expect, it } from '@jest/globals'
import { executor } from '../../../services/executor/reducer.ts'
import type {
  CallVerdict,
  GuardInForce,
  GuardVerdict,
  Message,
  RoundCleared,
  RoundExecuted,
} from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { guardVerdictWith, resultWith, verdictWith } from '../../support/messages.ts'
import {
  callOf,
  cancel,
  claim,
  expiresAt,
  ok,
  outcome,
  place,
  policy,
  roundCleared,
  tick,
} from './samples.ts'

const clearedAt = 1_000
const deadlineMs = 5_000

function guard(fields: Partial<GuardInForce> = {}): GuardInForce {
  return {
    name: 'shell',
    version: '1',
    tools: [{ pattern: 'mail', mode: 'enforce' }],
    deadlineMs,
    onTimeout: 'deny',
    rules: null,
    ...fields,
  }
}

function guarded(guards: GuardInForce[], fields: Partial<RoundCleared> = {}) {
  return at(clearedAt, roundCleared({ policy: { ...policy, guards }, ...fields }))
}

const pass = (ordinal = 0): CallVerdict => verdictWith({ ordinal })
const reject = (ordinal = 0, fields: Partial<CallVerdict> = {}): CallVerdict => ({
  ordinal,
  verdict: 'deny',
  code: 'outside-folder',
  text: 'Only files in /work may be written.',
  evidence: null,
  ...fields,
})

function verdict(verdicts: CallVerdict[], fields: Partial<GuardVerdict> = {}): GuardVerdict {
  return guardVerdictWith({ ...place, verdicts, clearedAt, enforces: [0], deadlineMs, ...fields })
}

type Answering = { to(port: 'verdict' | 'activity'): Message[] }
const resultsOf = (folded: Answering) => (folded.to('verdict') as RoundExecuted[])[0]?.results
const kindsOf = (folded: { wants: { kind: string }[] }) => folded.wants.map(({ kind }) => kind)
const linesOf = (folded: Answering, type: string) =>
  folded.to('activity').filter((message) => message.type === type)

describe('a call of a tool that an enforcing guard judges', () => {
  const waiting = given(executor, guarded([guard()]))

  it('waits: it cannot be claimed, the performer follows the guard, and clients are informed', () => {
    expect(waiting.wants).toEqual([
      {
        kind: 'await-verdict',
        ...place,
        round: 1,
        guard: 'shell',
        since: clearedAt,
        agent: 'agent',
        calledBy: [],
        parent: null,
        calls: [{ ordinal: 0, tool: 'mail' }],
      },
    ])
    expect(waiting.due).toBe(clearedAt + deadlineMs)
    expect(waiting.records).toEqual([
      {
        to: 'activity',
        message: {
          type: 'calls-waiting',
          ...place,
          round: 1,
          calls: [{ ordinal: 0, name: 'mail', guards: ['shell'] }],
          until: clearedAt + deadlineMs,
        },
      },
    ])
    expect(kindsOf(waiting.when(claim('a')))).toEqual(['await-verdict'])
  })

  it('may be claimed once the guard has let it pass', () => {
    const passed = waiting.when(at(clearedAt + 40, verdict([pass()])))
    expect(kindsOf(passed)).toEqual(['claim'])
    expect(passed.due).toBe(expiresAt)
    expect(linesOf(passed, 'guard-verdict-given')).toMatchObject([
      { guard: 'shell', answer: 'verdicts', verdicts: [pass()], waitedMs: 40 },
    ])
    expect(resultsOf(passed.when(claim('a')).when(outcome('a', ok())))).toMatchObject([
      { status: 'ok' },
    ])
  })

  it('is vetoed by a denial, in the words of the guard, and never runs', () => {
    const rejected = waiting.when(verdict([reject()]))
    expect(resultsOf(rejected)).toEqual([
      resultWith({
        status: 'denied',
        durationMs: 0,
        guard: 'shell',
        reason: 'vetoed by guard shell: outside-folder',
        text: 'Tool call vetoed before execution: the guard "shell" says: Only files in /work may be written.',
      }),
    ])
    expect(rejected.wants).toEqual([])
    expect(linesOf(rejected, 'call-finished')).toMatchObject([{ status: 'denied' }])
  })

  it('is decided by the first answer; later ones of any version change nothing', () => {
    const passed = waiting.when(verdict([pass()], { version: '2' }))
    expect(linesOf(passed, 'guard-verdict-given')).toMatchObject([{ version: '2' }])
    expect(passed.when(verdict([reject()])).state).toEqual(passed.state)
    const rejected = waiting.when(verdict([reject()]))
    expect(rejected.when(verdict([pass()])).records).toEqual([])
    expect(rejected.when(verdict([pass()])).wants).toEqual([])
  })

  it('ignores guards that it does not wait for, and verdicts on other rounds or turns', () => {
    for (const other of [
      verdict([reject()], { guard: 'spend' }),
      verdict([reject()], { round: 2 }),
    ])
      expect(waiting.when(other).state).toEqual(waiting.state)
    const ofOther = given(executor, verdict([reject()], { turn: 8 }))
    expect([ofOther.state, ofOther.records]).toEqual([undefined, []])
  })

  it('is vetoed when the answer has no verdict on it, and when it has both verdicts', () => {
    const unusable = waiting.when(verdict([]))
    expect(resultsOf(unusable)).toMatchObject([
      { status: 'denied', reason: 'vetoed by guard shell: guard.unusable' },
    ])
    expect(linesOf(unusable, 'guard-verdict-given')).toMatchObject([
      { answer: 'unusable', verdicts: [{ evidence: 'it said nothing of call 0' }] },
    ])
    for (const both of [
      [pass(), reject()],
      [reject(), pass()],
    ])
      expect(resultsOf(waiting.when(verdict(both)))).toMatchObject([{ status: 'denied' }])
  })

  it('is vetoed in the name of the guard also if the guard reports its own failure', () => {
    const failed = reject(0, { code: 'guard.unusable', text: 'this guard failed.' })
    expect(resultsOf(waiting.when(verdict([failed])))).toMatchObject([
      { text: 'Tool call vetoed before execution: the guard "shell" says: this guard failed.' },
    ])
  })

  it('is vetoed within bounds for any text of the guard', () => {
    const long = reject(0, {
      code: 'é\n'.repeat(1_000),
      text: 'é'.repeat(100_000),
      evidence: 'e'.repeat(100_000),
    })
    const rejected = waiting.when(verdict([long], { version: 'v'.repeat(1_000) }))
    const [result] = resultsOf(rejected)!
    expect(Buffer.byteLength(result!.text)).toBeLessThan(5_000)
    expect(result!.reason).not.toContain('\n')
    expect(JSON.stringify(linesOf(rejected, 'guard-verdict-given')).length).toBeLessThan(15_000)
    expect(resultsOf(waiting.when(verdict([reject(0, { code: '', text: '' })])))).toMatchObject(
      [{ text: /it gives no reason/, reason: 'vetoed by guard shell: denied' }].map(
        ({ text, reason }) => ({
          text: expect.stringMatching(text),
          reason,
        }),
      ),
    )
  })
})

describe('the deadline of a guard', () => {
  const silent = (fields: Partial<GuardInForce> = {}) => given(executor, guarded([guard(fields)]))
  const due = clearedAt + deadlineMs

  it('vetoes the call with a reason', () => {
    const vetoed = silent().when(at(due, tick))
    expect(resultsOf(vetoed)).toMatchObject([
      {
        status: 'denied',
        reason: 'vetoed by guard shell: guard.silent',
        text: 'Tool call vetoed before execution: the guard "shell" did not answer in time, and without its verdict this call may not run.',
      },
    ])
    expect(linesOf(vetoed, 'guard-verdict-given')).toMatchObject([
      { answer: 'silent', version: '1', waitedMs: deadlineMs },
    ])
    expect(vetoed.when(verdict([pass()])).records).toEqual([])
  })

  it('lets the call run if on-timeout allows it, and the activity shows it', () => {
    const allowed = silent({ onTimeout: 'allow' }).when(at(due, tick))
    expect(kindsOf(allowed)).toEqual(['claim'])
    expect(linesOf(allowed, 'guard-verdict-given')).toMatchObject([
      { answer: 'silent', verdicts: [{ ordinal: 0, verdict: 'allow', code: 'guard.silent' }] },
    ])
  })

  it('holds without a tick too: a verdict at the deadline does not count', () => {
    expect(resultsOf(silent().when(at(due, verdict([pass()]))))).toMatchObject([
      { status: 'denied' },
    ])
    expect(kindsOf(silent({ onTimeout: 'allow' }).when(at(due, verdict([reject()]))))).toEqual([
      'claim',
    ])
    expect(kindsOf(silent().when(at(due - 1, verdict([pass()]))))).toEqual(['claim'])
  })

  it('is separate for each guard', () => {
    const slow = guard({ name: 'approval', deadlineMs: 60_000, onTimeout: 'allow' })
    const both = given(executor, guarded([guard({ onTimeout: 'allow' }), slow]))
    const first = both.when(at(due, tick))
    expect([kindsOf(first), first.due]).toEqual([['await-verdict'], clearedAt + 60_000])
    expect(kindsOf(first.when(at(clearedAt + 60_000, tick)))).toEqual(['claim'])
  })

  it('decides by the guard with the earliest deadline, also if the tick comes after all of them', () => {
    const slow = guard({ name: 'approval', deadlineMs: 60_000, onTimeout: 'allow' })
    const late = given(executor, guarded([slow, guard()])).when(at(clearedAt + 70_000, tick))
    expect(linesOf(late, 'guard-verdict-given')).toMatchObject([
      { guard: 'shell', answer: 'silent', verdicts: [{ verdict: 'deny' }] },
    ])
    expect(resultsOf(late)).toMatchObject([
      { status: 'denied', reason: 'vetoed by guard shell: guard.silent' },
    ])
  })

  it('yields to the end of the turn: then no call starts, with any on-timeout', () => {
    for (const onTimeout of ['deny', 'allow'] as const) {
      const late = silent({ onTimeout, deadlineMs: 10 * expiresAt })
      expect(late.due).toBe(expiresAt)
      for (const record of [tick, verdict([pass()]), verdict([reject()])])
        expect(resultsOf(late.when(at(expiresAt, record)))).toMatchObject([
          { status: 'skipped', reason: 'the turn was over before it started' },
        ])
    }
  })
})

describe('a round with several guards', () => {
  const spend = guard({ name: 'spend' })
  const both = given(executor, guarded([guard(), spend]))

  it('waits for all of them at the same time and needs every verdict', () => {
    expect(both.wants).toMatchObject([{ guard: 'shell' }, { guard: 'spend' }])
    const first = both.when(verdict([pass()], { guard: 'spend' }))
    expect(first.wants).toMatchObject([{ kind: 'await-verdict', guard: 'shell' }])
    expect(kindsOf(first.when(verdict([pass()])))).toEqual(['claim'])
  })

  it('is stopped by any of them, without waiting for the others', () => {
    const vetoed = both.when(verdict([reject()], { guard: 'spend' }))
    expect(resultsOf(vetoed)).toMatchObject([
      { status: 'denied', reason: 'vetoed by guard spend: outside-folder' },
    ])
    expect(vetoed.wants).toEqual([])
  })

  it('lets each call wait only for the guards of its tool, and leaves as one record', () => {
    const calls = [callOf(0), callOf(1, { name: 'look' }), callOf(2)]
    const lookout = guard({ name: 'lookout', tools: [{ pattern: 'lo*', mode: 'enforce' }] })
    const folded = given(executor, guarded([guard(), lookout], { calls }))
    expect(linesOf(folded, 'calls-waiting')).toMatchObject([
      {
        calls: [
          { ordinal: 0, guards: ['shell'] },
          { ordinal: 1, guards: ['lookout'] },
          { ordinal: 2, guards: ['shell'] },
        ],
      },
    ])
    const passed = folded.when(verdict([pass(1)], { guard: 'lookout' }))
    expect(passed.wants).toMatchObject([
      { kind: 'await-verdict', guard: 'shell' },
      { kind: 'claim', ordinal: 1 },
    ])
    const mixed = passed.when(verdict([reject(0), pass(2)]))
    expect(resultsOf(mixed)).toBeUndefined()
    expect(mixed.wants).toMatchObject([
      { kind: 'claim', ordinal: 1 },
      { kind: 'claim', ordinal: 2 },
    ])
  })

  it('ignores verdicts of a guard on a tool that it does not judge', () => {
    const calls = [callOf(0), callOf(1, { name: 'look' })]
    const folded = given(executor, guarded([guard()], { calls })).when(
      verdict([pass(0), reject(1), reject(7)]),
    )
    expect(folded.wants).toMatchObject([
      { kind: 'claim', ordinal: 0 },
      { kind: 'claim', ordinal: 1 },
    ])
    expect(linesOf(folded, 'guard-verdict-given')).toMatchObject([{ verdicts: [pass(0)] }])
  })
})

describe('the mode of a guard', () => {
  it('is that of the tool: shadow waits for no guard, and enforce counts if both match', () => {
    const tools = [
      { pattern: '*', mode: 'shadow' as const },
      { pattern: 'mail', mode: 'enforce' as const },
    ]
    const calls = [callOf(0), callOf(1, { name: 'look' })]
    const folded = given(executor, guarded([guard({ tools })], { calls }))
    expect(folded.wants).toMatchObject([{ kind: 'await-verdict' }, { kind: 'claim', ordinal: 1 }])
    expect(folded.when(verdict([pass(0), reject(1)])).wants).toMatchObject([
      { kind: 'claim', ordinal: 0 },
      { kind: 'claim', ordinal: 1 },
    ])
  })

  it('costs a round nothing if it is shadow, or if no guard judges the tool', () => {
    const plain = given(executor, at(clearedAt, roundCleared()))
    const shadow = guard({ tools: [{ pattern: '*', mode: 'shadow' }] })
    const other = guard({ tools: [{ pattern: 'exec', mode: 'enforce' }] })
    for (const guards of [[shadow], [other], [shadow, { ...other, name: 'other' }]]) {
      const folded = given(executor, guarded(guards))
      expect([folded.records, folded.wants, folded.due]).toEqual([
        plain.records,
        plain.wants,
        plain.due,
      ])
    }
  })

  it('is the one in the round: a guard removed or switched meanwhile still counts', () => {
    const first = given(executor, guarded([guard()]))
    const second = first
      .when(verdict([pass()]))
      .when(claim('a'))
      .when(outcome('a', ok()))
      .when(at(clearedAt + 10, roundCleared({ round: 2 })))
    expect(kindsOf(second)).toEqual(['claim'])
    expect(kindsOf(first)).toEqual(['await-verdict'])
  })
})

describe('a waiting round', () => {
  it('is skipped by a cancel, and no verdict brings it back', () => {
    const cancelled = given(
      executor,
      guarded([guard()], { calls: [callOf(0), callOf(1, { name: 'look' })] }),
      claim('a', { ordinal: 1 }),
      cancel,
    )
    expect(linesOf(cancelled, 'call-finished')).toMatchObject([
      { ordinal: 0, status: 'skipped', reason: 'cancelled before it started' },
    ])
    expect(kindsOf(cancelled)).toEqual(['run'])
    expect(cancelled.when(verdict([pass()])).records).toEqual([])
    expect(
      resultsOf(cancelled.when(outcome('a', ok('done', { ordinal: 1 }), { ordinal: 1 }))),
    ).toMatchObject([{ status: 'skipped' }, { status: 'ok' }])
  })

  it('does not wait for verdicts on calls that are decided or cannot run', () => {
    const decided = [
      resultWith({ status: 'denied' as const, text: 'no', reason: 'no', durationMs: 0 }),
    ]
    const calls = [callOf(0), callOf(1, { name: 'unknown' })]
    const all = guard({ tools: [{ pattern: '*', mode: 'enforce' }] })
    expect(resultsOf(given(executor, guarded([all], { calls, decided })))).toMatchObject([
      { status: 'denied' },
      { status: 'denied' },
    ])
  })

  it('is the same after its log is folded again', () => {
    const records = [
      guarded([guard(), guard({ name: 'spend' })]),
      at(clearedAt + 5, verdict([pass()])),
    ]
    expect(given(executor, ...records).state).toEqual(given(executor, ...records).state)
    expect(given(executor, ...records).wants).toMatchObject([
      { kind: 'await-verdict', guard: 'spend', since: clearedAt },
    ])
  })

  it('may run until its turn ends as extended, but not come after it would have ended', () => {
    const extendedTo = 5 * expiresAt
    const slow = guard({ deadlineMs: 2 * expiresAt })
    const folded = given(executor, guarded([slow], { extendedTo }))
    expect(folded.due).toBe(clearedAt + 2 * expiresAt)
    const passed = folded.when(at(expiresAt + 10, verdict([pass()])))
    expect([kindsOf(passed), passed.due]).toEqual([['claim'], extendedTo])
    expect(kindsOf(passed.when(at(extendedTo - 1, claim('a'))))).toEqual(['run'])
    const late = given(executor, at(expiresAt, guarded([slow], { extendedTo }).message))
    expect(resultsOf(late)).toMatchObject([{ status: 'skipped' }])
  })

  it("passes a guard's intervention on to the loop-detector", () => {
    const wish = {
      guard: 'somebody',
      reason: 'it asks for secrets',
      text: 'Stop looking for keys.',
    }
    const vetoed = given(executor, guarded([guard()])).when(
      verdict([reject()], { intervention: wish }),
    )
    expect(vetoed.to('verdict')).toMatchObject([{ wishes: [{ ...wish, guard: 'shell' }] }])
  })
})

describe('the evidence after a decision', () => {
  const asking = given(
    executor,
    guarded([guard({ name: 'approval' })], { calls: [callOf(0), callOf(1, { name: 'look' })] }),
  )
  const answered = (code: string) =>
    asking.when(verdict([{ ...pass(), code }], { guard: 'approval', enforces: [0, 1] }))

  it('is written when the round ends, with the end of the call and the rules that hide values', () => {
    const ended = answered('approval.allowed')
      .when(claim('o'))
      .when(outcome('o', ok()))
      .when(claim('o', { ordinal: 1 }))
      .when(outcome('o', ok(), { ordinal: 1 }))
    expect(ended.records.at(-1)).toMatchObject({
      to: 'audit',
      message: { ordinal: 0, name: 'mail', status: 'ok', redact: policy.redact },
    })
    expect(ended.all.filter(({ to }) => to === 'audit')).toHaveLength(1)
  })

  it('is not written for a call that no rule names', () => {
    const ended = answered('approval.no-rule')
      .when(claim('o'))
      .when(outcome('o', ok()))
      .when(claim('o', { ordinal: 1 }))
      .when(outcome('o', ok(), { ordinal: 1 }))
    expect(ended.to('verdict')).toHaveLength(1)
    expect(ended.all.filter(({ to }) => to === 'audit')).toEqual([])
  })
})
