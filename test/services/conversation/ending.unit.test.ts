// Early ends of a turn (cancel, wall limit), the wait for the outstanding round, carried records,
// and the end of a conversation.

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
  opened,
  outcome,
  says,
  search,
  settingsWith,
  tick,
} from './samples.ts'

const settings = settingsWith({ wallMs: 60_000 })
const { startWithinMs, graceMs } = settings.policy
const stops = ['model: cancel', 'verdict: cancel', 'tools: cancel', 'activity: turn-finished']
const waitedOut = 60_000 + startWithinMs + search.timeoutMs + 2 * graceMs

describe('a cancel of the open turn', () => {
  const cancelled = inRoundTwo.when(at(500, cancels('m1')))

  it('stops the outstanding round in all stages and answers the user at once', () => {
    expect(names(cancelled.records)).toEqual(stops)
    expect(cancelled.to('tools')).toEqual([
      { type: 'cancel', conversation: 'c', turn: 0, round: 2, expiresAt: 60_000 },
    ])
    expect(cancelled.to('model')).toEqual(cancelled.to('tools'))
    expect(cancelled.to('verdict')).toEqual(cancelled.to('tools'))
    expect(only(cancelled.records, 'turn-finished')).toEqual({
      type: 'turn-finished',
      conversation: 'c',
      turn: 0,
      messageId: 'm1',
      outcome: 'cancelled',
      reply: fallback,
      reason: 'the client cancelled it',
      class: 'cancelled',
      cap: null,
      totals: { rounds: 2, calls: 1, inputTokens: 0, outputTokens: 0, wallMs: 500 },
    })
  })

  it('waits for the outcome until loop-detector and executor must have reported it', () => {
    expect(cancelled.state).toMatchObject({ phase: 'waiting', until: waitedOut })
    expect(cancelled.due).toBe(waitedOut)
  })

  it('opens the next turn only after the outcome', () => {
    const queued = cancelled.when(says('m2'))
    expect(queued.records).toEqual([])
    const over = queued.when(outcome(0, 2, { calls: 2 }))
    expect(names(over.records)).toEqual([
      'history: history-entry',
      'verdict: turn-ended',
      'tools: turn-ended',
      'self: carried',
    ])
    expect(only(over.records, 'history-entry')).toMatchObject({
      round: 2,
      nudge: 'text of the nudge',
      results: outcome(0, 2, { calls: 2 }).results,
      note: null,
    })
    expect(only(over.when(carriedIn(over.records)).records, 'turn-started')).toMatchObject({
      messageId: 'm2',
    })
  })

  it('uses the outcome of the outstanding round as history only, even an answer', () => {
    const over = cancelled.when(outcome(0, 2, { text: 'too late' }))
    expect(only(over.records, 'history-entry').response?.text).toBe('too late')
    expect(names(over.records)).not.toContain('activity: turn-finished')
  })

  it('gives a round that was cancelled at the model a history entry with a note', () => {
    const over = cancelled.when(
      outcome(0, 2, { failure: { class: 'cancelled', reason: 'the turn was cancelled' } }),
    )
    expect(only(over.records, 'history-entry')).toMatchObject({
      response: null,
      note: 'There is no response in this round: the turn was cancelled',
    })
  })

  it('changes nothing the second time', () => {
    const again = cancelled.when(cancels('m1'))
    expect(again.records).toEqual([])
    expect(again.state).toEqual(cancelled.state)
  })

  it('ignores any other outcome', () => {
    expect(cancelled.when(outcome(0, 1, { text: 'x' })).records).toEqual([])
    expect(cancelled.when(outcome(0, 3, { text: 'x' })).records).toEqual([])
  })

  it('expires at the cap of the operator, if that is earlier', () => {
    const short = opened
      .when(at(10, outcome(0, 1, { calls: 1, caps: { wallMs: 2_000 } })))
      .when(cancels('m1'))
    expect(short.to('tools')).toMatchObject([{ expiresAt: 2_000 }])
    expect(short.due).toBe(waitedOut - 58_000)
  })

  it('waits only for starting and stopping if no tools are offered', () => {
    const folded = given(
      conversation,
      at(0, says('m1', { settings, declarations: [] })),
      cancels('m1'),
    )
    expect(folded.due).toBe(60_000 + startWithinMs + 2 * graceMs)
  })
})

describe('a cancel of another message', () => {
  it('removes a waiting message from the queue', () => {
    const queued = opened.when(says('m2')).when(says('m3'))
    const removed = queued.when(cancels('m2'))
    expect(removed.state?.queue.map(({ messageId }) => messageId)).toEqual(['m3'])
    expect(names(removed.records)).toEqual(['activity: turn-finished'])
    expect(only(removed.records, 'turn-finished')).toMatchObject({
      turn: 3,
      messageId: 'm2',
      outcome: 'cancelled',
      class: 'cancelled',
      reply: fallback,
      totals: { rounds: 0, wallMs: 0 },
    })
  })

  it('removes it while a carried is in flight, which then does not count', () => {
    const carrying = opened.when(says('m2')).when(outcome(0, 1, { text: 'done' }))
    const removed = carrying.when(cancels('m2'))
    expect(only(removed.records, 'turn-finished')).toMatchObject({
      messageId: 'm2',
      outcome: 'cancelled',
    })
    const landed = removed.when(carriedIn(carrying.records)) // offset 4
    expect(landed.records).toEqual([
      {
        to: 'self',
        message: {
          type: 'carried',
          conversation: 'c',
          from: 4,
          state: { queue: [], recentMessageIds: ['m1', 'm2'] },
        },
      },
    ])
    expect(landed.when(carriedIn(landed.records)).state).toMatchObject({ phase: 'idle' })
  })

  it('changes nothing if no such message is open or waits', () => {
    const folded = opened.when(cancels('unknown'))
    expect(folded.records).toEqual([])
    expect(folded.state).toEqual(opened.state)
  })

  it('changes nothing if the conversation is idle', () => {
    const over = opened.when(outcome(0, 1, { text: 'done' }))
    const idle = over.when(carriedIn(over.records))
    expect(idle.when(cancels('m1')).records).toEqual([])
    expect(idle.when(cancels('m1')).state).toEqual(idle.state)
  })
})

describe('the wall limit', () => {
  const late = inRoundTwo.when(says('m2')).when(at(60_000, tick()))

  it('stops the open turn like a cancel, and is named in its end', () => {
    expect(names(late.records)).toEqual(stops)
    expect(only(late.records, 'turn-finished')).toMatchObject({
      messageId: 'm1',
      outcome: 'capped',
      cap: 'wall',
      class: 'budget',
      reply: fallback,
      reason: 'the time limit of 60000 ms is reached',
      totals: { rounds: 2, wallMs: 60_000 },
    })
    expect(late.state).toMatchObject({ phase: 'waiting' })
    expect(late.due).toBe(waitedOut)
  })

  it('makes a later cancel change nothing', () => {
    expect(late.when(cancels('m1')).records).toEqual([])
  })

  it('ends the wait with the next tick if the wait is already over', () => {
    const muchLater = inRoundTwo.when(at(10 * waitedOut, tick()))
    expect(muchLater.state).toMatchObject({ phase: 'waiting' })
    expect(muchLater.due).toBe(10 * waitedOut + 1)
    expect(names(muchLater.when(at(10 * waitedOut + 1, tick())).records)).toEqual([
      'history: history-entry',
      'self: carried',
    ])
  })

  it('moves the deadline even if a tool may take no time at all', () => {
    const brief = { ...settings, policy: { ...settings.policy, startWithinMs: 1, graceMs: 0 } }
    const folded = given(conversation, at(0, says('m1', { settings: brief, declarations: [] })))
    const ticked = folded.when(at(60_000, tick()))
    expect(ticked.due).toBe(60_001)
  })
})

describe('the end of a wait without an outcome', () => {
  const waiting = inRoundTwo.when(cancels('m1')).when(says('m2'))
  const over = waiting.when(at(waitedOut, tick()))

  it('adds a note that calls may have run, and carries on, since the cancel closes the other stages', () => {
    expect(names(over.records)).toEqual(['history: history-entry', 'self: carried'])
    expect(only(over.records, 'history-entry')).toEqual({
      type: 'history-entry',
      redact: [],
      conversation: 'c',
      turn: 0,
      round: 2,
      user: null,
      contents: [],
      afterTurn: null,
      response: null,
      results: [],
      nudge: 'text of the nudge',
      note: notes.neverArrived,
    })
    expect(notes.neverArrived).toContain('may have run')
    expect(only(over.when(carriedIn(over.records)).records, 'turn-started')).toMatchObject({
      messageId: 'm2',
    })
  })

  it('makes a later outcome change nothing', () => {
    expect(over.when(outcome(0, 2, { calls: 1 })).records).toEqual([])
  })

  it('comes at its deadline, not before', () => {
    expect(waiting.when(at(waitedOut - 1, tick())).records).toEqual([])
  })
})

describe('an idle conversation', () => {
  const idle = idleAfter(inRoundTwo)

  it('remembers ids for ten minutes, then carries nothing and ends', () => {
    expect(idle.due).toBe(20 + limits.conversationIdleMs)
    const ticked = idle.when(at(20 + limits.conversationIdleMs, tick())) // offset 4
    expect(ticked.records).toEqual([
      { to: 'self', message: { type: 'carried', conversation: 'c', from: 4, state: null } },
    ])
    expect(ticked.due).toBeUndefined()
    expect(ticked.when(carriedIn(ticked.records)).state).toBeUndefined()
  })

  it('goes on if a message comes at the last moment', () => {
    const ticked = idle.when(at(20 + limits.conversationIdleMs, tick()))
    const queued = ticked.when(says('m2')) // offset 5
    expect(queued.records).toEqual([])
    const landed = queued.when(carriedIn(ticked.records)) // offset 6: does not count
    expect(carriedIn(landed.records)).toMatchObject({
      from: 6,
      state: { queue: [{ messageId: 'm2' }], recentMessageIds: ['m1', 'm2'] },
    })
    const next = landed.when(carriedIn(landed.records))
    expect(only(next.records, 'turn-started')).toMatchObject({ turn: 7, messageId: 'm2' })
  })

  it('stays for another period if any other record comes at the last moment', () => {
    const ticked = idle.when(at(20 + limits.conversationIdleMs, tick()))
    const landed = ticked.when(cancels('m1')).when(carriedIn(ticked.records))
    expect(carriedIn(landed.records).state).toEqual({ queue: [], recentMessageIds: ['m1'] })
    const again = landed.when(carriedIn(landed.records))
    expect(again.state).toMatchObject({ phase: 'idle', since: 23 + limits.conversationIdleMs })
  })
})

function idleAfter(turn: typeof inRoundTwo): typeof inRoundTwo {
  const over = turn.when(at(15, outcome(0, 2, { text: 'done' })))
  return over.when(at(20, carriedIn(over.records)))
}

describe('a carried', () => {
  it('opens a conversation that is not open, because the log is read from there', () => {
    const over = opened.when(says('m2')).when(outcome(0, 1, { text: 'done' }))
    const { turn: _, ...started } = only(
      given(conversation, carriedIn(over.records)).records,
      'turn-started',
    )
    expect(started).toMatchObject({ messageId: 'm2' })
  })

  it('without a state leaves a closed conversation closed', () => {
    expect(
      given(conversation, { type: 'carried', conversation: 'c', from: 3, state: null }).state,
    ).toBeUndefined()
  })

  it('that is not the newest record of its unit changes nothing if none is awaited', () => {
    const stray = inRoundTwo.when({ type: 'carried', conversation: 'c', from: 0, state: null })
    expect(stray.records).toEqual([])
    expect(stray.state).toEqual(inRoundTwo.state)
  })

  it('that follows its record counts in any phase, so a fold from the middle becomes correct', () => {
    // it really waits, but the log is read from here
    const seemsOpen = given(conversation, says('m2'))
    const landed = seemsOpen.when({
      type: 'carried',
      conversation: 'c',
      from: 0,
      state: { queue: [], recentMessageIds: ['m1'] },
    })
    expect(landed.state).toEqual({ phase: 'idle', since: 2, queue: [], recentMessageIds: ['m1'] })
  })

  it('that counts is the only record with which the unit begins anew', () => {
    const over = opened.when(outcome(0, 1, { text: 'done' }))
    const place = { offset: 2, time: 9, message: carriedIn(over.records) }
    expect(conversation.react(over.state, { ...place, previous: 1 }).anew).toBe(true)
    const queued = over.when(says('m2'))
    expect(conversation.react(queued.state, { ...place, previous: 2 }).anew).toBeUndefined()
    const next = conversation.react(queued.state, {
      ...place,
      message: { ...place.message, state: queued.state ?? null },
      previous: 1,
    })
    expect(next).toMatchObject({ anew: true, state: { phase: 'open' } })
  })
})
