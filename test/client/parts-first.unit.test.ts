// The order of parts and activity at a live reader.

import { describe, expect, it } from '@jest/globals'
import { createPartsFirst } from '../../client/parts-first.ts'
import type { Message } from '../../shared/contract/messages.ts'

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
