// Inboxes with content that no client of ours writes: bytes that are no record, misplaced records,
// messages that make no sense, too many messages, and cancels at every moment.
// Everybody gets an answer, dead letters keep the unreadable records, and the next turn is a normal
// one.

import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Reply } from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { encode } from '../../shared/codec/codec.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  AgentSettings,
  Caps,
  DeadLetter,
  Message,
  Policy,
} from '../../shared/contract/messages.ts'
import { stages, type TopicName } from '../../shared/contract/topology.ts'
import {
  activityUntil,
  endsOf,
  endsOfMessages,
  put,
  putBytes,
  until,
  userMessage,
} from '../support/inbox.ts'
import { type Expected, expectInvariants } from '../support/invariants.ts'
import { type Pipeline, recordedTool, withPipeline } from '../support/pipeline.ts'
import { call, resultsOf, says, script, text, textsOf } from '../support/script.ts'

async function expectGoesOn(
  pipeline: Pipeline,
  expected: Expected & { conversation?: string } = {},
): Promise<void> {
  const { finished } = await pipeline.ask('and now?', {
    conversation: expected.conversation ?? 'c',
  })
  expect(finished).toMatchObject({ outcome: 'answered', reply: 'The script is over.' })
  await expectInvariants(pipeline, expected)
}

const inboxes = [...new Set(Object.values(stages).map(({ inbox }) => inbox))]

describe('a record that cannot be applied', () => {
  const tick: Message = { type: 'tick', conversation: 'c', unit: 'c' }
  const finished: Message = { type: 'turn-ended', conversation: 'c', turn: 0 }

  it.each(inboxes)(
    'goes to dead-letters with its origin, and the stage goes on: %s',
    async (inbox) => {
      await withPipeline({ model: script() }, async (pipeline) => {
        await putBytes(pipeline, inbox, Buffer.from('this is no record'))
        await putBytes(pipeline, inbox, Buffer.alloc(0))
        await putBytes(pipeline, inbox, Buffer.from([0, 0, 0, 0x7f, 0xff, 1, 2, 3]))
        await putBytes(pipeline, inbox, Buffer.concat([encode(tick), Buffer.from([0])]))
        await putBytes(pipeline, inbox, encode(tick).subarray(0, 7))
        await putBytes(
          pipeline,
          inbox,
          encode({ type: 'turn-failed', conversation: 'c', turn: null, stage: 'x', reason: 'y' }),
        )
        await putBytes(pipeline, inbox, encode(finished), { id: 'validator/0/0/0' })
        await putBytes(pipeline, inbox, encode(finished), { id: 'no derived id' })
        await putBytes(pipeline, inbox, encode(tick), { key: 'another conversation' })
        await pipeline.ask('hello')
        const letters = await lettersOf(pipeline, 9)
        expect(letters.map(({ topic, partition, offset }) => [topic, partition, offset])).toEqual(
          Array.from({ length: 9 }, (_, offset) => [`weir.${inbox}`, 0, offset]),
        )
        expect(letters.slice(0, 3).map(({ code }) => code)).toEqual([
          'codec.bad-frame',
          'codec.bad-frame',
          'codec.unknown-schema',
        ])
        expect(Buffer.from(letters[0]?.value ?? []).toString()).toBe('this is no record')
        for (const { reason, stage, key } of letters) {
          expect(stages[stage as keyof typeof stages].inbox).toBe(inbox)
          expect(reason.length).toBeGreaterThan(10)
          expect(key).toMatch(/^(c|another conversation)$/)
        }
        await expectGoesOn(pipeline, { deadLetters: 9 })
      })
    },
  )

  it('stops no stage at the largest size, and its dead letter keeps the beginning', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      await putBytes(pipeline, 'conversation-events', Buffer.alloc(limits.recordBytesMax, 'x'))
      await pipeline.ask('hello')
      const [letter] = await lettersOf(pipeline, 1)
      expect(letter?.value.length).toBe(limits.deadLetterBytesMax)
      await expectGoesOn(pipeline, { deadLetters: 1 })
    })
  })

  it('does not disturb a running turn', async () => {
    const mayEnd = join(tmpdir(), `weir-may-end-${randomUUID()}`)
    const model = script(says(call('exec', { command: 'ls', until: mayEnd })))
    await withPipeline({ model }, async (pipeline) => {
      await put(pipeline, [userMessage(pipeline.agent, { text: 'list my files' })])
      await activityUntil(pipeline, 'c', (activity) =>
        activity.some(({ type }) => type === 'tool-started'),
      )
      for (const inbox of inboxes) await putBytes(pipeline, inbox, Buffer.from('this is no record'))
      writeFileSync(mayEnd, '')
      const [end] = await endsOfMessages(pipeline, 'c', ['list my files'])
      expect(end).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 1 } })
      await lettersOf(pipeline, inboxes.length)
      await expectGoesOn(pipeline, { deadLetters: inboxes.length })
    })
    rmSync(mayEnd)
  })

  it('is no dead letter if it only names an unknown turn: that has no effect', async () => {
    const ids = { conversation: 'c', turn: 7, round: 1 }
    const strangers: [TopicName, Message][] = [
      [
        'conversation-events',
        { type: 'cancel-requested', conversation: 'c', messageId: 'never sent' },
      ],
      ['conversation-events', tick],
      ['model-requests', { type: 'attempt-started', ...ids, attempt: 'a', owner: 'o', weir: '' }],
      ['model-deltas', { type: 'part', ...ids, attempt: 'a', i: 0, events: [] }],
      ['rounds-checked', { ...tick, unit: '["c",7]' }],
      ['rounds-cleared', { type: 'claim', ...ids, ordinal: 0, try: 1, owner: 'o' }],
      [
        'rounds-cleared',
        { type: 'outcome', ...ids, ordinal: 0, try: 1, owner: 'o', result: null, goesOn: false },
      ],
      ['rounds-cleared', { type: 'lapsed', ...ids, ordinal: 0, try: 1, owner: 'o' }],
    ]
    await withPipeline({ model: script() }, async (pipeline) => {
      for (const [topic, message] of strangers) await put(pipeline, [message], topic)
      await expectGoesOn(pipeline)
      expect(await pipeline.records('activity')).toHaveLength(4)
    })
  })

  async function lettersOf({ bus, records }: Pipeline, count: number): Promise<DeadLetter[]> {
    await until(async () => (await records('dead-letters')).length >= count)
    const letters = (await records('dead-letters')) as DeadLetter[]
    expect(letters).toHaveLength(count)
    expect((await bus.ends('weir.dead-letters')).length).toBe(2)
    return letters.sort((a, b) => a.offset - b.offset)
  }
})

describe('a message', () => {
  const withPolicy = (policy: Partial<Policy>) => (settings: AgentSettings) => ({
    ...settings,
    policy: { ...settings.policy, ...policy },
  })
  const withCaps = (caps: Partial<Caps>) => (settings: AgentSettings) =>
    withPolicy({ caps: { ...settings.policy.caps, ...caps } })(settings)

  it.each<[string, (settings: AgentSettings) => AgentSettings]>([
    ['settings.attempts is 0; it must be at least 1', (settings) => ({ ...settings, attempts: 0 })],
    [
      'settings.attempts is -1; it must be at least 1',
      (settings) => ({ ...settings, attempts: -1 }),
    ],
    ['settings.stallMs is 0; it must be at least 1', (settings) => ({ ...settings, stallMs: 0 })],
    [
      'settings.fallback is blank; it must hold text',
      (settings) => ({ ...settings, fallback: ' \n' }),
    ],
    ['settings.policy.caps.rounds is 0; it must be at least 1', withCaps({ rounds: 0 })],
    ['settings.policy.caps.calls is -5; it must be at least 1', withCaps({ calls: -5 })],
    ['settings.policy.caps.wallMs is 0; it must be at least 1', withCaps({ wallMs: 0 })],
    ['settings.policy.caps.tokens is 0; it must be at least 1', withCaps({ tokens: 0 })],
    [
      'settings.policy.startWithinMs is 2147483647; it must be at most 600000',
      withPolicy({ startWithinMs: 2 ** 31 - 1 }),
    ],
    ['settings.policy.graceMs is -1; it must be at least 0', withPolicy({ graceMs: -1 })],
    ['settings.policy.toolTries is 0; it must be at least 1', withPolicy({ toolTries: 0 })],
  ])('with nonsense settings is refused with the accepted values: %s', async (reason, change) => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const { agent } = pipeline
      await put(pipeline, [
        userMessage(agent, { messageId: 'bad', settings: change(agent.settings) }),
      ])
      expect(await endsOfMessages(pipeline, 'c', ['bad'])).toMatchObject([
        { outcome: 'failed', class: 'deterministic', reason },
      ])
      expect(pipeline.server.requests).toEqual([])
      await expectGoesOn(pipeline)
    })
  })

  it('gets the general maximum if it asks for more than a turn may have', async () => {
    const most = 2 ** 31 - 1
    await withPipeline(
      {
        model: script({
          kind: 'error',
          status: 529,
          message: 'later',
          headers: { 'retry-after-ms': '1' },
        }),
      },
      async (pipeline) => {
        const { agent } = pipeline
        const greedy = withCaps({ rounds: most, calls: most, wallMs: most, tokens: most })({
          ...agent.settings,
          attempts: most,
          stallMs: most,
        })
        await put(pipeline, [userMessage(agent, { messageId: 'greedy', settings: greedy })])
        expect(await endsOfMessages(pipeline, 'c', ['greedy'])).toMatchObject([
          { outcome: 'answered' },
        ])
        const [request] = await pipeline.records('model-requests')
        expect(request).toMatchObject({ type: 'model-request', callsLeft: limits.turnCallsMax })
        await expectGoesOn(pipeline)
      },
    )
  })

  it.each<[string, object, RegExp]>([
    [
      'has an id of 10 KB',
      { messageId: 'm'.repeat(10_240) },
      /^the message id has 10240 bytes; it must have 1 to 256$/,
    ],
    ['has an empty id', { messageId: '' }, /^the message id has 0 bytes/],
    [
      'is of a conversation with an id of 10 KB',
      { conversation: 'x'.repeat(10_240) },
      /^the conversation's id has 10240 bytes/,
    ],
    [
      'is of a conversation without an id',
      { conversation: '' },
      /^the conversation's id has 0 bytes/,
    ],
    [
      'has a text of 2 MB',
      { text: 'é'.repeat(1024 * 1024), messageId: 'long' },
      /^the message has 2097152 bytes; at most 1048576 are taken/,
    ],
    ['names no agent', { agent: ' ' }, /^agent is blank/],
    [
      'names an unknown agent',
      { agent: 'nobody' },
      /^the turn is of agent 'nobody', .*start Weir with the agent file of 'nobody'/,
    ],
    ['names an agent in megabytes', { agent: 'n'.repeat(3_000_000) }, /agent/],
  ])('that %s is refused with a reason', async (_, fields, reason) => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const message = userMessage(pipeline.agent, fields)
      await put(pipeline, [message])
      const [end] = await endsOfMessages(pipeline, message.conversation, [message.messageId])
      expect(end).toMatchObject({ outcome: 'failed', reply: 'This is the fallback.' })
      expect(end?.reason).toMatch(reason)
      expect(pipeline.server.requests).toEqual([])
      await expectGoesOn(pipeline)
    })
  })

  it.each([
    ['empty', '', '(The message was empty.)'],
    ['blank', ' \n\t', '(The message was empty.)'],
    ['half a character', 'a\ud800b', 'a\ufffdb'],
    ['control characters', 'a\u0000\u001b[31mb', 'a\u0000\u001b[31mb'],
    ['1 MB', 'x'.repeat(limits.userMessageBytesMax), 'x'.repeat(limits.userMessageBytesMax)],
  ])('may be %s, and the model gets the readable part', async (_, userText, shown) => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const { finished } = await pipeline.ask(userText, { messageId: 'odd' })
      expect(finished).toMatchObject({ outcome: 'answered' })
      expect(textsOf(pipeline.server.requests[0])).toEqual([shown])
      await expectGoesOn(pipeline)
    })
  })

  it('over the limit of a record is refused by the sender', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      await expect(pipeline.ask('x'.repeat(limits.recordBytesMax))).rejects.toMatchObject({
        code: 'bus.record-too-large',
      })
      await expectGoesOn(pipeline)
    })
  })

  it('with a fallback of megabytes is refused with the reason, and the next one runs', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const { agent } = pipeline
      const settings = { ...agent.settings, fallback: 'x'.repeat(limits.recordBytesMax - 2_000) }
      await put(pipeline, [userMessage(agent, { messageId: 'heavy', settings })])
      const reason = expect.stringMatching(
        /^settings.fallback has \d+ bytes; at most 65536 are taken$/,
      )
      expect(await endsOfMessages(pipeline, 'c', ['heavy'])).toMatchObject([
        { outcome: 'failed', class: 'deterministic', reason },
      ])
      await expectGoesOn(pipeline)
    })
  })

  it('with more tools than a request can name is refused with the reason', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const { agent } = pipeline
      const [{ declaration }] = agent.tools as [(typeof agent.tools)[0]]
      const declarations = new Array(5_200).fill({
        ...declaration,
        name: 'x'.repeat(2_000),
        description: '',
        schema: '',
      })
      await put(pipeline, [userMessage(agent, { messageId: 'crowded', declarations })])
      const [end] = await endsOfMessages(pipeline, 'c', ['crowded'])
      expect(end).toMatchObject({
        outcome: 'failed',
        class: 'deterministic',
        reply: 'This is the fallback.',
      })
      expect(end?.reason).toMatch(
        /^the declarations of the agent's tools have \d+ bytes; at most 4194304 are taken$/,
      )
      await expectGoesOn(pipeline)
    })
  })

  it('that declares tools of no agent offers none of them, and a call of one is refused', async () => {
    await withPipeline({ model: script(says(call('rm', { path: '/' }))) }, async (pipeline) => {
      const { agent } = pipeline
      const [{ declaration }] = agent.tools as [(typeof agent.tools)[0]]
      const foreign = ['rm', 'exec', '__proto__', 'x\u0000'].map((name) => ({
        ...declaration,
        name,
        description: 'trust me',
        schema: '{}',
      }))
      await put(pipeline, [userMessage(agent, { messageId: 'foreign', declarations: foreign })])
      await endsOfMessages(pipeline, 'c', ['foreign'])
      expect(pipeline.server.requests[0]?.tools).toBeUndefined()
      expect(resultsOf(pipeline.server.requests[1])[0]).toMatch(/rejected before execution/)
      expect(await pipeline.starts()).toEqual([])
      await expectGoesOn(pipeline)
    })
  })

  it('that comes repeatedly with the same id is one turn, while it is open and afterwards', async () => {
    await withPipeline(
      { model: script(says(call('exec', { command: 'ls' }))) },
      async (pipeline) => {
        const message = userMessage(pipeline.agent, { messageId: 'once', text: 'list my files' })
        await put(pipeline, [message, message, message])
        await endsOfMessages(pipeline, 'c', ['once'])
        await put(pipeline, [message, { ...message, text: 'something else' }])
        await expectGoesOn(pipeline)
        expect(await pipeline.starts()).toHaveLength(1)
        expect(pipeline.server.requests).toHaveLength(3)
      },
    )
  })
})

describe('twenty messages at once', () => {
  it('in one conversation run one by one: sixteen wait in order, three are refused at once', async () => {
    const model = (request: ModelCall) => says(text(`Reply to ${textsOf(request).at(-1)}.`))
    await withPipeline({ model }, async (pipeline) => {
      const names = Array.from({ length: 20 }, (_, i) => `m${i}`)
      await put(
        pipeline,
        names.map((name) => userMessage(pipeline.agent, { text: name })),
      )
      const ends = await endsOfMessages(pipeline, 'c', names)
      const answered = ends.filter(({ outcome }) => outcome === 'answered')
      expect(answered.map(({ messageId, reply }) => [messageId, reply])).toEqual(
        names.slice(0, 17).map((name) => [name, `Reply to ${name}.`]),
      )
      const refused = ends.filter(({ outcome }) => outcome !== 'answered')
      expect(refused.map(({ messageId }) => messageId)).toEqual(names.slice(17))
      for (const end of refused)
        expect(end).toMatchObject({
          outcome: 'failed',
          class: 'transient',
          reason: expect.stringMatching(/16 messages are waiting already/),
        })
      expect(pipeline.server.requests).toHaveLength(17)
      await expectInvariants(pipeline)
    })
  })

  it('wait only while the queue has room for their bytes, and are refused with a reason beyond', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const names = Array.from({ length: 8 }, (_, i) => `m${i}`)
      await put(
        pipeline,
        names.map((messageId) =>
          userMessage(pipeline.agent, { messageId, text: 'x'.repeat(300_000) }),
        ),
      )
      const ends = await endsOfMessages(pipeline, 'c', names)
      expect(
        ends.filter(({ outcome }) => outcome === 'answered').map(({ messageId }) => messageId),
      ).toEqual(['m0', 'm1', 'm2', 'm3'])
      expect(ends.find(({ messageId }) => messageId === 'm4')?.reason).toMatch(
        /would hold more than 1048576 bytes. Send it again/,
      )
      await expectGoesOn(pipeline)
    })
  })
})

describe('a cancel', () => {
  const settings = { policy: { graceMs: 100 } }
  const tools = (file: string) => [recordedTool({ name: 'exec', required: ['command'] }, file)]

  it('during a tool answers the user at once, stops the tool, and the next turn knows that it may have run', async () => {
    const model = script(says(call('exec', { command: 'ls', sleepMs: 60_000 }), call('exec', {})))
    await withPipeline({ model, tools, settings }, async (pipeline) => {
      await put(pipeline, [userMessage(pipeline.agent, { text: 'list my files' })])
      await until(async () => (await pipeline.starts()).length > 0)
      await pipeline.edge.cancel({ conversation: 'c', messageId: 'list my files' })
      const [end] = await endsOfMessages(pipeline, 'c', ['list my files'])
      expect(end).toMatchObject({
        outcome: 'cancelled',
        class: 'cancelled',
        reason: 'the client cancelled it',
        reply: 'This is the fallback.',
      })
      await expectGoesOn(pipeline)
      expect(resultsOf(pipeline.server.requests[1])).toEqual([
        expect.stringMatching(/may have run, or may still take effect/),
        expect.stringContaining("missing required field 'command'"),
      ])
      expect(await pipeline.starts()).toHaveLength(1)
    })
  })

  it('during a stream closes the connection, and no part of the answer counts', async () => {
    const stall: Reply = {
      kind: 'stall',
      blocks: [text('I am just about to'), call('exec', { command: 'ls' })],
    }
    await withPipeline({ model: script(stall), tools, settings }, async (pipeline) => {
      await put(pipeline, [userMessage(pipeline.agent, { text: 'list my files' })])
      await untilStreaming(pipeline)
      await pipeline.edge.cancel({ conversation: 'c', messageId: 'list my files' })
      expect(await endsOfMessages(pipeline, 'c', ['list my files'])).toMatchObject([
        { outcome: 'cancelled', totals: { calls: 0 } },
      ])
      await expectGoesOn(pipeline)
      await until(async () => pipeline.server.open() === 0)
      expect(await pipeline.starts()).toEqual([])
    })
  })

  it('during the wait for a retry ends the wait', async () => {
    const model = script({
      kind: 'error',
      status: 429,
      message: 'later',
      headers: { 'retry-after': '60' },
    })
    await withPipeline({ model }, async (pipeline) => {
      await put(pipeline, [userMessage(pipeline.agent, { text: 'hello' })])
      await until(async () =>
        (await pipeline.records('model-requests')).some(({ type }) => type === 'attempt-failed'),
      )
      await pipeline.edge.cancel({ conversation: 'c', messageId: 'hello' })
      expect(await endsOfMessages(pipeline, 'c', ['hello'])).toMatchObject([
        { outcome: 'cancelled' },
      ])
      await expectGoesOn(pipeline)
      expect(pipeline.server.requests).toHaveLength(2)
    })
  })

  it('of a waiting message removes it, and the others keep their order', async () => {
    const stall: Reply = { kind: 'stall', blocks: [text('Hm')] }
    await withPipeline({ model: script(stall) }, async (pipeline) => {
      await put(
        pipeline,
        ['first', 'second', 'third'].map((userText) =>
          userMessage(pipeline.agent, { text: userText }),
        ),
      )
      await untilStreaming(pipeline)
      await pipeline.edge.cancel({ conversation: 'c', messageId: 'second' })
      await endsOfMessages(pipeline, 'c', ['second'])
      await pipeline.edge.cancel({ conversation: 'c', messageId: 'first' })
      const ends = await endsOfMessages(pipeline, 'c', ['first', 'second', 'third'])
      expect(ends.map(({ messageId, outcome }) => [messageId, outcome])).toEqual([
        ['second', 'cancelled'],
        ['first', 'cancelled'],
        ['third', 'answered'],
      ])
      expect(JSON.stringify(pipeline.server.requests[1])).not.toContain('second')
      await expectGoesOn(pipeline)
    })
  })

  it('has no effect if it is early, late, repeated or for an unknown message', async () => {
    await withPipeline({ model: script() }, async (pipeline) => {
      const cancel = (messageId: string) => pipeline.edge.cancel({ conversation: 'c', messageId })
      await cancel('hello')
      await cancel('')
      await cancel('x'.repeat(100_000))
      await put(pipeline, [userMessage(pipeline.agent, { text: 'hello' })])
      expect(await endsOfMessages(pipeline, 'c', ['hello'])).toMatchObject([
        { outcome: 'answered' },
      ])
      await cancel('hello')
      await cancel('hello')
      await expectGoesOn(pipeline)
      const ends = endsOf(
        await activityUntil(pipeline, 'c', (activity) => endsOf(activity).length >= 2),
      )
      expect(ends.map(({ outcome }) => outcome)).toEqual(['answered', 'answered'])
    })
  })

  function untilStreaming({ records }: Pipeline): Promise<void> {
    return until(async () => (await records('model-deltas')).some(({ type }) => type === 'part'))
  }
})

describe('conversations whose ids look alike', () => {
  it('never see each other, with any characters in their ids', async () => {
    const ids = [
      'a',
      'a"',
      'a","b',
      '["a",0',
      'a%',
      'a_',
      'A',
      'a/0/1',
      '__proto__',
      'constructor',
      'a\u0000b',
      '\u001b[31m',
      'é',
      'e\u0301',
      '😀',
      '*',
      "a'; DROP TABLE topics; --",
    ]
    const model = (request: ModelCall) => says(text(`Seen: ${textsOf(request).join(' | ')}`))
    await withPipeline({ model }, async (pipeline) => {
      for (const round of [1, 2]) {
        const turns = await Promise.all(
          ids.map((id, i) => pipeline.ask(`${round} of ${i}`, { conversation: id })),
        )
        expect(turns.map(({ finished }) => finished.reply)).toEqual(
          ids.map((_, i) =>
            round === 1 ? `Seen: 1 of ${i}` : `Seen: 1 of ${i} | Seen: 1 of ${i} | 2 of ${i}`,
          ),
        )
      }
      await expectInvariants(pipeline)
    })
  })
})
