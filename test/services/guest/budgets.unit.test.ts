// The records of a guest whose model requests are under budgets.

import { describe, expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import type { BudgetUse } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { conversation, policyWith, request, results, round } from './samples.ts'

const refusal = 'the budget default/tenant/day/tokens is reached: 48 tokens of 1 tokens'
const reached: BudgetUse = {
  budget: {
    id: 'default/tenant/day/tokens',
    subject: '',
    window: 'day',
    unit: 'tokens',
    soft: 10,
    hard: null,
  },
  used: 48,
}

describe('a guest under a budget', () => {
  it('has a turn that ends with the class budget when a budget refuses its request', () => {
    const folded = given(guest, request('r1')).when(results('turn_end', { refusal }))
    expect(folded.to('activity')).toContainEqual(
      expect.objectContaining({
        type: 'turn-finished',
        outcome: 'failed',
        class: 'budget',
        reason: refusal,
      }),
    )
  })

  it('has a turn that ends with the class of the refusal when its front ends it', () => {
    const end = results('turn_end', { refusal: 'its calls', refusalClass: 'no_progress' })
    expect(given(guest, request('r1')).when(end).to('activity')).toContainEqual(
      expect.objectContaining({
        type: 'turn-finished',
        outcome: 'failed',
        class: 'no_progress',
        reason: 'its calls',
      }),
    )
  })

  it('has the values that its newest rules name hidden in the reason of the end', () => {
    const policy = policyWith({ redact: [{ name: 'email', pattern: null, path: null }] })
    const end = results('turn_end', { refusal: 'ann@example.org used 48 tokens', policy })
    expect(given(guest, request('r1')).when(end).to('activity')).toContainEqual(
      expect.objectContaining({ type: 'turn-finished', reason: '[email] used 48 tokens' }),
    )
  })

  it('opens its refused turn again with the round of a later request', () => {
    const folded = given(guest, request('r1'), results('turn_end', { refusal }), request('r2'))
    const again = folded.when(round('a.1'))
    expect(again.to('next')).toMatchObject([{ type: 'round-proposed' }])
    expect(again.to('activity')).toContainEqual(expect.objectContaining({ type: 'turn-started' }))
  })

  it('reports a reached soft budget as an event of its turn', () => {
    const folded = given(guest, request('r1')).when(results('running', { reached: [reached] }))
    expect(folded.to('activity')).toEqual([
      {
        type: 'budget-reached',
        conversation,
        turn: 0,
        round: 0,
        tenant: 'default',
        ...reached,
      },
    ])
  })

  it('reports a soft budget that a request outside a turn found reached', () => {
    const folded = given(guest).when(results('running', { turnKey: '-', reached: [reached] }))
    expect(folded.to('activity')).toMatchObject([{ type: 'budget-reached', turn: -1 }])
    expect(folded.state).toBeUndefined()
  })
})
