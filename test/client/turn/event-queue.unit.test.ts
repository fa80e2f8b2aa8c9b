import { describe, expect, it } from '@jest/globals'
import { createEventQueue, type EventQueue } from '../../../client/turn/event-queue.ts'
import type { TurnEvent } from '../../../client/turn/turn-event.ts'
import type { MessageOf } from '../../../shared/contract/messages.ts'
import * as activity from '../../support/activity.ts'

const placed = { v: 2, position: '0' } as const
const place = { ...placed, conversation: 'c', turn: 7, round: 1 }
const roundStarted = (): TurnEvent => ({
  ...placed,
  ...(activity.roundStarted() as MessageOf<'round-started'>),
})
const turnFinished = (): TurnEvent => ({ ...placed, ...activity.turnFinished() })
const text = (piece: string, round = 1): TurnEvent => ({
  type: 'text-delta',
  ...place,
  round,
  text: piece,
})
const reset: TurnEvent = { type: 'text-reset', ...place }

/** All waiting events; the queue must have ended. */
async function rest(queue: EventQueue): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for (;;) {
    const { value, done } = await queue.next()
    if (done) return events
    events.push(value)
  }
}

describe('the queue of unread events', () => {
  it('yields events in order and then the end', async () => {
    const queue = createEventQueue()
    queue.add([roundStarted(), text('a')])
    queue.add([turnFinished()])
    queue.end()
    expect((await rest(queue)).map(({ type }) => type)).toEqual([
      'round-started',
      'text-delta',
      'turn-finished',
    ])
  })

  it('yields an event to a waiting reader', async () => {
    const queue = createEventQueue()
    const next = queue.next()
    queue.add([text('a')])
    expect((await next).value).toEqual(text('a'))
  })

  it('joins pieces of one text', async () => {
    const queue = createEventQueue()
    queue.add([text('a'), text('b')])
    queue.add([text('c'), text('d', 2)])
    queue.end()
    expect(await rest(queue)).toEqual([text('abc'), text('d', 2)])
  })

  it('yields events before an error, and then the error every time', async () => {
    const queue = createEventQueue()
    queue.add([text('a')])
    queue.end({ error: new Error('the disk is full') })
    expect((await queue.next()).value).toEqual(text('a'))
    await expect(queue.next()).rejects.toThrow('the disk is full')
    await expect(queue.next()).rejects.toThrow('the disk is full')
  })

  it('drops events when the reader has left', async () => {
    const queue = createEventQueue()
    queue.add([text('a')])
    queue.leave()
    queue.add([text('b')])
    expect(await queue.next()).toEqual({ done: true, value: undefined })
  })

  it('turns too much text into a reset and drops the rest of that attempt', async () => {
    const queue = createEventQueue({ charactersMax: 10, eventsMax: 100 })
    queue.add([roundStarted(), text('12345'), text('67890'), text('!'), text('more')])
    queue.add([reset, text('again'), text('next', 2), turnFinished()])
    queue.end()
    expect(await rest(queue)).toEqual([
      roundStarted(),
      reset,
      reset,
      text('again'),
      text('next', 2),
      turnFinished(),
    ])
  })

  it('drops the oldest of too many events, never the end, and counts only the rest', async () => {
    const queue = createEventQueue({ charactersMax: 10, eventsMax: 3 })
    queue.add([
      text('12345'),
      roundStarted(),
      text('1234', 2),
      reset,
      text('12345', 3),
      turnFinished(),
    ])
    queue.end()
    expect(await rest(queue)).toEqual([reset, text('12345', 3), turnFinished()])
  })

  it('bounds the waiting events, not all events', async () => {
    const queue = createEventQueue({ charactersMax: 10, eventsMax: 100 })
    for (const piece of ['12345678', '12345678', '12345678']) {
      queue.add([text(piece)])
      expect((await queue.next()).value).toEqual(text(piece))
    }
  })
})
