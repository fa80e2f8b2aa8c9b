// The identity of rounds behind a host that rewrites its history: call ids name a round where its words
// do not, and only as far as they identify it.

import { describe, expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuestAdvice } from '../../../shared/contract/messages.ts'
import { roundKey, wordsHash } from '../../../shared/transcript/round-key.ts'
import { given } from '../../support/given.ts'
import { conversation, only, outcome, request, result, results, round } from './samples.ts'

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
    for (let n = 0; n <= limits.guestAliasesMax; n += 1) {
      over = over.when(request(`r${n + 1}`, [keyOf(`{"cmd":"ls ${n}"}`)]))
      expect(unknownIn(over.records)).toEqual([])
    }
    expect(over.state?.turn?.identities.aliases.size).toBe(limits.guestAliasesMax)
    expect(unknownIn(over.when(request('again', [keyOf('{"cmd":"ls 0"}')])).records)).toEqual([])
  })

  it('is known by a key of an older version, which has no ids', () => {
    const old = shown.replace(/[0-9a-f]{16}\./, '.')
    const before = asked.when(round(old)).when(outcome(0, 1))
    expect(unknownIn(before.when(request('r1', [shown])).records)).toEqual([])
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
