// The records that a turn reads, and until when.

import { setImmediate as later } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Edge, openEdge } from '../../../client/edge/edge.ts'
import { askTurn, type Turn } from '../../../client/turn/turn.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { encode } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import {
  part,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../support/activity.ts'

const agent = {
  name: 'agent',
  system: '',
  model: { provider: 'anthropic' as const, name: 'none', apiKey: '', maxOutputTokens: 1 },
  tools: [],
  settings: defaultSettings,
}

let bus: Bus
let edge: Edge
/** Topics that are being followed now. */
let followed: string[]

beforeEach(async () => {
  const opened = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  followed = []
  bus = {
    ...opened,
    async *follow(range) {
      followed.push(range.topic)
      try {
        yield* opened.follow(range)
      } finally {
        followed.splice(followed.indexOf(range.topic), 1)
      }
    },
  }
  await bus.ensureTopics(topicSpecs('', 1))
  edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
})

afterEach(() => bus.close())

function ask(): Turn & { fail(error: unknown): void } {
  const question = { agent, conversation: 'c', messageId: 'm', text: 'hello' }
  return askTurn({
    edge,
    clock: systemClock,
    question,
    isNew: true,
    signal: undefined,
    onOver: () => {},
  })
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await later()
}

async function write(topic: string, message: Message & { conversation: string }): Promise<void> {
  await bus.append([{ topic, partition: 0, key: message.conversation, value: encode(message) }])
}

describe('a turn', () => {
  it('reads parts only while its events are read, and nothing after its end', async () => {
    const turn = ask()
    await settled()
    expect(followed).toEqual(['activity'])
    const events = turn[Symbol.asyncIterator]()
    await settled()
    expect(followed).toEqual(['activity', 'model-deltas'])
    await events.return?.()
    await settled()
    expect(followed).toEqual(['activity'])
    await write('activity', turnFinished())
    await turn.finished
    await settled()
    expect(followed).toEqual([])
  })

  it('misses no text if its events are read at once', async () => {
    const turn = ask()
    const texts: string[] = []
    const reading = (async () => {
      for await (const event of turn) if (event.type === 'text-delta') texts.push(event.text)
    })()
    await settled()
    await write('activity', turnStarted())
    await write('activity', roundStarted())
    await write('model-deltas', part(0, ['Hello']))
    await write('model-deltas', part(1, ['.']))
    await settled()
    await write('activity', turnFinished())
    await reading
    expect(texts.join('')).toBe('Hello.')
  })

  it('yields all events to a late reader, and text from the next attempt or round on', async () => {
    const turn = ask()
    await settled()
    await write('activity', turnStarted())
    await write('activity', roundStarted())
    await write('model-deltas', part(0, ['Hel']))
    await settled()
    const yielded: string[] = []
    const reading = (async () => {
      for await (const event of turn)
        yielded.push(event.type === 'text-delta' ? event.text : event.type)
    })()
    await settled()
    await write('model-deltas', part(1, ['lo.']))
    await write('activity', roundStarted(2))
    await settled()
    await write('model-deltas', part(0, ['Next.'], { round: 2, attempt: 'b' }))
    await settled()
    await write('activity', turnFinished())
    await reading
    expect(yielded).toEqual([
      'turn-started',
      'round-started',
      'round-started',
      'Next.',
      'turn-finished',
    ])
  })

  it('ends with the error when the activity cannot be read any further', async () => {
    const turn = ask()
    await settled()
    await bus.close()
    await expect(turn.finished).rejects.toMatchObject({ code: 'bus.closed' })
  })

  it('keeps its end even if the results of its last calls cannot be read', async () => {
    const turn = ask()
    const types: string[] = []
    const reading = (async () => {
      for await (const event of turn) types.push(event.type)
    })()
    await settled()
    for (const activity of [
      turnStarted(),
      toolStarted(),
      turnFinished({ outcome: 'cancelled', class: 'cancelled' }),
    ])
      await write('activity', activity)
    expect(await turn.finished).toMatchObject({ outcome: 'cancelled' })
    turn.fail(new Error('closed'))
    await reading
    expect(types).toEqual(['turn-started', 'tool-started', 'turn-finished'])
  })

  it('ends with the error if its message cannot be sent', async () => {
    await bus.close()
    await expect(ask().finished).rejects.toMatchObject({ code: 'bus.closed' })
  })
})
