// An operator's stop in the stage guest. Fronts stamp the stops in force on their records.

import { describe, expect, it } from '@jest/globals'
import { guest } from '../../../services/guest/reducer.ts'
import type { StopInForce } from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { outcome, policyWith, request, results, round } from './samples.ts'

const stop: StopInForce = { scope: 'agent', name: 'coder', mode: 'drain', reason: 'wrong files' }
const stops = policyWith({ stops: [stop] })
const reason = 'an operator stopped agent "coder": wrong files'

describe('a guest that an operator stopped', () => {
  it('gets the advice to end with its next request, and none after the release', () => {
    const folded = given(guest, request('r1', [], { policy: stops }))
    expect(folded.to('activity').at(-1)).toMatchObject({ action: 'end', reason, isOpen: true })
    const released = folded.when(request('r2'))
    expect(released.to('activity').at(-1)).toMatchObject({ action: 'none', reason: '' })
  })

  it('gets the advice to end in a turn that is over', () => {
    const ended = given(guest, request('r1'), round('k.1'), outcome(0, 1, { text: 'Done.' }))
    const again = ended.when(request('r2', ['k.1'], { policy: stops }))
    expect(again.to('activity').at(-1)).toMatchObject({ requestId: 'r2', action: 'end', reason })
  })

  it('has the stop in the policy of each round if its front holds calls', () => {
    const held = given(guest, request('r1'), round('k.1', { policy: stops }))
    expect(held.to('next')).toMatchObject([{ policy: { stops: [stop] } }])
    const observed = given(
      guest,
      request('r1', [], { blocking: false }),
      round('k.1', { blocking: false, policy: stops }),
    )
    expect(observed.to('next')).toMatchObject([{ policy: { stops: [] } }])
  })

  it('has a turn that ends with the class stopped and the reason', () => {
    const folded = given(
      guest,
      request('r1', [], { policy: stops }),
      results('turn_end', { policy: stops }),
    )
    expect(folded.to('activity')).toContainEqual(
      expect.objectContaining({
        type: 'turn-finished',
        outcome: 'failed',
        class: 'stopped',
        reason,
      }),
    )
  })

  it('is not stopped by a stop of tools', () => {
    const tools = policyWith({ stops: [{ ...stop, scope: 'tool', name: 'exec' }] })
    const folded = given(guest, request('r1', [], { policy: tools }))
    expect(folded.to('activity').at(-1)).toMatchObject({ action: 'none' })
  })
})
