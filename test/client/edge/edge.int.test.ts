import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { openEdge } from '../../../client/edge/edge.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { Bus, StoredRecord } from '../../../shared/contract/bus.ts'
import type { TurnFinished } from '../../../shared/contract/messages.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { askEdge, replyOf } from '../../support/asked-turn.ts'

const agent = {
  name: 'agent',
  system: '',
  model: { provider: 'anthropic' as const, name: 'none', apiKey: '', maxOutputTokens: 1 },
  tools: [],
  settings: defaultSettings,
}
const question = (conversation: string, messageId = 'm1') => ({
  agent,
  conversation,
  messageId,
  text: 'hello',
})
const totals = { rounds: 1, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 0 }

let bus: Bus
let follows: number

beforeEach(async () => {
  const opened = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  follows = 0
  bus = {
    ...opened,
    follow(range) {
      follows += 1
      return opened.follow(range)
    },
  }
  await bus.ensureTopics(topicSpecs('', 1))
})

afterEach(() => bus.close())

async function finish(conversation: string, messageId: string, id: string): Promise<void> {
  const finished: TurnFinished = {
    type: 'turn-finished',
    conversation,
    turn: 0,
    messageId,
    outcome: 'answered',
    reply: `reply to ${messageId}`,
    reason: '',
    class: null,
    cap: null,
    totals,
  }
  await bus.append([
    { topic: 'activity', partition: 0, key: conversation, value: encode(finished), id },
  ])
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

describe('a client', () => {
  it('writes one user-message and reads until its turn is over', async () => {
    const edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
    const reply = replyOf(edge, question('c'))
    await settled()
    await finish('d', 'm1', 'conversation/0/0/0')
    await finish('c', 'm0', 'conversation/0/1/0')
    await finish('c', 'm1', 'conversation/0/2/0')
    expect(await reply).toMatchObject({ conversation: 'c', messageId: 'm1', reply: 'reply to m1' })
    const [message, ...more] = await bus.read({
      topic: 'client-messages',
      partition: 0,
      from: 0,
      limit: 10,
    })
    expect(decode(message?.value as Uint8Array)).toMatchObject({
      type: 'user-message',
      conversation: 'c',
      messageId: 'm1',
      text: 'hello',
    })
    expect(more).toEqual([])
  })

  it('yields a record once even if it was written twice', async () => {
    const edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
    const activity: string[] = []
    const asking = (async () => {
      for await (const one of askEdge(edge, question('c', 'm2')))
        activity.push(one.type === 'turn-finished' ? one.messageId : one.type)
    })()
    await settled()
    await finish('c', 'm1', 'conversation/0/1/0')
    await finish('c', 'm1', 'conversation/0/1/0')
    await finish('c', 'm2', 'conversation/0/2/0')
    await asking
    expect(activity).toEqual(['m1', 'm2'])
  })

  it('stops waiting with the reason of its signal when the signal aborts', async () => {
    const edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
    const stop = new AbortController()
    const reply = replyOf(edge, question('c'), stop.signal)
    await settled()
    stop.abort(new Error('enough'))
    await expect(reply).rejects.toThrow('enough')
    await expect(replyOf(edge, question('c'), stop.signal)).rejects.toThrow('enough')
  })

  it('rejects when the bus closes', async () => {
    const edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
    const reply = replyOf(edge, question('c'))
    const denial = expect(reply).rejects.toMatchObject({ code: 'bus.closed' })
    await settled()
    await bus.close()
    await denial
  })

  it('gets the end of an earlier turn even if a table lags a moment behind', async () => {
    const late: Bus = { ...bus, list: async (table) => (table.upToNow ? bus.list(table) : []) }
    const { send, earlierAnswer } = openEdge({ bus: late, topicPrefix: '', partitions: 1 })
    await send(question('c'))
    const [sent] = await bus.read({ topic: 'client-messages', partition: 0, from: 0, limit: 1 })
    const copy = { ...(sent as StoredRecord), topic: 'conversation-events' }
    await bus.append([{ ...copy, id: 'intake/0/0/0' }])
    const entry = encode({
      type: 'history-entry',
      redact: [],
      conversation: 'c',
      turn: 0,
      round: 0,
      user: 'hello',
      response: null,
      results: [],
      contents: [],
      afterTurn: null,
      nudge: null,
      note: null,
    })
    await bus.append([
      { topic: 'history', partition: 0, key: JSON.stringify(['c', 0, 0]), value: entry },
    ])
    await finish('c', 'm1', 'conversation/0/0/1')
    expect(await earlierAnswer({ conversation: 'c', messageId: 'm1' })).toMatchObject({
      finished: { reply: 'reply to m1' },
    })
  })

  it('writes a cancel-requested for its message', async () => {
    await openEdge({ bus, topicPrefix: '', partitions: 1 }).cancel({
      conversation: 'c',
      messageId: 'm1',
    })
    const [message] = await bus.read({
      topic: 'client-messages',
      partition: 0,
      from: 0,
      limit: 10,
    })
    expect(decode(message?.value as Uint8Array)).toEqual({
      type: 'cancel-requested',
      conversation: 'c',
      messageId: 'm1',
    })
  })
})

describe('a hundred clients of one process', () => {
  it('read the log once', async () => {
    const edge = openEdge({ bus, topicPrefix: '', partitions: 1 })
    const replies = Array.from({ length: 100 }, (_, i) => replyOf(edge, question(`c${i}`)))
    await settled()
    for (let i = 0; i < 100; i++) await finish(`c${i}`, 'm1', `conversation/0/${i}/0`)
    expect((await Promise.all(replies)).map(({ conversation }) => conversation)).toEqual(
      Array.from({ length: 100 }, (_, i) => `c${i}`),
    )
    expect(follows).toBe(1)
  })
})
