// The claims of fronts: which front may give the verdict on a call.

import { expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuestClaim } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { conversation, outcome, request, result, results, round } from './samples.ts'

const claim = (owner: string, of: Partial<GuestClaim> = {}): GuestClaim => ({
  type: 'guest-claim',
  conversation,
  turn: 0,
  round: 1,
  ordinals: [0],
  owner,
  claim: 'c',
  ...of,
})
const two = round('a.1', { calls: [{}, {}] })
const wonBy = (folded: { to(port: 'activity'): { type: string }[] }): unknown[] =>
  folded
    .to('activity')
    .flatMap((message) =>
      message.type === 'guest-claimed' ? [Reflect.get(message, 'ordinals')] : [],
    )

it('the first claim of a call wins, and its owner wins it again', () => {
  const first = given(guest, two).when(claim('p'))
  expect(wonBy(first)).toEqual([[0]])
  const second = first.when(claim('q', { ordinals: [0, 1] }))
  expect(wonBy(second)).toEqual([[1]])
  expect(wonBy(second.when(claim('p', { ordinals: [0, 1] })))).toEqual([[0]])
})

it('a call with a result has no new owner', () => {
  const ran = given(guest, two, results('running', { results: [result('a.1')] }))
  expect(wonBy(ran.when(claim('p', { ordinals: [0, 1] })))).toEqual([[1]])
})

it('only the owner of a call wins it after the round', () => {
  const over = given(guest, two, claim('p'), outcome(0, 1))
  expect(wonBy(over.when(claim('p', { ordinals: [0, 1] })))).toEqual([[0]])
  expect(wonBy(over.when(claim('q', { ordinals: [0, 1] })))).toEqual([[]])
})

it('a claim of another turn or round, or without a turn, wins nothing', () => {
  expect(wonBy(given(guest).when(claim('p')))).toEqual([[]])
  const open = given(guest, two)
  expect(wonBy(open.when(claim('p', { turn: 7 })))).toEqual([[]])
  expect(wonBy(open.when(claim('p', { round: 2 })))).toEqual([[]])
})

it('a claim waits for no round, and a guest that has gone on runs no further call', () => {
  const waiting = given(guest, two, claim('p'), request('r1', ['a.1']))
  expect(waiting.state?.pending).toHaveLength(1)
  expect(wonBy(waiting.when(claim('p', { ordinals: [0, 1] })))).toEqual([[0]])
})

it('a claim with an owner, a name or calls above the limits gets no answer', () => {
  const open = given(guest, two)
  const ordinals = Array.from({ length: limits.responseCallsMax + 1 }, (_, at) => at)
  expect(wonBy(open.when(claim('p', { ordinals })))).toEqual([])
  expect(wonBy(open.when(claim('')))).toEqual([])
  const long = 'x'.repeat(limits.guestKeyBytesMax + 1)
  expect(wonBy(open.when(claim(long)))).toEqual([])
  expect(wonBy(open.when(claim('p', { claim: long })))).toEqual([])
})
