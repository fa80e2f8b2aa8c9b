// The identity of rounds through a host that rewrites its history: call ids name a round where its words
// do not, and only as far as they identify it.

import { describe, expect, it } from '@jest/globals'
import { guestAliasesMax } from '../../../services/guest/identity.ts'
import { guest } from '../../../services/guest/reducer.ts'
import type { GuestAdvice } from '../../../shared/contract/messages.ts'
import { roundKey, wordsHash } from '../../../shared/transcript/round-key.ts'
import { given } from '../../support/given.ts'
import { all, conversation, only, outcome, request, result, results, round } from './samples.ts'

const keyOf = (command: string, ids = ['id-0'], n = 1) =>
  roundKey(
    wordsHash({ text: '', calls: ids.map((id) => ({ id, name: 'exec', arguments: command })) }),
    n,
  )
/** The same calls as the model sent them and as the host shows them. */
const sent = keyOf('{"cmd":"cd /w && ls"}')
const shown = keyOf('{"cmd":"ls"}')
const other = keyOf('{"cmd":"cat a"}')

const asked = given(guest, request('r0'))
const proposed = asked.when(round(sent, { after: '' }))

function unknownIn(records: ReturnType<typeof given>['records']): string[] {
  const advice = records
    .map(({ message }) => message)
    .filter((message): message is GuestAdvice => message.type === 'guest-advice')
  return advice.flatMap(({ unknown }) => unknown)
}

describe('a round of a history in other words', () => {
  it('is the outstanding round with its call ids, and its result counts for it', () => {
    const { records } = proposed.when(request('r1', [shown], { results: [result(shown)] }))
    expect(unknownIn(records)).toEqual([])
    expect(only(records, 'outcome')).toMatchObject({ round: 1, result: { status: 'ok' } })
  })

  it('stays that round in later requests, also when its turn is over and opens again', () => {
    const first = proposed.when(request('r1', [shown], { results: [result(shown)] }))
    const over = first.when(outcome(0, 1))
    const second = over.when(request('r2', [shown]))
    expect(unknownIn(second.records)).toEqual([])
    const ended = second.when(results('turn_end', { keys: [shown] }))
    expect(unknownIn(ended.when(request('r3', [shown])).records)).toEqual([])
  })

  it('is known by its ids in any order', () => {
    const ids = ['id-0', 'id-1']
    const calls = [{ id: 'id-0' }, { id: 'id-1', ordinal: 1 }]
    const parallel = asked.when(round(keyOf('{"cmd":"cd /w && ls"}', ids), { calls, after: '' }))
    const turned = keyOf('{"cmd":"ls"}', ids.toReversed())
    const { records } = parallel.when(request('r1', [turned]))
    expect(unknownIn(records)).toEqual([])
  })

  it('is a new round if the history has its ids twice', () => {
    const over = proposed.when(outcome(0, 1))
    const { records } = over.when(request('r1', [shown, other]))
    expect(unknownIn(records)).toEqual([shown, other])
  })

  it('is a new round if the turn has its ids twice', () => {
    const both = proposed
      .when(outcome(0, 1))
      .when(round(other, { after: shown }))
      .when(outcome(0, 2))
    expect(unknownIn(both.when(request('r1', [shown])).records)).toEqual([shown])
  })

  it('is a new round at a place with two requests', () => {
    const retried = proposed.when(request('r1')).when(outcome(0, 1))
    const { records } = retried.when(request('r2', [shown], { results: [result(shown)] }))
    expect(unknownIn(records)).toEqual([shown])
  })

  it('is known by its ids if a front repeats its own request', () => {
    const repeated = proposed.when(request('r0.1'))
    const { records } = repeated.when(request('r1', [shown], { results: [result(shown)] }))
    expect(unknownIn(records)).toEqual([])
  })

  it('is proposed by no front that takes it from a history, once the round is known', () => {
    const late = proposed.when(round(shown, { isShown: true, after: '' }))
    expect(late.records.map(({ message }) => message.type)).toEqual(['guest-advice'])
    const { records } = late.when(results('running', { results: [result(shown)] }))
    expect(only(records, 'outcome')).toMatchObject({ round: 1, result: { status: 'ok' } })
  })

  it('is that round in many spellings, of which the newest stay in the state', () => {
    let over = proposed.when(outcome(0, 1))
    for (let n = 0; n <= guestAliasesMax; n += 1) {
      over = over.when(request(`r${n + 1}`, [keyOf(`{"cmd":"ls ${n}"}`)]))
      expect(unknownIn(over.records)).toEqual([])
    }
    expect(over.state?.turn?.identities.aliases.size).toBe(guestAliasesMax)
    expect(unknownIn(over.when(request('again', [keyOf('{"cmd":"ls 0"}')])).records)).toEqual([])
  })

  it('is known by a key of an older version, which has no ids', () => {
    const old = shown.replace(/[0-9a-f]{16}\./, '.')
    const before = asked.when(round(old)).when(outcome(0, 1))
    expect(unknownIn(before.when(request('r1', [shown])).records)).toEqual([])
  })
})

describe('a round after a message of the user in the middle of its turn', () => {
  const live = { after: '' }
  const first = given(guest, request('r0', [], { prompt: 'p1' })).when(round(sent, live))
  const former = { prompt: 'p1', keys: [shown], results: [result(shown)] }
  const steering = request('r1', [], { prompt: 'p2', former })
  const waited = first.when(steering).when(outcome(0, 1))
  const cameLater = first.when(outcome(0, 1)).when(steering)
  const sentNext = keyOf('{"cmd":"cd /w && cat b"}', ['id-1'])
  const shownNext = keyOf('{"cmd":"cat b"}', ['id-1'])

  it.each([
    ['waited for the round before it', waited],
    ['came when the round before it was over', cameLater],
  ])('is known by its call ids, if the request %s', (_, steered) => {
    const next = steered.when(round(sentNext, { ...live, calls: [{ id: 'id-1' }] }))
    const seen = [result(shownNext, { callId: 'id-1' })]
    const { records } = next.when(request('r2', [shownNext], { prompt: 'p2', results: seen }))
    expect(unknownIn(records)).toEqual([])
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })

  it.each([
    ['waited for the round before it', waited],
    ['came when the round before it was over', cameLater],
  ])('is not the round before it with the same ids, if the request %s', (_, steered) => {
    const later = keyOf('{"cmd":"cat b"}')
    const { records } = steered.when(request('r2', [later], { prompt: 'p2' }))
    expect(unknownIn(records)).toEqual([later])
  })

  it.each([
    ['waited for the round before it', true],
    ['came when the round before it was over', false],
  ])('counts on for a front that hides rounds, if the request %s', (_, waits) => {
    const hiding = { hides: true, after: '' }
    const asks = request('r1', [], { prompt: 'p2', former: { ...former, keys: [sent] } })
    const outstanding = given(guest, request('r0', [], { prompt: 'p1' })).when(round(sent, hiding))
    const steered = waits
      ? outstanding.when(asks).when(outcome(0, 1))
      : outstanding.when(outcome(0, 1)).when(asks)
    expect(all(steered.records, 'guest-advice').at(-1)?.over).toEqual([sent])
    const again = keyOf('{"cmd":"cd /w && ls"}', ['id-0'], 2)
    const next = steered.when(round(again, hiding))
    const seen = { prompt: 'p2', results: [result(sent)] }
    const { records } = next.when(request('r2', [sent], seen))
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })
})

describe("a round in the model's own words", () => {
  it('is a new round if it has the ids of another one: ids repeat', () => {
    const over = proposed.when(outcome(0, 1)).when(request('r1', [shown]))
    const { records } = over.when(round(other, { after: shown }))
    expect(only(records, 'round-proposed')).toMatchObject({ conversation, round: 2 })
  })

  it('is the round that a front has taken from a history before it came', () => {
    const fed = asked.when(round(shown, { isShown: true, after: '' }))
    const { records } = fed.when(round(sent, { after: '' }))
    expect(records.map(({ message }) => message.type)).toEqual(['guest-advice'])
    const elsewhere = fed.when(outcome(0, 1)).when(round(sent, { after: shown }))
    expect(only(elsewhere.records, 'round-proposed').round).toBe(2)
  })
})

describe('an answer that its front counts on, because the history does not show all rounds', () => {
  const live = { hides: true, after: '' }
  const over = asked
    .when(round(sent, live))
    .when(request('r1', [shown]))
    .when(outcome(0, 1))
  const next = keyOf('{"cmd":"cd /w && ls"}', ['id-0'], 2)
  const again = keyOf('{"cmd":"ls"}', ['id-0'], 2)
  const overIn = (records: typeof over.records) =>
    all(records, 'guest-advice').map((advice) => advice.over)

  it('has the newest round that is over in the advice, in the words of the model', () => {
    expect(overIn(over.records).at(-1)).toEqual([sent])
  })

  it('counts no round that its request shows, and none of a front that only observes', () => {
    expect(overIn(over.when(request('r2', [shown, sent])).records)).toEqual([[]])
    expect(overIn(over.when(request('r2', [shown], { blocking: false })).records)).toEqual([[]])
  })

  it('does not count on after the outstanding round: a retry joins it', () => {
    const retried = asked.when(round(sent, live)).when(request('r1'))
    expect(overIn(retried.records)).toEqual([[]])
    const joined = retried.when(round(sent, live))
    expect(all(joined.records, 'round-proposed')).toEqual([])
    expect(all(joined.records, 'verdicts-requested')).toHaveLength(1)
  })

  it('counts on in a turn that is over and opens again', () => {
    const ended = over.when(results('turn_end', { keys: [shown] }))
    expect(overIn(ended.when(request('r3', [shown])).records)).toEqual([[sent]])
  })

  it('is shown by the request with one round more', () => {
    const second = over.when(round(next, { ...live, after: shown }))
    const keys = [shown, again]
    const { records } = second.when(request('r2', keys, { results: [result(again)] }))
    expect(unknownIn(records)).toEqual([])
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })

  it('is shown under the key of an earlier round, if its host has dropped that one', () => {
    const dropped = over.when(request('r2')).when(round(next, live))
    const { records } = dropped.when(request('r3', [sent], { results: [result(sent)] }))
    expect(unknownIn(records)).toEqual([])
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })

  it('is shown by the request after the newest one that it has answered', () => {
    const keys = [shown, keyOf('{"cmd":"ls"}', ['id-0'], 2)]
    const joined = over
      .when(request('r2', [other]))
      .when(round(next, { ...live, after: other }))
      .when(request('r3', [shown]))
      .when(round(next, { ...live, after: shown }))
    const { records } = joined.when(request('r4', keys, { results: [result(again)] }))
    expect(unknownIn(records)).toEqual([])
    expect(only(records, 'outcome')).toMatchObject({ round: 2, result: { status: 'ok' } })
  })

  it('is not shown by a late copy of an earlier request', () => {
    const keys = [sent, next]
    const second = over.when(request('r2', [sent])).when(round(next, { ...live, after: sent }))
    const third = second.when(request('r3', keys)).when(outcome(0, 2))
    const newest = keyOf('{"cmd":"cd /w && ls"}', ['id-0'], 3)
    const waiting = third.when(round(newest, { ...live, after: next }))
    const late = waiting.when(request('r2', [sent], { results: [result(sent)] }))
    expect(all(late.records, 'outcome')).toEqual([])
  })

  it('is not shown by a request with another round, or if its own request came twice', () => {
    const second = over.when(round(next, { ...live, after: shown }))
    const strange = keyOf('{"cmd":"ls"}', ['id-7'])
    expect(unknownIn(second.when(request('r2', [shown, strange])).records)).toEqual([strange])
    const twice = second.when(request('r2', [shown])).when(request('r3', [shown, again]))
    expect(unknownIn(twice.records)).toEqual([again])
  })
})
