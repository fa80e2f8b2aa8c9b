// The counts of a guest's requests that passed its proxy unjudged.

import { describe, expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { given } from '../../support/given.ts'
import { conversation, request, results } from './samples.ts'

const gemini = { kind: 'Gemini', count: 3 }
const counted = results('running', { turnKey: '-', user: null, unjudged: [gemini] })

describe('requests that passed unjudged', () => {
  it('become activity of their conversation, without a turn and without state', () => {
    const folded = given(guest).when(counted)
    expect(folded.to('activity')).toEqual([
      { type: 'requests-unjudged', conversation, at: 0, requests: [gemini] },
    ])
    expect(folded.state).toBeUndefined()
  })

  it('count also while a turn is open, and change nothing in it', () => {
    const folded = given(guest, request('r1'))
    const { state } = folded
    const then = folded.when(counted)
    expect(then.to('activity')).toMatchObject([{ type: 'requests-unjudged', at: 1 }])
    expect(then.state?.turn?.last).toEqual(state?.turn?.last)
  })

  it.each([
    ['too many kinds', Array.from({ length: limits.unjudgedKindsMax + 2 }, () => gemini)],
    ['no kind', [{ kind: '', count: 1 }]],
    ['a long kind', [{ kind: 'x'.repeat(limits.unjudgedKindBytesMax + 1), count: 1 }]],
    ['no requests', [{ kind: 'Gemini', count: 0 }]],
  ])('do not count with %s', (_, unjudged) => {
    const folded = given(guest).when(results('running', { requestId: 'r', unjudged }))
    expect(folded.to('activity')).toMatchObject([{ type: 'guest-advice', isOpen: false }])
  })
})
