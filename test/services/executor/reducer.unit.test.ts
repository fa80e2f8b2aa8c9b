import { describe, expect, it } from '@jest/globals'
import { callReturnPauseMs, callReturnsMax, executor } from '../../../services/executor/reducer.ts'
import type { Turn } from '../../../services/executor/turn.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { CallResult, GuardInForce, RoundExecuted } from '../../../shared/contract/messages.ts'
import { at, type Folded, given } from '../../support/given.ts'
import { noHints, resultWith } from '../../support/messages.ts'
import {
  callOf,
  cancel,
  claim,
  claimMs,
  expiresAt,
  lapsed,
  mail,
  ok,
  outcome,
  place,
  policy,
  roundCleared,
  tick,
  turnEnded,
  unit,
} from './samples.ts'

type Result = Pick<Folded<Turn, never, unknown>, 'to'>

/** The results that the last record brought to the loop-detector; undefined: none yet. */
function resultsOf(folded: Result): CallResult[] | undefined {
  const [first, ...more] = folded.to('verdict') as RoundExecuted[]
  expect(more).toEqual([])
  return first?.results
}

function statusesOf(folded: Result): string[] | undefined {
  return resultsOf(folded)?.map(({ status }) => status)
}

const idempotentRound = roundCleared({ calls: [callOf(0, { name: 'look' })] })

describe('a round', () => {
  it('is one unit with the other rounds of its turn', () => {
    expect(executor.unit(roundCleared())).toBe(unit)
    expect(executor.unit(roundCleared({ round: 2 }))).toBe(unit)
    expect(executor.unit(tick)).toBe(unit)
    expect(executor.unit(roundCleared({ turn: 8 }))).not.toBe(unit)
  })

  it('has a claim task for each of its calls', () => {
    const folded = given(executor, roundCleared({ calls: [callOf(0), callOf(1)] }))
    const wanted = {
      kind: 'claim',
      ...place,
      round: 1,
      try: 1,
      expiresAt,
      agent: 'agent',
      calledBy: [],
      parent: null,
      tool: 'mail',
    }
    expect(folded.wants).toEqual([
      { ...wanted, ordinal: 0 },
      { ...wanted, ordinal: 1 },
    ])
    expect(folded.records).toEqual([])
    expect(folded.due).toBe(expiresAt)
  })

  it('leaves as one record, results by ordinal, when its last call is done', () => {
    const first = given(
      executor,
      roundCleared({ calls: [callOf(1), callOf(0)] }),
      claim('a', { ordinal: 1 }),
      claim('a', { ordinal: 0 }),
    ).when(outcome('a', ok('second', { ordinal: 1 }), { ordinal: 1 }))
    expect(resultsOf(first)).toBeUndefined()
    expect(resultsOf(first.when(outcome('a', ok('first'))))).toEqual([
      ok('first'),
      ok('second', { ordinal: 1 }),
    ])
  })

  it('includes results that were decided before, without an activity record for them', () => {
    const denial: CallResult = resultWith({
      status: 'denied',
      text: 'no',
      reason: 'no',
      durationMs: 0,
    })
    const folded = given(
      executor,
      roundCleared({ calls: [callOf(0), callOf(1)], decided: [denial] }),
    )
    expect(folded.wants).toMatchObject([{ ordinal: 1 }])
    const done = folded
      .when(claim('a', { ordinal: 1 }))
      .when(outcome('a', ok('done', { ordinal: 1 }), { ordinal: 1 }))
    expect(resultsOf(done)).toEqual([denial, ok('done', { ordinal: 1 })])
    expect(done.all.filter(({ to }) => to === 'activity')).toEqual([
      {
        to: 'activity',
        message: {
          type: 'call-finished',
          ...place,
          round: 1,
          ordinal: 1,
          name: 'mail',
          status: 'ok',
          reason: '',
          durationMs: 12,
          result: 'done',
          resultBytes: 4,
          resultId: '',
          guard: '',
        },
      },
    ])
  })

  it('is answered at once when all its calls were decided before', () => {
    expect(resultsOf(given(executor, roundCleared({ decided: [ok()] })))).toEqual([ok()])
  })

  it('does nothing when it comes again, running or done', () => {
    const running = given(executor, roundCleared(), claim('a'))
    const repeated = running.when(roundCleared())
    expect(repeated.state).toEqual(running.state)
    expect(repeated.records).toEqual([])
    const done = repeated.when(outcome('a', ok())).when(roundCleared())
    expect(done.records).toEqual([])
    expect(done.wants).toEqual([])
  })

  it('is followed by the next round of the turn', () => {
    const folded = given(
      executor,
      roundCleared(),
      claim('a'),
      outcome('a', ok()),
      roundCleared({ round: 2 }),
    )
    expect(folded.wants).toMatchObject([{ kind: 'claim', round: 2 }])
  })

  it('is skipped whole when it comes at or after its expiresAt, and keeps nothing open', () => {
    const folded = given(executor, at(expiresAt, roundCleared({ calls: [callOf(0), callOf(1)] })))
    expect(statusesOf(folded)).toEqual(['skipped', 'skipped'])
    expect(folded.to('activity')).toHaveLength(2)
    expect(folded.state).toBeUndefined()
    expect(statusesOf(given(executor, at(expiresAt - 1, roundCleared())))).toBeUndefined()
  })

  it('never runs a call without a declaration, or one whose arguments did not arrive whole', () => {
    const folded = given(
      executor,
      roundCleared({
        calls: [callOf(0, { name: 'unknown' }), callOf(1, { raw: '{"a', problem: 'truncated' })],
      }),
    )
    expect(resultsOf(folded)).toMatchObject([
      { status: 'denied', reason: 'tool not offered' },
      { status: 'denied', reason: 'arguments did not arrive whole' },
    ])
  })

  it('never runs a call of a `once` tool without the guard once', () => {
    const hints = { ...noHints, once: { by: [], forMs: 1, within: 'conversation' as const } }
    const declarations = [{ ...mail, hints }]
    const guard = (name: string, pattern: string): GuardInForce => ({
      name,
      version: '1',
      tools: [{ pattern, mode: 'shadow' }],
      deadlineMs: 1_000,
      onTimeout: 'deny',
      rules: null,
    })
    const with_ = (...guards: GuardInForce[]) =>
      given(executor, roundCleared({ declarations, policy: { ...policy, guards } }))
    for (const folded of [with_(), with_(guard('other', '*')), with_(guard('once', 'pay'))])
      expect(resultsOf(folded)).toMatchObject([
        { status: 'denied', reason: 'guard once not in force' },
      ])
    expect(with_(guard('once', 'm*')).wants).toMatchObject([{ kind: 'claim' }])
  })

  it('ignores records of turns that are not open', () => {
    for (const record of [claim('a'), outcome('a', ok()), lapsed('a'), turnEnded, tick]) {
      const folded = given(executor, record)
      expect([folded.state, folded.records]).toEqual([undefined, []])
    }
  })
})

describe('a claim', () => {
  it('wins when it is the first of a ready call; the performer gets all it needs to run it', () => {
    const folded = given(executor, roundCleared(), claim('a'), claim('b'))
    expect(folded.wants).toEqual([
      {
        kind: 'run',
        guards: [],
        clearedAt: 1,
        ...place,
        round: 1,
        ordinal: 0,
        try: 1,
        expiresAt,
        owner: 'a',
        cancelled: false,
        agent: 'agent',
        calledBy: [],
        parent: null,
        tree: null,
        declaration: mail,
        arguments: '{"n":0}',
        startWithinMs: policy.startWithinMs,
        timeoutMs: mail.timeoutMs,
        graceMs: policy.graceMs,
        idempotencyKey: '["c",7,1,0]',
        redact: [],
      },
    ])
  })

  it('counts only for the try that is ready', () => {
    expect(given(executor, roundCleared(), claim('a', { try: 2 })).wants).toMatchObject([
      { kind: 'claim', try: 1 },
    ])
  })

  it('counts only for a call of this turn', () => {
    const folded = given(
      executor,
      roundCleared(),
      claim('a', { ordinal: 5 }),
      claim('a', { round: 2 }),
    )
    expect(folded.wants).toMatchObject([{ kind: 'claim', ordinal: 0 }])
  })

  it('counts only before the round expires', () => {
    expect(given(executor, roundCleared(), at(expiresAt - 1, claim('a'))).wants).toMatchObject([
      { kind: 'run' },
    ])
    expect(given(executor, roundCleared(), at(expiresAt, claim('a'))).wants).toMatchObject([
      { kind: 'claim' },
    ])
  })

  it('has a deadline that counts from its append time, with the tool bounded by the ceiling of all tools', () => {
    expect(given(executor, roundCleared(), at(500, claim('a'))).due).toBe(500 + claimMs)
    const slow = { ...mail, timeoutMs: limits.toolTimeoutMsMax * 2 }
    const folded = given(executor, roundCleared({ declarations: [slow] }), at(500, claim('a')))
    expect(folded.due).toBe(500 + policy.startWithinMs + limits.toolTimeoutMsMax + policy.graceMs)
    expect(folded.wants).toMatchObject([{ timeoutMs: limits.toolTimeoutMsMax }])
  })

  it('gives the tool {} where the model sent no byte', () => {
    expect(
      given(
        executor,
        roundCleared({ calls: [callOf(0, { raw: '', problem: 'no_arguments' })] }),
        claim('a'),
      ).wants,
    ).toMatchObject([{ arguments: '{}' }])
  })
})

describe('an outcome', () => {
  const claimed = given(executor, roundCleared(), claim('a'))

  it('counts only for the claim that won', () => {
    for (const other of [
      outcome('b', ok()),
      outcome('a', ok(), { try: 2 }),
      outcome('a', ok(), { ordinal: 1 }),
      outcome('b', null),
    ]) {
      const folded = claimed.when(other)
      expect([folded.state, folded.records]).toEqual([claimed.state, []])
    }
    expect(resultsOf(claimed.when(outcome('a', ok())))).toEqual([ok()])
  })

  it('is given once', () => {
    const folded = given(
      executor,
      roundCleared({ calls: [callOf(0), callOf(1)] }),
      claim('a'),
      outcome('a', ok()),
    )
    expect(folded.when(outcome('a', ok('again'))).records).toEqual([])
  })

  it('belongs to the call of its record, not to the ordinal in its result', () => {
    expect(resultsOf(claimed.when(outcome('a', ok('done', { ordinal: 9 }))))).toEqual([ok()])
  })

  it('without a result makes the call ready for its next try', () => {
    const folded = claimed.when(outcome('a', null))
    expect(folded.wants).toMatchObject([{ kind: 'claim', try: 2 }])
    expect(folded.records).toEqual([])
    expect(folded.when(claim('a')).wants).toMatchObject([{ kind: 'claim', try: 2 }])
    expect(folded.when(claim('b', { try: 2 })).wants).toMatchObject([
      { kind: 'run', try: 2, owner: 'b' },
    ])
  })

  it('without a result for a second time lets the next claim wait for a tick, each time for twice as long', () => {
    let folded = given(executor, roundCleared(), claim('a'), outcome('a', null))
    const pauses = [2, 3, 4].map((attempt) => {
      const returnedAt = 10_000 * attempt
      folded = folded.when(claim('a', { try: attempt }))
      folded = folded.when(at(returnedAt, outcome('a', null, { try: attempt })))
      expect(folded.wants).toEqual([])
      const due = folded.due!
      folded = folded.when(at(due, tick))
      expect(folded.wants).toMatchObject([{ kind: 'claim', try: attempt + 1 }])
      return due - returnedAt
    })
    expect(pauses).toEqual([1, 2, 4].map((times) => times * callReturnPauseMs))
  })

  it('without a result, while the agent of the call goes on, never ends as skipped', () => {
    const givenBack = given(executor, roundCleared(), claim('a')).when(
      outcome('a', null, { goesOn: true }),
    )
    expect(givenBack.wants).toMatchObject([{ kind: 'claim', try: 2 }])
    const again = givenBack.when(claim('b', { try: 2 }))
    for (const end of [
      givenBack.when(at(expiresAt, tick)),
      again.when(outcome('b', ok('no', { status: 'denied' }), { try: 2 })),
    ])
      expect(statusesOf(end)).toEqual(['unknown'])
    expect(statusesOf(again.when(outcome('b', ok(), { try: 2 })))).toEqual(['ok'])
  })

  it('without a result and cancelled, while its agent goes on, waits until somebody cancelled that agent', () => {
    const goesOn = outcome('a', null, { goesOn: true })
    const first = given(executor, roundCleared(), claim('a'))
    const second = first
      .when(goesOn)
      .when(claim('b', { try: 2 }))
      .when(cancel)
    for (const [cancelled, attempt] of [
      [first.when(goesOn).when(cancel), 2],
      [first.when(cancel).when(goesOn), 1],
      [second.when(outcome('b', null, { try: 2 })), 2],
    ] as const) {
      expect(statusesOf(cancelled)).toBeUndefined()
      expect(cancelled.wants).toMatchObject([{ kind: 'run', owner: '', cancelled: true }])
      expect(statusesOf(cancelled.when(lapsed('', { try: attempt })))).toEqual(['unknown'])
      expect(statusesOf(cancelled.when(at(cancelled.due!, tick)))).toEqual(['unknown'])
    }
  })

  it('without a result too often ends the call as skipped, because the tool never began', () => {
    const far = { expiresAt: 10 * 60_000 }
    let folded = given(executor, roundCleared(far))
    for (let attempt = 1; attempt <= callReturnsMax + 1; attempt += 1) {
      expect(folded.records).toEqual([])
      folded = folded.when(claim('a', { try: attempt }))
      folded = folded.when(outcome('a', null, { try: attempt }))
      if (attempt > 1 && attempt <= callReturnsMax) folded = folded.when(at(folded.due!, tick))
    }
    expect(resultsOf(folded)).toMatchObject([
      { status: 'skipped', text: expect.stringMatching(/could not start the tool in many tries/) },
    ])
  })

  it('of record format 1 is followed by no pause, as in the executor of that format', () => {
    const old = { goesOn: null }
    const folded = given(executor, roundCleared(), claim('a'), outcome('a', null, old))
      .when(claim('a', { try: 2 }))
      .when(outcome('a', null, { try: 2, ...old }))
    expect(folded.wants).toMatchObject([{ kind: 'claim', try: 3 }])
    const ended = folded.when(claim('b', { try: 3 })).when(outcome('b', ok(), { try: 3, ...old }))
    expect(resultsOf(ended)).toEqual([ok()])
  })

  it('is followed by a pause in which no claim is accepted', () => {
    const folded = given(executor, roundCleared(), claim('a'), outcome('a', null))
      .when(claim('a', { try: 2 }))
      .when(outcome('a', null, { try: 2 }))
    const early = folded.when(claim('b', { try: 3 })).when(outcome('b', ok(), { try: 3 }))
    expect(resultsOf(early)).toBeUndefined()
    const due = folded.due!
    const later = folded.when(at(due, claim('b', { try: 3 })))
    expect(resultsOf(later.when(at(due, outcome('b', ok(), { try: 3 }))))).toEqual([ok()])
  })

  it('without a result while a cancel arrives in the pause is a call that never ran', () => {
    const folded = given(executor, roundCleared(), claim('a'), outcome('a', null))
      .when(claim('a', { try: 2 }))
      .when(outcome('a', null, { try: 2 }))
    expect(folded.wants).toEqual([])
    expect(statusesOf(folded.when(cancel))).toEqual(['skipped'])
  })

  it('without a result after the expiry is a call that never ran', () => {
    expect(statusesOf(claimed.when(at(expiresAt, outcome('a', null))))).toEqual(['skipped'])
  })

  it('still counts after the deadline as long as no tick has passed', () => {
    expect(resultsOf(claimed.when(at(2 * claimMs, outcome('a', ok()))))).toEqual([ok()])
  })
})

describe('the deadline of a claim', () => {
  it('makes the outcome of a call unknown', () => {
    const folded = given(executor, roundCleared(), at(500, claim('a')), at(500 + claimMs, tick))
    expect(resultsOf(folded)).toEqual([
      resultWith({
        status: 'unknown',
        reason: 'no result in time',
        durationMs: 0,
        text: 'No result of this call came back in time. It may have run, or may still take effect; check before doing it again.',
      }),
    ])
    expect(folded.when(outcome('a', ok())).records).toEqual([])
  })

  it('gives an idempotent call a further try with the same key, until its tries are used up', () => {
    let folded = given(executor, idempotentRound)
    for (const attempt of [1, 2, 3]) {
      folded = folded.when(claim('a', { try: attempt }))
      expect(folded.wants).toMatchObject([
        { kind: 'run', try: attempt, idempotencyKey: '["c",7,1,0]' },
      ])
      folded = folded.when(at(folded.due!, tick))
    }
    expect(statusesOf(folded)).toEqual(['unknown'])
  })

  it('gives no further try at or after the expiry', () => {
    const folded = given(executor, idempotentRound, at(expiresAt - 1, claim('a')))
    expect(statusesOf(folded.when(at(folded.due!, tick)))).toEqual(['unknown'])
  })

  it('comes at once when the bus proves the owner dead', () => {
    expect(resultsOf(given(executor, roundCleared(), claim('a'), lapsed('a')))).toMatchObject([
      { status: 'unknown', reason: 'its executor ended without a result' },
    ])
    expect(given(executor, idempotentRound, claim('a'), lapsed('a')).wants).toMatchObject([
      { kind: 'claim', try: 2 },
    ])
  })

  it('is not brought forward by a record on another claim', () => {
    const claimed = given(executor, roundCleared(), claim('a'))
    for (const other of [lapsed('b'), lapsed('a', { try: 2 }), lapsed('a', { ordinal: 3 })])
      expect(claimed.when(other).state).toEqual(claimed.state)
  })
})

describe('a call whose earlier try lapsed', () => {
  const again = given(executor, idempotentRound, claim('a'), lapsed('a'))

  it('has the result of the further try', () => {
    expect(
      resultsOf(again.when(claim('b', { try: 2 })).when(outcome('b', ok(), { try: 2 }))),
    ).toEqual([ok()])
  })

  it('is never called skipped: not by cancel, not by expiry, not when the further try was given back', () => {
    const givenBack = again.when(claim('b', { try: 2 })).when(outcome('b', null, { try: 2 }))
    expect(givenBack.wants).toMatchObject([{ kind: 'claim', try: 3 }])
    for (const folded of [again, givenBack]) {
      expect(statusesOf(folded.when(cancel))).toEqual(['unknown'])
      expect(statusesOf(folded.when(at(expiresAt, tick)))).toEqual(['unknown'])
    }
  })

  it('is never called denied', () => {
    const refused = ok('no such tool', { status: 'denied', reason: 'no such tool' })
    expect(
      statusesOf(again.when(claim('b', { try: 2 })).when(outcome('b', refused, { try: 2 }))),
    ).toEqual(['unknown'])
  })
})

describe('cancel', () => {
  it('skips calls without a claim and waits for the claimed ones', () => {
    const folded = given(
      executor,
      roundCleared({ calls: [callOf(0), callOf(1)] }),
      claim('a'),
      cancel,
    )
    expect(folded.wants).toMatchObject([{ kind: 'run', ordinal: 0, cancelled: true }])
    expect(folded.to('activity')).toMatchObject([
      { type: 'call-finished', ordinal: 1, status: 'skipped' },
    ])
    expect(resultsOf(folded)).toBeUndefined()
    expect(statusesOf(folded.when(outcome('a', ok())))).toEqual(['ok', 'skipped'])
  })

  it('leaves a claimed call to its deadline when no outcome comes, and gives it no further try', () => {
    const folded = given(executor, idempotentRound, claim('a'), cancel)
    expect(statusesOf(folded.when(at(folded.due!, tick)))).toEqual(['unknown'])
    expect(statusesOf(folded.when(lapsed('a')))).toEqual(['unknown'])
  })

  it('makes a claimed call that was given back a skipped one', () => {
    expect(
      statusesOf(given(executor, roundCleared(), claim('a'), cancel, outcome('a', null))),
    ).toEqual(['skipped'])
  })

  it('keeps the result of a killed call as the performer wrote it', () => {
    const killed = ok('stopped', { status: 'unknown', reason: 'stopped' })
    expect(
      resultsOf(given(executor, roundCleared(), claim('a'), cancel, outcome('a', killed))),
    ).toEqual([killed])
  })

  it('is remembered, for rounds that come later, until the turn expires', () => {
    const remembered = given(executor, cancel)
    expect([remembered.due, remembered.wants]).toEqual([expiresAt, []])
    expect(statusesOf(remembered.when(roundCleared({ calls: [callOf(0), callOf(1)] })))).toEqual([
      'skipped',
      'skipped',
    ])
    expect(remembered.when(at(expiresAt, tick)).state).toBeUndefined()
    expect(given(executor, at(expiresAt, cancel)).state).toBeUndefined()
  })

  it('lets decided results of such a round through as they are', () => {
    const denial: CallResult = resultWith({
      status: 'denied',
      text: 'no',
      reason: 'no',
      durationMs: 0,
    })
    const folded = given(
      executor,
      cancel,
      roundCleared({ calls: [callOf(0), callOf(1)], decided: [denial] }),
    )
    expect(statusesOf(folded)).toEqual(['denied', 'skipped'])
  })
})

describe('the end of a turn', () => {
  it('closes it', () => {
    const folded = given(executor, roundCleared(), claim('a'), outcome('a', ok()), turnEnded)
    expect([folded.state, folded.records]).toEqual([undefined, []])
  })

  it('comes by itself at the expiry when nothing is open', () => {
    const idle = given(executor, roundCleared(), claim('a'), outcome('a', ok()))
    expect(idle.due).toBe(expiresAt)
    expect(idle.when(at(expiresAt, tick)).state).toBeUndefined()
  })

  it('waits for a claimed call beyond the expiry', () => {
    const claimed = given(
      executor,
      roundCleared({ calls: [callOf(0), callOf(1)] }),
      at(expiresAt - 1, claim('a')),
    )
    expect(claimed.due).toBe(expiresAt)
    const expired = claimed.when(at(expiresAt, tick))
    expect(expired.to('activity')).toMatchObject([{ ordinal: 1, status: 'skipped' }])
    expect(expired.due).toBe(expiresAt - 1 + claimMs)
    const late = expired.when(at(expiresAt + 10, outcome('a', ok())))
    expect(statusesOf(late)).toEqual(['ok', 'skipped'])
    expect(late.state).toBeUndefined()
  })

  it('follows a failed reducer: running tools stop, and the conversation reports the failure', () => {
    const folded = given(executor, roundCleared(), claim('a')).whenFails(outcome('a', ok()))
    expect([folded.state, folded.records]).toEqual([undefined, []])
  })
})

describe('the bounds of results', () => {
  it('truncate long texts and reasons, with a note', () => {
    const long = ok('x'.repeat(limits.resultBytesMax + 1), {
      status: 'error',
      reason: 'é'.repeat(limits.reasonBytesMax),
    })
    const [result] = resultsOf(given(executor, roundCleared(), claim('a'), outcome('a', long)))!
    expect(Buffer.byteLength(result!.text)).toBeLessThanOrEqual(limits.resultBytesMax)
    expect(result!.text).toMatch(/x\n\[cut: this is the beginning of 262145 bytes\]$/)
    expect(Buffer.byteLength(result!.reason)).toBeLessThanOrEqual(limits.reasonBytesMax)
    expect(result!.reason).toMatch(/é…$/)
  })

  it('hold for all results of a round together, and leave room for the last one', () => {
    const calls = Array.from({ length: 64 }, (_, ordinal) => callOf(ordinal, { name: 'look' }))
    const text = 'x'.repeat(limits.resultBytesMax)
    let folded = given(executor, roundCleared({ calls }))
    for (const { ordinal } of calls)
      folded = folded
        .when(claim('a', { ordinal }))
        .when(outcome('a', ok(text, { ordinal }), { ordinal }))
    const sizes = resultsOf(folded)!.map((result) => Buffer.byteLength(result.text))
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(limits.roundResultsBytesMax)
    expect(Math.min(...sizes)).toBe(limits.roundResultsBytesMax / 64)
  })

  it('hold for results that were decided before', () => {
    const folded = given(
      executor,
      roundCleared({ decided: [ok('x'.repeat(2 * limits.resultBytesMax))] }),
    )
    expect(Buffer.byteLength(resultsOf(folded)![0]!.text)).toBe(limits.resultBytesMax)
  })

  it('leave smaller results unchanged', () => {
    const text = 'x'.repeat(limits.resultBytesMax)
    expect(
      resultsOf(given(executor, roundCleared(), claim('a'), outcome('a', ok(text))))![0]!.text,
    ).toBe(text)
  })
})
