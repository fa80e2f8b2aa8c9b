import { describe, expect, it } from '@jest/globals'
import { guestEarlyMs } from '../../../../services/executor/offered/offered-calls.ts'
import { executor } from '../../../../services/executor/reducer.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  CallResult,
  GuardVerdict,
  GuestCallVerdict,
  Message,
  Outcome,
  RoundCleared,
} from '../../../../shared/contract/messages.ts'
import { at, given } from '../../../support/given.ts'
import { guardVerdictWith, verdictWith } from '../../../support/messages.ts'
import {
  callOf,
  cancel,
  claim,
  claimMs,
  look,
  ok,
  outcome,
  policy,
  roundCleared,
  tick,
} from '../samples.ts'

const place = { conversation: 'guest:coder:s1', turn: 7 }
const cleared = (fields: Partial<RoundCleared> = {}) => roundCleared({ ...place, ...fields })
const reported = (result: CallResult | null, fields: Partial<Outcome> = {}) =>
  outcome('guest', result, { ...place, ...fields })
const requested = { type: 'verdicts-requested', ...place, round: 1 } as const
const guard = {
  name: 'shell',
  version: '1',
  tools: [{ pattern: '*', mode: 'enforce' as const }],
  deadlineMs: 20_000,
  onTimeout: 'deny' as const,
  rules: null,
}
const guarded = cleared({ policy: { ...policy, guards: [guard] } })
const passes: GuardVerdict = guardVerdictWith({
  ...place,
  clearedAt: 1,
  enforces: [0],
  deadlineMs: 20_000,
  verdicts: [verdictWith()],
})

function verdicts(records: { message: Message }[]): GuestCallVerdict['verdict'][][] {
  return records.flatMap(({ message }) =>
    message.type === 'guest-verdicts' ? [message.calls.map(({ verdict }) => verdict)] : [],
  )
}

function resultsOf(records: { message: Message }[]): CallResult[] {
  return records.flatMap(({ message }) =>
    message.type === 'round-executed' ? message.results : [],
  )
}

describe('the offer of a call to its guest (OFFERED-CALLS-1)', () => {
  const offered = given(executor, cleared())

  it('is the claim: no executor has a task, and no claim counts', () => {
    expect(offered.wants).toEqual([])
    expect(offered.state?.rounds[0]?.calls[0]?.phase).toMatchObject({
      kind: 'claimed',
      owner: 'guest',
      try: 1,
    })
    const claimed = offered.when(claim('o', place)).when(outcome('o', ok(), place))
    expect(resultsOf(claimed.all)).toEqual([])
  })

  it('is in the verdicts, with the deadline of the call', () => {
    expect(offered.to('activity')).toEqual([
      {
        type: 'guest-verdicts',
        ...place,
        round: 1,
        calls: [
          {
            ordinal: 0,
            callId: 'id0',
            name: 'mail',
            verdict: 'allow',
            text: '',
            code: '',
            until: 1 + claimMs,
            isOver: false,
            guard: '',
          },
        ],
      },
    ])
  })

  it('ends with the first outcome of the guest', () => {
    const over = offered.when(reported(ok('sent')))
    expect(resultsOf(over.records)).toMatchObject([{ status: 'ok', text: 'sent' }])
    expect(over.when(reported(ok('other'))).records).toEqual([])
  })

  it('ends by its deadline with an unknown outcome, and is never tried again', () => {
    const late = given(executor, cleared({ calls: [callOf(0, { name: 'look' })] }))
    expect(late.due).toBe(1 + claimMs)
    const unit = `["${place.conversation}",7]`
    const over = late.when(at(1 + claimMs, { ...tick, ...place, unit }))
    expect(over.wants).toEqual([])
    expect(look.idempotent).toBe(true)
    expect(resultsOf(over.records)).toMatchObject([{ status: 'unknown' }])
  })

  it('of a conversation of a user stays a claim of an executor', () => {
    expect(given(executor, roundCleared()).wants).toHaveLength(1)
    const forged = given(executor, roundCleared()).when(outcome('guest', ok()))
    expect(resultsOf(forged.all)).toEqual([])
  })

  it('is not skipped by a cancel: the guest may be running it', () => {
    const cancelled = offered.when({ ...cancel, ...place })
    expect(resultsOf(cancelled.records)).toEqual([])
    expect(resultsOf(cancelled.when(reported(ok())).records)).toMatchObject([{ status: 'ok' }])
  })

  it('is not undone by a front that did not run it: another may have (OFFERED-CALLS-2)', () => {
    const skipped = offered.when(reported(ok('', { status: 'skipped' })))
    expect(skipped.records).toEqual([])
    expect(resultsOf(skipped.when(reported(ok())).records)).toMatchObject([{ status: 'ok' }])
  })
})

describe('a call of a guest that waits for a guard', () => {
  const waiting = given(executor, guarded)

  it('waits, runs with the verdict, and its end shows nothing new', () => {
    expect(verdicts(waiting.records)).toEqual([['pending']])
    const running = waiting.when(passes)
    expect(verdicts(running.records)).toEqual([['allow']])
    expect(verdicts(running.when(reported(ok())).records)).toEqual([])
  })

  it('is refused with the text of the guard', () => {
    const vetoed = waiting.when({
      ...passes,
      verdicts: [verdictWith({ verdict: 'deny', code: 'rm', text: 'no rm' })],
    })
    expect(vetoed.to('activity')).toContainEqual(
      expect.objectContaining({
        type: 'guest-verdicts',
        calls: [expect.objectContaining({ verdict: 'deny', text: expect.stringMatching('no rm') })],
      }),
    )
  })

  it('has the result of a guest that did not wait, and no other front may run it', () => {
    const over = waiting.when(reported(ok('ran')))
    expect(resultsOf(over.records)).toMatchObject([{ status: 'ok', text: 'ran' }])
    expect(verdicts(over.records)).toEqual([['deny']])
  })

  it('that the guest did not run is skipped', () => {
    const over = waiting.when(reported(ok('', { status: 'skipped', reason: 'not run' })))
    expect(resultsOf(over.records)).toMatchObject([{ status: 'skipped' }])
  })
})

describe('an outcome that overtakes its round (OFFERED-CALLS-4)', () => {
  const early = given(executor, reported(ok('early')))

  it('counts when the round arrives', () => {
    expect(early.records).toEqual([])
    const over = early.when(cleared())
    expect(resultsOf(over.records)).toMatchObject([{ text: 'early' }])
    expect(verdicts(over.records)).toEqual([['allow']])
  })

  it('is forgotten after a minute', () => {
    expect(early.due).toBe(1 + guestEarlyMs)
    const unit = `["${place.conversation}",7]`
    const later = early.when(at(1 + guestEarlyMs, { ...tick, ...place, unit }))
    expect(later.state).toBeUndefined()
  })

  it('of another round does not count, and the newest round is kept', () => {
    const next = early.when(reported(ok('second'), { round: 2 })).when(cleared())
    expect(resultsOf(next.all)).toEqual([])
    const over = next.when(reported(ok('first'))).when(cleared({ round: 2 }))
    expect(resultsOf(over.all).map(({ text }) => text)).toEqual(['first', 'second'])
  })

  it('is dropped beyond the bound of a round', () => {
    const large = 'x'.repeat(limits.resultBytesMax)
    let folded = early
    for (let ordinal = 1; ordinal < 12; ordinal++)
      folded = folded.when(reported(ok(large, { ordinal }), { ordinal }))
    expect(folded.state?.early?.bytes).toBeLessThanOrEqual(limits.roundResultsBytesMax)
    expect(folded.state?.early?.outcomes.length).toBeLessThan(12)
  })
})

describe('verdicts that a front requests', () => {
  it('are those of the whole round, also if nothing has changed', () => {
    const two = given(executor, cleared({ calls: [callOf(0), callOf(1)] })).when(reported(ok()))
    expect(verdicts(two.when(requested).records)).toEqual([['allow', 'allow']])
  })

  it('of an unknown round are none', () => {
    expect(given(executor, requested).state).toBeUndefined()
    expect(given(executor, cleared()).when({ ...requested, round: 2 }).records).toEqual([])
  })
})
