import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { conversationTimeline } from '../../../shared/view/conversation-timeline.ts'
import { type ConversationView, reduce, viewOf } from '../../../shared/view/conversation-view.ts'
import { turnSummary } from '../../../shared/view/filter/summary.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import { resultOf } from '../../../shared/view/round-view.ts'
import { isEndedByAdvice } from '../../../shared/view/turn-view.ts'
import { conversationLog, exec, nudge, response, result } from './conversation-log.ts'

const options = { reasoning: false, differs: () => ({}) }

function oneRound() {
  const log = conversationLog()
  const calling = response({ text: 'I look.', calls: [exec()], stop: 'calls' })
  log.begin()
  log.ask(1)
  log.attempt(1)
  log.answer(1, calling)
  log.check(1, calling)
  log.clear(1, [exec()])
  log.claim(1)
  log.start(1)
  log.outcome(1, result())
  log.executed(1, [result()])
  log.conclude(1, calling, [result()], nudge)
  log.end('Three files.')
  return log
}

describe('the view of a conversation', () => {
  it('grows record by record, and each state is the one that a whole reading gives', () => {
    const { records } = oneRound()
    let view: ConversationView | undefined
    for (const [place, record] of records.entries()) {
      view = reduce(view, record)
      expect(conversationTimeline(view, options)).toEqual(
        conversationTimeline(viewOf(records.slice(0, place + 1)), options),
      )
    }
  })

  it('prefers the value of the later stage if its record comes first', () => {
    const { records } = oneRound()
    const isOf = (type: string) => (record: Logged) => record.message?.type === type
    const outcome = records.find(isOf('round-outcome'))
    const others = records.filter((record) => record !== outcome)
    const first = viewOf([...(outcome ? [outcome] : []), ...others])
    const last = viewOf(records)
    const resultIn = (view: ConversationView) => {
      const round = view.turns.get(0)?.rounds.get(1)
      return round && resultOf(round, 0)
    }
    expect(resultIn(first)).toEqual(result())
    expect(resultIn(first)).toEqual(resultIn(last))
  })

  it('keeps no round of a turn if only its own values are wanted, and these all the same', () => {
    const { records } = oneRound()
    const some = records.filter(({ topic }) => topic === 'activity')
    const whole = viewOf(some).turns.get(0)
    const small = viewOf(some.toReversed(), 'turn').turns.get(0)
    if (whole === undefined || small === undefined) throw new Error('no turn')
    expect(small.rounds.size).toBe(0)
    expect(turnSummary(small)).toEqual(turnSummary(whole))
    expect(turnSummary(small)).toMatchObject({
      agent: 'agent',
      outcome: 'answered',
    })
  })

  it('is the same to a reader of the timeline, in any order of the topics', () => {
    const { records } = oneRound()
    expect(timelineOf('c', records.toReversed(), { reasoning: false })).toEqual(
      timelineOf('c', records, { reasoning: false }),
    )
  })

  it('shows a guest as ended by advice until its next round begins', () => {
    const at = { conversation: 'guest/a/c', turn: 3, turnKey: 't' }
    const started = (round: number, time: number): Logged => ({
      topic: 'activity',
      offset: time,
      time,
      message: {
        type: 'round-started',
        ...at,
        round,
        callsLeft: 9,
        nudged: false,
        caps: null,
        key: 'k',
      },
    })
    const advised: Logged = {
      topic: 'activity',
      offset: 20,
      time: 20,
      message: {
        type: 'guest-advice',
        ...at,
        round: 1,
        key: 'k',
        action: 'end',
        text: '',
        reason: 'it loops',
        rule: 'cycle',
        cap: null,
        unknown: [],
        denied: [],
        hidden: [],
        over: [],
        isOpen: true,
        requestId: '',
      },
    }
    const isEnded = (records: Logged[]) => {
      const turn = viewOf(records).turns.get(3)
      return turn !== undefined && isEndedByAdvice(turn)
    }
    expect(isEnded([started(1, 10)])).toBe(false)
    expect(isEnded([started(1, 10), advised])).toBe(true)
    expect(isEnded([advised, started(1, 10)])).toBe(true)
    expect(isEnded([started(1, 10), advised, started(2, 30)])).toBe(false)
  })
})
