// The histories that go wrong without a part of the protocol (the "holes" of its exhaustive model),
// one test each. Two of them are closed
// elsewhere; there the test holds the executor's share, and the name says whose the rest is.

import { describe, expect, it } from '@jest/globals'
import { executor } from '../../../services/executor/reducer.ts'
import type { RoundExecuted } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { at, given } from '../../support/given.ts'
import { callOf, cancel, claim, claimMs, ok, outcome, roundCleared, tick } from './samples.ts'

function statusesIn(outputs: Output[]): string[][] {
  return outputs.flatMap(({ to, message }) =>
    to === 'verdict' ? [(message as RoundExecuted).results.map(({ status }) => status)] : [],
  )
}

const idempotent = roundCleared({ calls: [callOf(0, { name: 'look' })] })

describe('histories that went wrong', () => {
  it('outcome: a tool ends, and the deadline adds no second result, because the reducer has seen the outcome', () => {
    const folded = given(
      executor,
      roundCleared(),
      at(10, claim('a')),
      at(20, outcome('a', ok())),
      at(10 + claimMs, tick),
    )
    expect(statusesIn(folded.all)).toEqual([['ok']])
    const other = given(
      executor,
      roundCleared(),
      at(10, claim('a')),
      at(10 + claimMs, tick),
      outcome('a', ok()),
    )
    expect(statusesIn(other.all)).toEqual([['unknown']])
  })

  it('snapshots: a new owner folds the claim of a paused owner and does not start the call', () => {
    const takenOver = given(executor, roundCleared(), claim('paused'))
    expect(takenOver.wants).toMatchObject([{ kind: 'run', owner: 'paused' }])
    expect(takenOver.when(claim('next')).wants).toMatchObject([{ kind: 'run', owner: 'paused' }])
  })

  it('incarnation: a restarted owner is another owner, so the claim it finds is not its own', () => {
    const [task] = given(executor, roundCleared(), claim('assignment-1')).wants
    expect(task).toMatchObject({ kind: 'run', owner: 'assignment-1' })
    const other = given(
      executor,
      roundCleared(),
      claim('assignment-1'),
      outcome('assignment-2', ok()),
      outcome('assignment-2', null),
    )
    expect(other.records).toEqual([])
    expect(other.wants).toEqual([task])
  })

  it('log clock: a tick whose writer is five minutes ahead ends no healthy call', () => {
    const folded = given(executor, roundCleared(), at(10, claim('a')), at(10 + claimMs - 1, tick))
    expect(folded.wants).toMatchObject([{ kind: 'run', owner: 'a' }])
    expect(statusesIn(folded.all)).toEqual([])
  })

  it('lease: a tool that starts after its result was given changes nothing (that it does not start is the performer: "starts nothing late")', () => {
    const folded = given(
      executor,
      roundCleared(),
      at(10, claim('woken')),
      at(10 + claimMs, tick),
      outcome('woken', ok()),
    )
    expect(statusesIn(folded.all)).toEqual([['unknown']])
    expect(folded.wants).toEqual([])
  })

  it('mark: a round that is delivered again while the turn is open runs no second time (later the runtime drops it by its mark)', () => {
    const folded = given(
      executor,
      roundCleared(),
      claim('a'),
      outcome('a', ok()),
      roundCleared(),
      claim('b'),
    )
    expect(statusesIn(folded.all)).toEqual([['ok']])
    expect(folded.wants).toEqual([])
  })

  it('fence: a cancel that overtook its round is remembered, and the round never runs', () => {
    const folded = given(executor, cancel, roundCleared(), claim('a'))
    expect(statusesIn(folded.all)).toEqual([['skipped']])
    expect(folded.wants).toEqual([])
  })

  it('lapsed: a call that waits for its second try is not called skipped by a cancel, because its first may have run', () => {
    const folded = given(executor, idempotent, at(10, claim('a')), at(10 + claimMs, tick))
    expect(folded.wants).toMatchObject([{ kind: 'claim', try: 2 }])
    expect(statusesIn(folded.when(cancel).all)).toEqual([['unknown']])
  })

  it('pause between reading the clock and the start: the start is late, but never a second one and never skipped', () => {
    const folded = given(
      executor,
      roundCleared(),
      at(10, claim('paused')),
      cancel,
      at(10 + claimMs, tick),
      claim('next', { try: 2 }),
    )
    expect(statusesIn(folded.all)).toEqual([['unknown']])
    expect(folded.wants).toEqual([])
  })

  it('restart under a graceful shutdown: a claim that was given back starts under the next owner, once', () => {
    const folded = given(
      executor,
      roundCleared(),
      claim('old'),
      outcome('old', null),
      claim('new', { try: 2 }),
      outcome('old', ok()),
    )
    expect(folded.wants).toMatchObject([{ kind: 'run', owner: 'new', try: 2 }])
    expect(statusesIn(folded.when(outcome('new', ok(), { try: 2 })).all)).toEqual([['ok']])
  })
})
