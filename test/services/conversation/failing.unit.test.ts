// Internal failures: in another stage, and in the conversation itself (R8).

import { describe, expect, it } from '@jest/globals'
import { conversation } from '../../../services/conversation/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { missingRound as notes } from '../../../shared/model-texts/requests.ts'
import { at, given } from '../../support/given.ts'
import {
  cancels,
  carriedIn,
  fallback,
  inRoundTwo,
  names,
  only,
  outcome,
  says,
  tick,
  turnFailed,
} from './samples.ts'

const givenUp = [
  'history: history-entry',
  'model: cancel',
  'verdict: cancel',
  'tools: cancel',
  'activity: turn-finished',
  'self: carried',
]

describe('turn-failed', () => {
  it.each(['llm-gateway', 'accumulator', 'validator'])(
    'from %s ends the open turn with the fallback and the note that nothing ran',
    (stage) => {
      const over = inRoundTwo.when(at(700, turnFailed({ stage })))
      expect(names(over.records)).toEqual(givenUp)
      expect(only(over.records, 'history-entry')).toMatchObject({
        round: 2,
        response: null,
        results: [],
        nudge: 'text of the nudge',
        note: notes.brokenInTheModel,
      })
      expect(over.to('tools')).toEqual([
        { type: 'cancel', conversation: 'c', turn: 0, round: 2, expiresAt: 60_000 },
      ])
      expect(only(over.records, 'turn-finished')).toMatchObject({
        outcome: 'failed',
        class: 'internal',
        reply: fallback,
        reason: `internal failure in ${stage}: it threw`,
        totals: { rounds: 2, wallMs: 700 },
      })
    },
  )

  it.each(['loop-detector', 'executor', 'approval', 'a-stage-of-later'])(
    'from %s adds the note that calls may have run',
    (stage) => {
      const over = inRoundTwo.when(turnFailed({ stage }))
      expect(only(over.records, 'history-entry').note).toBe(notes.brokenInTheTools)
      expect(notes.brokenInTheTools).toContain('may have run')
    },
  )

  it('without a turn ends the open turn', () => {
    expect(names(inRoundTwo.when(turnFailed({ turn: null })).records)).toEqual(givenUp)
  })

  it('of another turn changes nothing', () => {
    const stray = inRoundTwo.when(turnFailed({ turn: 5 }))
    expect(stray.records).toEqual([])
    expect(stray.state).toEqual(inRoundTwo.state)
  })

  it('leaves a clean start to the next turn', () => {
    const over = inRoundTwo.when(says('m2')).when(turnFailed())
    expect(over.state).toMatchObject({ phase: 'carrying', recentMessageIds: ['m1', 'm2'] })
    expect(only(over.when(carriedIn(over.records)).records, 'turn-started')).toMatchObject({
      messageId: 'm2',
    })
  })

  it('ends the wait for a cancelled turn without a second answer', () => {
    const over = inRoundTwo.when(cancels('m1')).when(turnFailed({ stage: 'executor' }))
    expect(names(over.records)).toEqual(
      givenUp.filter((name) => name !== 'activity: turn-finished'),
    )
    expect(over.to('tools')).toEqual([
      { type: 'cancel', conversation: 'c', turn: 0, round: 2, expiresAt: 60_000 },
    ])
  })

  it('without a turn does not shorten a wait', () => {
    const waiting = inRoundTwo.when(cancels('m1'))
    expect(waiting.when(turnFailed({ turn: null, stage: 'executor' })).state).toEqual(waiting.state)
  })

  it.each([
    ['carrying', inRoundTwo.when(outcome(0, 2, { text: 'done' }))],
    ['idle', idleAfter(inRoundTwo)],
  ])('changes nothing while the conversation is %s', (_, folded) => {
    const after = folded.when(turnFailed({ turn: null }))
    expect(after.records).toEqual([])
    expect(after.state).toEqual(folded.state)
  })

  it('opens nothing', () => {
    expect(given(conversation, turnFailed()).state).toBeUndefined()
  })

  it('of the conversation itself changes nothing, because `failed` has handled it', () => {
    expect(inRoundTwo.when(turnFailed({ stage: 'conversation', turn: null })).records).toEqual([])
  })
})

describe('a record that makes the conversation throw', () => {
  it('and is a message is answered and dropped, and the open turn goes on', () => {
    for (const folded of [inRoundTwo, inRoundTwo.when(cancels('m1')), idleAfter(inRoundTwo)]) {
      const failed = folded.whenFails(says('m2'))
      expect(names(failed.records)).toEqual(['activity: turn-finished'])
      expect(only(failed.records, 'turn-finished')).toMatchObject({
        messageId: 'm2',
        outcome: 'failed',
        class: 'internal',
        reply: fallback,
        reason: 'internal failure in conversation: it threw',
      })
      expect(failed.state).toEqual(folded.state)
    }
    const first = given(conversation).whenFails(says('m1'))
    expect(only(first.records, 'turn-finished')).toMatchObject({
      messageId: 'm1',
      class: 'internal',
    })
    expect(first.state).toBeUndefined()
  })

  it('and is a repeat of an accepted message changes nothing, because its turn reports its end', () => {
    for (const folded of [inRoundTwo, inRoundTwo.when(cancels('m1')), idleAfter(inRoundTwo)]) {
      const failed = folded.whenFails(says('m1'))
      expect(failed.records).toEqual([])
      expect(failed.state).toEqual(folded.state)
    }
  })

  it.each([
    ['an outcome', outcome(0, 2, { calls: 1 })],
    ['a tick', at(60_000, tick())],
    ['a cancel', cancels('m1')],
  ])('and is %s of the open turn ends it, and the next turn starts clean', (_, record) => {
    const failed = inRoundTwo.when(says('m2')).whenFails(record)
    expect(names(failed.records)).toEqual(givenUp)
    expect(only(failed.records, 'turn-finished')).toMatchObject({
      messageId: 'm1',
      outcome: 'failed',
      class: 'internal',
    })
    expect(only(failed.records, 'history-entry')).toMatchObject({
      round: 2,
      response: null,
      note: notes.brokenInTheTools,
    })
    expect(carriedIn(failed.records).state?.queue).toMatchObject([{ messageId: 'm2' }])
    expect(only(failed.when(carriedIn(failed.records)).records, 'turn-started')).toMatchObject({
      messageId: 'm2',
    })
  })

  it('and ends a wait gives no second answer', () => {
    const failed = inRoundTwo.when(cancels('m1')).whenFails(outcome(0, 2))
    expect(names(failed.records)).toEqual(
      givenUp.filter((name) => name !== 'activity: turn-finished'),
    )
  })

  it('and is a carried drops the message that it would have opened, and carries the others', () => {
    const over = inRoundTwo
      .when(says('m2'))
      .when(says('m3'))
      .when(outcome(0, 2, { text: 'done' }))
    const failed = over.whenFails(carriedIn(over.records))
    expect(names(failed.records)).toEqual(['activity: turn-finished', 'self: carried'])
    expect(only(failed.records, 'turn-finished')).toMatchObject({
      turn: 5,
      messageId: 'm2',
      class: 'internal',
    })
    expect(carriedIn(failed.records)).toMatchObject({
      from: 5,
      state: { queue: [{ messageId: 'm3' }], recentMessageIds: ['m1', 'm2', 'm3'] },
    })
    expect(only(failed.when(carriedIn(failed.records)).records, 'turn-started')).toMatchObject({
      messageId: 'm3',
    })
  })

  it('and is a carried without messages closes the conversation instead of throwing for ever', () => {
    const over = inRoundTwo.when(outcome(0, 2, { text: 'done' }))
    expect(over.whenFails(carriedIn(over.records)).state).toBeUndefined()
    expect(over.whenFails(carriedIn(over.records)).records).toEqual([])
  })

  it('and is a carried that does not count is written again', () => {
    const over = inRoundTwo.when(outcome(0, 2, { text: 'done' }))
    const failed = over.when(says('m2')).whenFails(carriedIn(over.records)) // offset 4
    expect(carriedIn(failed.records)).toMatchObject({
      from: 4,
      state: { queue: [{ messageId: 'm2' }] },
    })
  })

  it('while a carried is in flight is dropped', () => {
    const over = inRoundTwo.when(outcome(0, 2, { text: 'done' }))
    const failed = over.whenFails(cancels('m1'))
    expect(failed.records).toEqual([])
    expect(failed.state).toEqual(over.state)
  })

  it('while the conversation is idle is dropped, and a tick still ends the conversation', () => {
    const idle = idleAfter(inRoundTwo)
    expect(idle.whenFails(cancels('m1')).state).toEqual(idle.state)
    const ticked = idle.whenFails(at(20 + limits.conversationIdleMs, tick()))
    expect(carriedIn(ticked.records).state).toBeNull()
  })

  it('opens nothing', () => {
    const failed = given(conversation).whenFails(outcome(0, 1))
    expect(failed.records).toEqual([])
    expect(failed.state).toBeUndefined()
  })
})

function idleAfter(turn: typeof inRoundTwo): typeof inRoundTwo {
  const over = turn.when(at(15, outcome(0, 2, { text: 'done' })))
  return over.when(at(20, carriedIn(over.records)))
}
