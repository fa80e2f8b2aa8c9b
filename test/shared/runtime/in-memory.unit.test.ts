// The in-memory player: delivery between stages, and errors of reducers.

import { describe, expect, it } from '@jest/globals'
import { codec, decode } from '../../../shared/codec/codec.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { closed, type Stage } from '../../../shared/contract/stage.ts'
import { createPlayer } from '../../../shared/runtime/in-memory.ts'

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
    ...{ name: 'loop-detector', unit: () => 'c', due: () => undefined, wants: () => [] },
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
