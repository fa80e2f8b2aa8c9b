// The calls of a turn as chat protocols see them: when the turn waits for its client only.

import { describe, expect, it } from '@jest/globals'
import {
  callIdOf,
  createTurnCalls,
  placeOfCall,
} from '../../../../../apps/http/edge/chat/turn-calls.ts'
import type { TurnEvent } from '../../../../../client/weir.ts'
import { noUsage } from '../../../../../shared/contract/turn/no-usage.ts'

const place = { conversation: 'c', turn: 7, round: 1 }
const event = (fields: object) => ({ v: 2, position: '0', ...place, ...fields }) as TurnEvent
const offered = (ordinal: number) =>
  event({
    type: 'call-offered',
    ordinal,
    name: 'pick',
    until: 9,
    arguments: {},
    rawArguments: '{}',
  })

/** A response with so many calls. */
function calls(count: number, callsLeft = 100) {
  const all = createTurnCalls()
  const named = Array.from({ length: count }, (_, ordinal) => ({
    ordinal,
    name: 'pick',
    arguments: {},
    rawArguments: '{}',
  }))
  all.see(event({ type: 'round-started', callsLeft }))
  all.see(event({ type: 'model-answered', calls: named, usage: noUsage }))
  return all
}

const paused = (all: ReturnType<typeof createTurnCalls>) => all.paused().map(({ id }) => id)

describe('a turn', () => {
  it('waits for its client when all calls of the round are offered or over', () => {
    const all = calls(3)
    all.see(offered(0))
    expect(paused(all)).toEqual([])
    all.see(event({ type: 'tool-started', ordinal: 1 }))
    all.see(offered(2))
    expect(paused(all)).toEqual([])
    all.see(event({ type: 'call-finished', ordinal: 1 }))
    expect(paused(all)).toEqual(['call-7-1-0', 'call-7-1-2'])
    all.see(event({ type: 'call-finished', ordinal: 0 }))
    expect(paused(all)).toEqual(['call-7-1-2'])
  })

  it('does not wait for a call that its caps never let start', () => {
    const all = calls(2, 1)
    all.see(offered(0))
    expect(paused(all)).toEqual(['call-7-1-0'])
  })

  it('waits for its client next to a person, because an approval may hold the other calls', () => {
    const all = calls(3)
    all.see(offered(0))
    const asked = { ordinal: 1, id: 'k7f3', name: 'pick', rule: 'ask', question: null }
    all.see(event({ type: 'approval-pending', calls: [asked], until: 9 }))
    expect(paused(all)).toEqual(['k7f3', 'call-7-1-0'])
    expect(all.paused().map(({ kind }) => kind)).toEqual(['approval', 'client'])
  })

  it('waits for each open question of a running call, and not for an answered one', () => {
    const all = calls(1)
    all.see(event({ type: 'tool-started', ordinal: 0 }))
    for (const id of ['first', 'second']) {
      const asked = { ordinal: 0, id, name: 'pick', rule: '', question: '{}' }
      all.see(event({ type: 'approval-pending', calls: [asked], until: 9 }))
    }
    expect(paused(all)).toEqual(['first', 'second'])
    all.see(event({ type: 'approval-decided', ordinal: 0, id: 'second', outcome: 'allow' }))
    expect(paused(all)).toEqual(['first'])
  })
})

describe('the id of a call', () => {
  it('names its place, and other texts name none', () => {
    const at = { turn: 7, round: 1, ordinal: 2 }
    expect(placeOfCall(callIdOf(at))).toEqual(at)
    for (const text of ['', 'call-1-2', 'call-1-2-x', 'call-1-2-3-4', `call-${'9'.repeat(20)}-1-1`])
      expect(placeOfCall(text)).toBeUndefined()
  })
})
