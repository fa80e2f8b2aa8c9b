import { describe, expect, it } from '@jest/globals'
import { conversation } from '../../../services/conversation/reducer.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { TurnExtended } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { cancels, only, outcome, says, settingsWith, tick } from './samples.ts'

const wallMs = 60_000
const message = at(0, says('m1', { settings: settingsWith({ wallMs }) }))
const extended = (until: number, fields: Partial<TurnExtended> = {}): TurnExtended => ({
  type: 'turn-extended',
  conversation: 'c',
  turn: 0,
  round: 1,
  until,
  ...fields,
})

describe('a turn whose round waits for slow guards', () => {
  const story = given(conversation, message, at(1_000, extended(500_000)))

  it('ends later by their deadline', () => {
    expect(story.records).toEqual([])
    expect(story.due).toBe(500_000)
    const over = story.when(at(500_000, tick()))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'wall',
      reason: 'the time limit of 500000 ms is reached',
    })
    expect(
      only(
        over.records.filter(({ to }) => to === 'tools'),
        'cancel',
      ),
    ).toMatchObject({ expiresAt: 500_000 })
  })

  it('goes on after its old end, and its next request has the new one', () => {
    const next = story.when(at(wallMs + 10_000, outcome(0, 1, { calls: 1, caps: { wallMs } })))
    expect(only(next.records, 'model-request')).toMatchObject({ round: 2, expiresAt: 500_000 })
  })

  it('is never shortened, and never extended beyond the ceiling', () => {
    expect(story.when(extended(400_000)).due).toBe(500_000)
    expect(story.when(extended(1e15)).due).toBe(limits.turnWallMsMax + limits.turnExtensionMsMax)
  })

  it('is extended only by its own round', () => {
    for (const other of [extended(900_000, { round: 2 }), extended(900_000, { turn: 5 })])
      expect(story.when(other).due).toBe(500_000)
    const unknown = given(conversation, extended(500_000))
    expect([unknown.state, unknown.records]).toEqual([undefined, []])
  })

  it('extends the wait for the outcome if it was cancelled meanwhile', () => {
    const cancelled = given(conversation, message, at(1_000, cancels('m1')))
    expect(cancelled.when(at(1_001, extended(500_000))).due).toBe(cancelled.due! + 500_000 - wallMs)
    expect(cancelled.when(at(1_001, extended(10))).due).toBe(cancelled.due)
  })
})
