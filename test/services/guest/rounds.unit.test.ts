import { describe, expect, it } from '@jest/globals'
import { guest, guestPendingMax } from '../../../services/guest/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { resultWith } from '../../support/messages.ts'
import {
  all,
  cancels,
  conversation,
  intervention,
  names,
  only,
  outcome,
  policyWith,
  request,
  result,
  results,
  round,
} from './samples.ts'

const guard: GuardInForce = {
  name: 'lookout',
  version: '1',
  tools: [{ pattern: 'exec', mode: 'enforce' }],
  deadlineMs: 1_000,
  onTimeout: 'deny',
  rules: null,
}
const opened = given(guest, request('r0'))
const proposed = opened.when(round('a.1'))

describe('the first request of a guest', () => {
  it('opens a turn with the text of the user, and is answered at once', () => {
    expect(names(opened.records)).toEqual([
      'history: history-entry',
      'activity: turn-started',
      'activity: guest-advice',
    ])
    expect(only(opened.records, 'history-entry')).toMatchObject({
      turn: 0,
      round: 0,
      user: 'list the files',
    })
    expect(only(opened.records, 'guest-advice')).toMatchObject({
      turn: 0,
      turnKey: 'u1',
      round: 0,
      action: 'none',
      unknown: [],
      requestId: 'r0',
    })
  })

  it('is answered with the rounds that the log does not know', () => {
    const { records } = given(guest, request('r0', ['a.1', 'b.1']))
    expect(only(records, 'guest-advice').unknown).toEqual(['a.1', 'b.1'])
  })

  it.each([
    ['a conversation of a user', { conversation: 'c' }, 0],
    ['a name of the turn that is too long', { turnKey: 'u'.repeat(65) }, 1],
    ['a key without a count', { keys: ['a'] }, 1],
    ['more keys than the limit', { keys: Array.from({ length: 65 }, () => 'a.1') }, 1],
    ['a policy that no turn can have', { policy: policyWith({ startWithinMs: 1e9 }) }, 1],
  ])('opens no turn for %s', (_, fields, answers) => {
    const { state, records } = given(guest, request('r0', [], fields))
    expect(state).toBeUndefined()
    expect(records).toHaveLength(answers)
    expect(all(records, 'guest-advice').every(({ isOpen }) => !isOpen)).toBe(true)
  })
})

describe('a round (GUEST-1)', () => {
  it('goes to the validator under a number, with the calls that the turn may still make', () => {
    expect(names(proposed.records)).toEqual(['next: round-proposed', 'activity: round-started'])
    expect(only(proposed.records, 'round-proposed')).toMatchObject({
      conversation,
      turn: 0,
      round: 1,
      callsLeft: 10_000,
      expiresAt: 86_400_001,
      response: { attempt: 'a.1' },
    })
    expect(only(proposed.records, 'round-started')).toMatchObject({
      turn: 0,
      round: 1,
      key: 'a.1',
      turnKey: 'u1',
    })
  })

  it('declares no tool as idempotent: Weir must never run a tool of a guest', () => {
    const [declaration] = round('a.1').declarations
    const { records } = opened.when(
      round('a.1', { declarations: [{ ...declaration, idempotent: true } as never] }),
    )
    expect(only(records, 'round-proposed').declarations[0]?.idempotent).toBe(false)
  })

  it('is proposed once: a repeat while it is outstanding gets its verdicts again', () => {
    const again = proposed.when(round('a.1'))
    expect(names(again.records)).toEqual(['activity: round-started', 'tools: verdicts-requested'])
    expect(again.to('tools')).toEqual([
      { type: 'verdicts-requested', conversation, turn: 0, round: 1 },
    ])
  })

  it('gets its advice again when it is repeated after its end', () => {
    const over = proposed.when(
      outcome(0, 1, { results: [{ status: 'denied', text: 'no', reason: 'missing' }] }),
    )
    const denied = [{ ordinal: 0, callId: 'id-0', text: 'no', code: 'missing' }]
    expect(only(over.records, 'guest-advice')).toMatchObject({ key: 'a.1', denied })
    expect(only(over.when(round('a.1')).records, 'guest-advice')).toMatchObject({
      key: 'a.1',
      denied,
      requestId: '',
    })
    const later = over.when(round('b.1')).when(outcome(0, 2))
    expect(only(later.when(round('a.1')).records, 'guest-advice')).toMatchObject({
      key: 'a.1',
      denied: [{ ordinal: 0, callId: 'id-0' }],
    })
  })

  it('of an observing front never lacks calls: they ran already', () => {
    const policy = policyWith({}, { calls: 1 })
    const observed = given(guest, round('a.1', { blocking: false, policy }))
    expect(only(observed.records, 'round-proposed').callsLeft).toBe(limits.turnCallsMax)
  })

  it('of an observing front has every guard in shadow, so its calls never wait', () => {
    const policy = policyWith({ guards: [guard], bindsPrograms: true })
    const shadow = { ...guard, tools: [{ pattern: 'exec', mode: 'shadow' }] }
    const { records } = opened.when(round('a.1', { blocking: false, policy }))
    const observed = only(records, 'round-proposed').policy
    expect(observed).toMatchObject({ guards: [shadow], bindsPrograms: true })
    expect(observed.version).not.toBe(policy.version)
    const held = only(opened.when(round('a.1', { policy })).records, 'round-proposed')
    expect(held.policy).toEqual(policy)
  })

  it('is refused with a reason if a call does not have its place as its ordinal', () => {
    const { records } = opened.when(round('a.1', { calls: [{ ordinal: 3 }] }))
    expect(only(records, 'guest-advice')).toMatchObject({
      isOpen: false,
      reason: expect.stringContaining('ordinal 3'),
    })
  })
})

describe('a result (GUEST-TURN-2)', () => {
  it('goes to the executor as the outcome of the guest', () => {
    const { records } = proposed.when(results('running', { results: [result('a.1')] }))
    expect(only(records, 'outcome')).toEqual({
      type: 'outcome',
      conversation,
      turn: 0,
      round: 1,
      ordinal: 0,
      try: 1,
      owner: 'guest',
      goesOn: null,
      result: resultWith({ text: 'a.txt', durationMs: 5 }),
    })
  })

  it('has the reason that a transcript of the same call has', () => {
    const text = 'Traceback (most recent call last):\n  at x\nKeyError: 7'
    const { records } = proposed.when(
      results('running', { results: [result('a.1', { status: 'error', text })] }),
    )
    expect(only(records, 'outcome').result?.reason).toBe('KeyError: 7')
  })

  it('counts once for each call', () => {
    const first = proposed.when(results('running', { results: [result('a.1')] }))
    expect(
      first.when(results('running', { results: [result('a.1', { text: 'other' })] })).records,
    ).toEqual([])
  })

  it('of another round counts for nothing, even with an id of this round', () => {
    expect(proposed.when(results('running', { results: [result('b.1')] })).records).toEqual([])
  })

  it('names the second call with an id by its place among them', () => {
    const two = opened.when(round('a.1', { calls: [{ id: 'x' }, { id: 'x' }] }))
    const { records } = two.when(
      results('running', { results: [result('a.1', { callId: 'x', nth: 1 })] }),
    )
    expect(only(records, 'outcome').ordinal).toBe(1)
  })

  it('without a key counts while no former round has a call with its id', () => {
    const bare = results('running', { results: [result('')], turnKey: 'other' })
    expect(names(proposed.when(bare).records)).toEqual(['tools: outcome'])
    const second = proposed.when(outcome(0, 1)).when(round('b.1'))
    expect(second.when(bare).records).toEqual([])
  })
})

describe('a request (G5, G6)', () => {
  it('waits for the advice on its last round, whose calls get no further result', () => {
    const waiting = proposed.when(request('r1', ['a.1'], { results: [result('a.1')] }))
    expect(names(waiting.records)).toEqual(['tools: outcome'])
    const over = waiting.when(outcome(0, 1, { intervention: intervention('nudge') }))
    expect(names(over.records)).toEqual([
      'history: history-entry',
      'activity: guest-advice',
      'activity: guest-advice',
    ])
    expect(all(over.records, 'guest-advice')[1]).toMatchObject({
      requestId: 'r1',
      round: 1,
      key: 'a.1',
      action: 'nudge',
      text: 'text of the nudge',
      rule: 'identical-failure',
      unknown: [],
    })
  })

  it('gives the calls without a result an unknown outcome', () => {
    const { records } = proposed.when(request('r1', ['a.1']))
    expect(only(records, 'outcome').result?.status).toBe('unseen')
  })

  it('without the outstanding round waits for nothing and ends nothing', () => {
    const { records } = proposed.when(request('late'))
    expect(names(records)).toEqual(['activity: guest-advice'])
  })

  it('with an unknown round is answered at once', () => {
    const { records } = proposed.when(request('r1', ['a.1', 'b.1']))
    expect(only(records, 'guest-advice').unknown).toEqual(['b.1'])
  })

  it('that is repeated gets the same advice', () => {
    const over = proposed
      .when(request('r1', ['a.1']))
      .when(outcome(0, 1, { intervention: intervention('text_only') }))
    const { requestId: _, ...first } = all(over.records, 'guest-advice')[1] ?? { requestId: '' }
    expect(only(over.when(request('r2', ['a.1'])).records, 'guest-advice')).toEqual({
      ...first,
      requestId: 'r2',
    })
  })
})

describe('one round is outstanding at a time (GUEST-2)', () => {
  it('a new round waits, and its guest has gone on without the results of the one before', () => {
    const waiting = proposed.when(round('b.1'))
    expect(only(waiting.records, 'outcome').result?.status).toBe('unseen')
    const next = waiting.when(outcome(0, 1))
    expect(only(next.records, 'round-proposed').round).toBe(2)
  })

  it('records wait in order', () => {
    const waiting = proposed
      .when(round('b.1'))
      .when(results('running', { results: [result('b.1')] }))
    expect(waiting.records).toEqual([])
    const next = waiting.when(outcome(0, 1))
    expect(names(next.records).slice(-3)).toEqual([
      'next: round-proposed',
      'activity: round-started',
      'tools: outcome',
    ])
  })

  it('a record beyond the limit is dropped, and a request names its round as unknown (G8)', () => {
    let folded = proposed.when(round('b.1'))
    for (let n = 2; n <= guestPendingMax + 10; n++) folded = folded.when(round(`b.${n}`))
    expect(folded.state?.pending).toHaveLength(guestPendingMax)
  })

  it('keeps no more bytes than the limit', () => {
    const text = 'x'.repeat(1_500_000)
    const three = proposed
      .when(round('b.1', { text }))
      .when(round('c.1', { text }))
      .when(round('d.1', { text }))
      .when(round('e.1', { text }))
    expect(three.state?.pending).toHaveLength(3)
  })
})

describe('the advice (GUEST-ADVICE-1, GUEST-ADVICE-2)', () => {
  const capped = (caps: Parameters<typeof policyWith>[1], blocking = true) =>
    given(guest, round('a.1', { blocking, policy: policyWith({}, caps) }))

  it('at a cap on rounds is a last response without tools, then the end', () => {
    const policy = policyWith({}, { rounds: 1 })
    const first = capped({ rounds: 1 }).when(outcome(0, 1, { policy }))
    expect(only(first.records, 'guest-advice')).toMatchObject({
      action: 'text_only',
      cap: 'rounds',
      text: expect.stringContaining('1 model round'),
    })
    const second = first.when(round('b.1', { policy }))
    expect(only(second.records, 'round-proposed').callsLeft).toBe(0)
    expect(only(second.when(outcome(0, 2, { policy })).records, 'guest-advice')).toMatchObject({
      action: 'end',
      cap: 'rounds',
      text: '',
    })
  })

  it('at a cap on tokens is the end', () => {
    const policy = policyWith({}, { tokens: 10 })
    const over = capped({ tokens: 10 }).when(outcome(0, 1, { policy, tokens: 11 }))
    expect(only(over.records, 'guest-advice')).toMatchObject({ action: 'end', cap: 'tokens' })
  })

  it('joins the text of an intervention and that of a cap', () => {
    const policy = policyWith({}, { rounds: 1 })
    const over = capped({ rounds: 1 }).when(
      outcome(0, 1, { policy, intervention: intervention('nudge') }),
    )
    expect(only(over.records, 'guest-advice').text).toMatch(/^text of the nudge\n\nThis turn has/)
  })

  it('of the stronger action counts', () => {
    const policy = policyWith({}, { rounds: 1 })
    const over = capped({ rounds: 1 }).when(
      outcome(0, 1, { policy, intervention: intervention('end') }),
    )
    expect(only(over.records, 'guest-advice')).toMatchObject({
      action: 'end',
      rule: 'identical-failure',
      cap: 'rounds',
    })
  })

  it('of the end does not end the turn: the guest may go on, and its next round is judged', () => {
    const over = proposed.when(outcome(0, 1, { intervention: intervention('end') }))
    expect(over.state?.turn).toBeDefined()
    const next = over.when(round('b.1'))
    expect(only(next.records, 'round-proposed').callsLeft).toBe(0)
  })

  it('is the end from a cancel on, and a cancel stops the calls of a blocking front', () => {
    const cancelled = proposed.when(cancels('u1'))
    expect(names(cancelled.records)).toEqual([
      'verdict: cancel',
      'tools: cancel',
      'activity: guest-advice',
    ])
    expect(only(cancelled.records, 'guest-advice')).toMatchObject({ action: 'end', isOpen: true })
    const over = cancelled.when(outcome(0, 1))
    expect(only(over.records, 'guest-advice').action).toBe('end')
  })

  it('is the end from a cancel on, and an observing front keeps the results of its calls', () => {
    const observed = given(guest, round('a.1', { blocking: false }))
    expect(names(observed.when(cancels('')).records)).toEqual(['activity: guest-advice'])
    expect(observed.when(cancels('another')).records).toEqual([])
  })
})

describe('a front that hides refused rounds (G12)', () => {
  const refusal = { results: [{ status: 'denied' as const, text: 'no', reason: 'vetoed' }] }
  const hiding = given(guest, request('r0')).when(round('a.1', { hides: true }))
  const hidden = hiding.when(outcome(0, 1, refusal))

  it('learns the count of hidden rounds, and adds it to the next key', () => {
    expect(only(hidden.records, 'guest-advice').hidden).toEqual([{ hash: 'a', count: 1 }])
    const next = hidden.when(request('r1', [], { hiddenKeys: ['a.1'] }))
    expect(only(next.records, 'guest-advice')).toMatchObject({
      requestId: 'r1',
      unknown: [],
      hidden: [{ hash: 'a', count: 1 }],
    })
  })

  it('waits with its own retry until the hidden round is over', () => {
    const retry = hiding.when(request('r1', [], { hiddenKeys: ['a.1'] }))
    expect(all(retry.records, 'guest-advice')).toEqual([])
    expect(all(retry.when(outcome(0, 1, refusal)).records, 'guest-advice')[1]?.requestId).toBe('r1')
  })

  it('names visible rounds, and the stage adds the hidden ones', () => {
    const second = hidden.when(round('a.2', { hides: true }))
    const { records } = second.when(request('r2', ['a.1'], { results: [result('a.1')] }))
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })

  it('names final keys in results of running calls', () => {
    const second = hidden.when(round('a.2', { hides: true }))
    const named = (key: string) => second.when(results('running', { results: [result(key)] }))
    expect(named('a.1').records).toEqual([])
    expect(only(named('a.2').records, 'outcome').round).toBe(2)
  })
})

it('a turn has the number of the record that opens it, also if that record waited', () => {
  const waiting = proposed.when(request('r1', [], { turnKey: 'u2', user: 'more' }))
  const next = waiting.when(at(1_000, outcome(0, 1)))
  expect(only(next.records, 'turn-started').turn).toBe(2)
})
