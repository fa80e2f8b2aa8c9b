import { describe, expect, it } from '@jest/globals'
import { createTurnTally } from '../../../client/bundle/turn-tally.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message, TurnFinished } from '../../../shared/contract/messages.ts'
import { roundStarted, turnFinished, turnStarted } from '../../support/activity.ts'

/** The listed turns of these records of the activity, a second apart. */
function listed(messages: readonly Message[], key = 'c') {
  const tally = createTurnTally(1)
  for (const [offset, message] of messages.entries()) {
    const record: StoredRecord = {
      topic: 'weir.activity',
      partition: 0,
      offset,
      key,
      value: null,
      time: 1_000 * (offset + 1),
      id: undefined,
    }
    tally.add('activity', record, message)
  }
  return tally.turns()
}

const withoutRound = (): TurnFinished => {
  const finished = turnFinished()
  return { ...finished, outcome: 'cancelled', totals: { ...finished.totals, rounds: 0 } }
}

describe('the turns of a bundle', () => {
  it('have the end of a turn that ended before its first round', () => {
    expect(listed([turnStarted(), withoutRound()])).toMatchObject([
      { turn: 7, agent: 'agent', outcome: 'cancelled', endedAt: 2_000, rounds: 0 },
    ])
  })

  it('have no message that opened no turn', () => {
    expect(listed([withoutRound()])).toEqual([])
  })

  it('begin at their first record if the beginning was written twice', () => {
    expect(listed([turnStarted(), roundStarted(2), turnStarted()])).toMatchObject([
      { beganAt: 1_000, outcome: 'open', rounds: 2 },
    ])
  })

  it('have nothing of a record under the key of another conversation', () => {
    expect(listed([turnStarted()], 'other')).toEqual([])
  })
})
