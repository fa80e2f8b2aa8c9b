import { describe, expect, it } from '@jest/globals'
import { executor } from '../../../../services/executor/reducer.ts'
import type { ToolTask } from '../../../../services/executor/tasks.ts'
import type { GuardVerdict, ProgramsHashed } from '../../../../shared/contract/messages.ts'
import { at, given } from '../../../support/given.ts'
import { guardVerdictWith, verdictWith } from '../../../support/messages.ts'
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
} from '../samples.ts'

const deadlineMs = 600_000

/** `mail` has a rule, `look` has none. */
function policyWith(rule: object = {}) {
  const rules = JSON.stringify([{ name: 'r', tools: ['mail'], ...rule }])
  const tools = [{ pattern: 'mail', mode: 'enforce' as const }]
  const guard = { name: 'approval', version: '1', tools, deadlineMs, rules }
  return { ...policy, bindsPrograms: true, guards: [{ ...guard, onTimeout: 'deny' as const }] }
}

const calls = [callOf(0), callOf(1, { name: 'look' }), callOf(2)]

function cleared(rule: object = {}) {
  return given(executor, at(1_000, roundCleared({ calls, policy: policyWith(rule) })))
}

function programs(hash = 'aa'): ProgramsHashed {
  const of = [0, 2].map((ordinal) => ({ ordinal, hash }))
  return { type: 'programs-hashed', ...place, round: 1, programs: of }
}

/** Codes by ordinal: of a person's approval, of no rule, or of a denial. */
function verdict(codes: Record<number, string>): GuardVerdict {
  const verdicts = Object.entries(codes).map(([ordinal, code]) =>
    verdictWith({
      ordinal: Number(ordinal),
      code,
      verdict: code === 'no' ? ('deny' as const) : ('allow' as const),
    }),
  )
  return guardVerdictWith({
    ...place,
    guard: 'approval',
    verdicts,
    clearedAt: 1_000,
    judgedMs: 0,
    enforces: [0, 2],
    deadlineMs,
  })
}

const approved = { 0: 'approval.allowed', 2: '' }

function ordinals(state: { wants: readonly unknown[] }, kind: ToolTask['kind']): number[] {
  return (state.wants as ToolTask[]).flatMap((task) => (task.kind === kind ? [task.ordinal] : []))
}

describe('the question to a person', () => {
  it('comes after an executor has found the programs, with their hashes', () => {
    const before = cleared()
    expect(before.to('person')).toEqual([])
    expect(before.wants).toContainEqual(
      expect.objectContaining({
        kind: 'hash-programs',
        calls: [0, 2].map((ordinal) => expect.objectContaining({ ordinal })),
      }),
    )
    const after = before.when(at(2_000, programs()))
    expect(after.to('person')).toMatchObject([
      {
        calls: [
          { ordinal: 0, program: 'aa' },
          { ordinal: 2, program: 'aa' },
        ],
      },
    ])
    expect(after.wants).not.toContainEqual(expect.objectContaining({ kind: 'hash-programs' }))
  })

  it('keeps the first programs', () => {
    const after = cleared()
      .when(at(2_000, programs()))
      .when(at(2_001, programs('bb')))
    expect(after.to('person')).toHaveLength(0)
  })
})

describe('a call that was shown', () => {
  it('may run only for the program of the question', () => {
    const run = cleared()
      .when(at(2_000, programs()))
      .when(at(3_000, verdict(approved)))
      .when(at(3_001, claim('o')))
    expect(run.wants).toContainEqual(expect.objectContaining({ kind: 'run', program: 'aa' }))
  })

  it('may run for any program if no rule names it', () => {
    const run = cleared()
      .when(at(2_000, programs()))
      .when(at(3_000, verdict({ 0: 'approval.no-rule', 2: 'approval.no-rule' })))
      .when(at(3_001, claim('o')))
    expect(run.wants).toContainEqual(expect.objectContaining({ kind: 'run', program: undefined }))
  })

  it('has no program if a verdict comes before the question', () => {
    const run = cleared()
      .when(at(2_000, verdict(approved)))
      .when(at(3_001, claim('o')))
    expect(run.wants).toContainEqual(expect.objectContaining({ kind: 'run', program: '' }))
  })
})

describe('the other calls of the response', () => {
  const decided = () =>
    cleared()
      .when(at(2_000, programs()))
      .when(at(3_000, verdict(approved)))

  it('wait while a person may decide', () => {
    expect(ordinals(cleared(), 'claim')).toEqual([])
  })

  it('wait until the approved call has its result', () => {
    expect(ordinals(decided(), 'claim')).toEqual([0])
    const running = decided().when(at(3_001, claim('o')))
    expect(ordinals(running, 'claim')).toEqual([])
    expect(ordinals(running.when(at(4_000, outcome('o', ok()))), 'claim')).toEqual([1, 2])
  })

  it('run at once if no person decided', () => {
    const free = cleared()
      .when(at(2_000, programs()))
      .when(at(3_000, verdict({ 0: '', 2: '' })))
    expect(ordinals(free, 'claim')).toEqual([0, 1, 2])
  })

  it('run after a denial', () => {
    const free = cleared()
      .when(at(2_000, programs()))
      .when(at(3_000, verdict({ 0: 'no', 2: 'no' })))
    expect(ordinals(free, 'claim')).toEqual([1])
  })

  it('run after the guard was silent', () => {
    expect(ordinals(cleared().when(at(1_000 + deadlineMs, tick)), 'claim')).toEqual([1])
  })

  it('run next to it if its rule allows that', () => {
    expect(ordinals(cleared({ others: 'run' }), 'claim')).toEqual([1])
    expect(ordinals(cleared({ others: 'wait' }), 'claim')).toEqual([])
    expect(ordinals(cleared({ tools: 'broken', others: 'run' }), 'claim')).toEqual([1])
  })

  it('are skipped by a cancel, as calls that never ran', () => {
    const after = decided()
      .when(at(3_001, claim('o')))
      .when(at(3_002, cancel))
    expect(after.to('activity')).toMatchObject([
      { ordinal: 1, status: 'skipped' },
      { ordinal: 2, status: 'skipped' },
    ])
  })

  it('never become ready after the end of the turn', () => {
    const after = decided()
      .when(at(3_001, claim('o')))
      .when(at(expiresAt, outcome('o', ok())))
    expect(ordinals(after, 'claim')).toEqual([])
    expect(after.when(at(expiresAt, tick)).to('verdict')).toMatchObject([
      { results: [{ status: 'ok' }, { status: 'skipped' }, { status: 'skipped' }] },
    ])
  })
})

describe('a round of an older version', () => {
  it('is decided as before: its question has no program, and nothing waits after it', () => {
    const old = { ...policyWith(), bindsPrograms: false }
    const state = given(executor, at(1_000, roundCleared({ calls, policy: old })))
    expect(state.to('person')).toMatchObject([{ calls: [{ program: null }, { program: null }] }])
    expect(ordinals(state, 'claim')).toEqual([1])
  })
})
