// The in-memory player: delivery between stages, and errors of reducers.

import { describe, expect, it } from '@jest/globals'
import { codec, decode } from '../../../shared/codec/codec.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { closed, type Stage } from '../../../shared/contract/stage.ts'
import { createPlayer, memoryRecordsKeptMax } from '../../../shared/runtime/in-memory.ts'

const cancelled: Message = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }
const ended: Message = { type: 'turn-ended', conversation: 'c', turn: 1 }

/** Writes the end of a turn for each message, and throws on request. */
function sender(fails = false): Stage<never, Message> {
  return {
    name: 'conversation',
    unit: () => 'c',
    due: () => undefined,
    wants: () => [],
    failed: () => closed,
    react() {
      if (fails) throw new Error('no reaction')
      return { records: [{ to: 'verdict', message: ended }] }
    },
  }
}

function receiver(times: number[]): Stage<{ count: number }, Message> {
  return {
    name: 'loop-detector',
    unit: () => 'c',
    due: () => undefined,
    wants: () => [],
    failed: () => closed,
    react(state = { count: 0 }, { time }) {
      times.push(time)
      return { state: { count: state.count + 1 } }
    },
  }
}

describe('the in-memory player', () => {
  it('delivers an output to the next stage, later than its input', () => {
    const times: number[] = []
    const player = createPlayer()
    player.add(sender())
    const { units } = player.add(receiver(times))
    player.append('conversation-events', cancelled)
    player.append('conversation-events', cancelled, { time: 10 })
    expect(player.settleNow().map(({ message }) => message)).toEqual([ended, ended])
    expect([times, units.get('c')?.state]).toEqual([[11, 12], { count: 2 }])
  })

  it('throws the error of a reducer', () => {
    const player = createPlayer()
    player.add(sender(true))
    player.append('conversation-events', cancelled)
    expect(() => player.settleNow()).toThrow('no reaction')
  })

  it('writes the error of a reducer to dead letters if it plays a log', async () => {
    const player = createPlayer({ codec, topicPrefix: 'weir.' })
    player.add(sender(true))
    player.append('conversation-events', cancelled)
    await player.settle()
    const [, letter] = player.records
    expect(letter).toMatchObject({ topic: 'dead-letters', id: 'conversation/0/0/0' })
    expect(decode(letter?.value ?? new Uint8Array())).toMatchObject({ reason: 'no reaction' })
  })
})

describe('a live player', () => {
  const bad: Message = { type: 'cancel-requested', conversation: 'c', messageId: 'bad' }

  /** Counts in place. Throws on a bad message after it has changed its state. */
  function counter(seen: number[] = [], due?: number): Stage<{ count: number[] }, Message> {
    return {
      name: 'conversation',
      wants: () => [],
      unit: (message) => ('conversation' in message ? message.conversation : ''),
      due: ({ count }) => (count.length > 0 ? due : undefined),
      failed: (state) => ({ state }),
      react(state = { count: [] }, { message, offset }) {
        seen.push(offset)
        if (message.type === 'tick') return closed
        state.count.push(offset)
        if (message === bad) throw new Error('no reaction')
        return { state }
      },
    }
  }

  function live(clock = { now: () => 5 }) {
    const written: [string, Message][] = []
    const onWritten = (topic: string, message: Message) => written.push([topic, message])
    return { written, player: createPlayer({ live: { clock, onWritten } }) }
  }

  it.each([1, memoryRecordsKeptMax * 2 + 3])(
    'folds a unit of %i records again after its reducer has thrown, from at most a few records',
    async (count) => {
      const seen: number[] = []
      const { player, written } = live()
      const { units } = player.add(counter(seen))
      for (let n = 0; n < count; n += 1) {
        player.append('conversation-events', cancelled)
        player.append('conversation-events', { ...cancelled, conversation: 'other' })
      }
      player.append('conversation-events', bad)
      player.append('conversation-events', cancelled)
      const settling = player.settleSoon()
      expect(settling).toBeInstanceOf(Promise)
      await settling
      const expected = [...Array.from({ length: count }, (_, at) => 2 * at), 2 * count + 1]
      expect(units.get('c')?.state.count).toEqual(expected)
      expect(seen.length - 2 * count - 2).toBeLessThanOrEqual(memoryRecordsKeptMax + 1)
      expect(written).toContainEqual([
        'dead-letters',
        expect.objectContaining({ type: 'dead-letter', reason: 'no reaction', offset: 2 * count }),
      ])
    },
  )

  it('keeps no record, and writes records at the time of its clock', () => {
    const times: number[] = []
    let now = 5
    const { player } = live({ now: () => now })
    player.add(receiver(times))
    player.append('rounds-checked', ended)
    player.settleNow()
    now = 9
    player.append('rounds-checked', ended)
    now = 7 // a clock that was set back
    player.append('rounds-checked', ended)
    player.settleNow()
    expect(times).toEqual([5, 9, 9])
    expect(player.records).toEqual([])
  })

  it('ticks a unit that is due, and no other', () => {
    let now = 5
    const { player } = live({ now: () => now })
    const { units } = player.add(counter([], 8))
    player.append('conversation-events', cancelled)
    player.settleNow()
    expect([player.nextDue, player.tick()]).toEqual([8, 8])
    player.settleNow()
    expect(units.size).toBe(1)
    now = 8
    expect(player.tick()).toBeUndefined()
    player.settleNow()
    expect(units.size).toBe(0)
  })
})
