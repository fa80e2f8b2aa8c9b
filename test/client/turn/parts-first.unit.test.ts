// The order of parts and activity at a live reader.

import { describe, expect, it } from '@jest/globals'
import type { Activity, Edge, Question, Streamed } from '../../../client/edge/edge.ts'
import type { Listener } from '../../../client/edge/feed.ts'
import { createPartsFirst } from '../../../client/turn/parts-first.ts'
import { openTurnReader } from '../../../client/turn/turn-reader.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { part, roundStarted, turnFinished, turnStarted } from '../../support/activity.ts'

const of = (type: Message['type'], round = 1) => ({
  message: { type, conversation: 'c', turn: 7, round } as Message,
})
const typesOf = (received: { message: Message }[]) => received.map(({ message }) => message.type)
const first = { turn: 7, round: 1 }

describe('the activity of a live reader', () => {
  it('waits with a response until the stream of its round is complete', () => {
    const order = createPartsFirst()
    expect(typesOf(order.activity(of('round-started')))).toEqual(['round-started'])
    expect(order.activity(of('model-answered'))).toEqual([])
    expect(order.activity(of('tool-started'))).toEqual([])
    expect(typesOf(order.complete(first))).toEqual(['model-answered', 'tool-started'])
    expect(typesOf(order.activity(of('call-finished')))).toEqual(['call-finished'])
  })

  it('waits for nothing if the stream is complete already, or began before the reader', () => {
    const order = createPartsFirst()
    order.activity(of('round-started'))
    expect(order.complete(first)).toEqual([])
    expect(order.activity(of('model-answered'))).toHaveLength(1)
    expect(order.complete({ turn: 7, round: 2 })).toEqual([])
    expect(order.activity(of('round-started', 2))).toHaveLength(1)
    expect(order.activity(of('model-answered', 2))).toHaveLength(1)
    expect(createPartsFirst().activity(of('model-answered'))).toHaveLength(1)
    expect(createPartsFirst(first).activity(of('model-answered'))).toEqual([])
  })

  it('waits again for the next round among the records that it held', () => {
    const order = createPartsFirst(first)
    for (const received of [of('model-answered'), of('round-started', 2), of('model-answered', 2)])
      expect(order.activity(received)).toEqual([])
    expect(order.complete({ turn: 7, round: 3 })).toEqual([])
    expect(typesOf(order.complete(first))).toEqual(['model-answered', 'round-started'])
    expect(typesOf(order.complete({ turn: 7, round: 2 }))).toEqual(['model-answered'])
  })
})

describe('the events of a turn', () => {
  it('have the reasoning of a response in front of its report, whichever topic is faster', async () => {
    const activity = Promise.withResolvers<Listener<Activity>>()
    const parts = Promise.withResolvers<Listener<Streamed>>()
    const edge = {
      async onActivity(_: string, listener: Listener<Activity>) {
        activity.resolve(listener)
        return { from: 0, stop: () => {} }
      },
      async onParts(_: string, listener: Listener<Streamed>) {
        parts.resolve(listener)
        return { from: 0, stop: () => {} }
      },
    } as unknown as Edge
    const reader = openTurnReader({
      edge,
      clock: systemClock,
      beginning: Promise.resolve(0),
      onOver: () => {},
      question: { conversation: 'c', messageId: 'm' } as Question,
    })
    await reader.listening
    const [toActivity, toParts] = await Promise.all([activity.promise, parts.promise])
    const place = { conversation: 'c', turn: 7, round: 1 }
    const answered = {
      type: 'model-answered',
      ...place,
      attempt: 'a',
      text: '',
      textBytes: 0,
      calls: [],
      stop: 'calls',
      usage: {},
    } as unknown as Activity
    const records = [turnStarted(), roundStarted(), answered, turnFinished()]
    for (const [offset, message] of records.entries())
      toActivity.onRecord({ id: `x/0/${offset}/0`, offset, message })
    const streamed: Streamed[] = [
      part(0, [{ kind: 'reasoning', text: 'hm' }]),
      { type: 'model-finished', ...place } as Streamed,
    ]
    for (const message of streamed) toParts.onRecord({ id: undefined, offset: 0, message })
    const types: string[] = []
    for (let next = await reader.next(); !next.done; next = await reader.next())
      types.push(next.value.type)
    expect(types).toEqual([
      ...['turn-started', 'round-started', 'reasoning-delta', 'model-answered', 'turn-finished'],
    ])
  })
})
