// A message opens a turn, waits, is a repeat, or is refused.

import { describe, expect, it } from '@jest/globals'
import { conversation } from '../../../services/conversation/reducer.ts'
import { declarationHash } from '../../../shared/agents/agents.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { AgentSettings, Caps, UserMessage } from '../../../shared/contract/messages.ts'
import type { Output } from '../../../shared/contract/stage.ts'
import { at, given } from '../../support/given.ts'
import {
  all,
  cancels,
  carriedIn,
  fallback,
  names,
  only,
  outcome,
  says,
  search,
  settingsWith,
  tick,
} from './samples.ts'

describe('a message that follows an earlier turn', () => {
  const again = says('m2', { settings: settingsWith({}, { afterTurn: 0 }) })
  const followed = (records: Output[]) =>
    all(records, 'history-entry').flatMap(({ round, afterTurn }) =>
      round === 0 ? [afterTurn] : [],
    )

  it('names that turn in its history entry', () => {
    expect(followed(given(conversation, again).records)).toEqual([0])
  })

  it('still names it after it has waited for the open turn', () => {
    const waiting = given(conversation, says('m1'), again)
    expect(waiting.records).toEqual([])
    const ended = waiting.when(outcome(0, 1, { text: 'hello' }))
    expect(followed(ended.when(carriedIn(ended.records)).records)).toEqual([0])
  })
})

describe('a message to an idle conversation', () => {
  it('opens a turn with its history entry, its first request and the activity for clients, in this order', () => {
    const settings = settingsWith({ calls: 7, wallMs: 5_000 })
    const opened = given(conversation, at(1_000, says('m1', { settings })))

    expect(opened.records).toEqual([
      {
        to: 'history',
        message: {
          type: 'history-entry',
          redact: [],
          conversation: 'c',
          turn: 0,
          round: 0,
          user: 'text of m1',
          response: null,
          contents: [],
          afterTurn: null,
          results: [],
          nudge: null,
          note: null,
        },
      },
      {
        to: 'model',
        message: {
          type: 'model-request',
          conversation: 'c',
          turn: 0,
          round: 1,
          historyRound: 0,
          nudge: null,
          callsLeft: 7,
          agent: 'helper',
          tools: [{ name: 'search', hash: declarationHash(search) }],
          settings,
          expiresAt: 6_000,
        },
      },
      {
        to: 'activity',
        message: {
          type: 'turn-started',
          conversation: 'c',
          turn: 0,
          messageId: 'm1',
          agent: 'helper',
          parent: null,
        },
      },
      {
        to: 'activity',
        message: {
          type: 'round-started',
          conversation: 'c',
          turn: 0,
          round: 1,
          callsLeft: 7,
          nudged: false,
          key: '',
          turnKey: '',
          caps: settings.policy.caps,
        },
      },
    ])
    expect(opened.due).toBe(6_000)
    expect(opened.wants).toEqual([])
  })

  it('names the turn by the offset of the message', () => {
    const second = given(conversation, says('m1', { conversation: 'other' }), says('m2'))
    expect(only(second.records, 'model-request').turn).toBe(1)
  })

  it('lowers caps to the hard ceilings', () => {
    const settings = settingsWith({
      rounds: 1_000_000,
      calls: 1_000_000,
      wallMs: 1_000 * limits.turnWallMsMax,
      tokens: null,
    })
    const request = only(
      given(conversation, at(0, says('m1', { settings }))).records,
      'model-request',
    )
    expect(request.callsLeft).toBe(limits.turnCallsMax)
    expect(request.expiresAt).toBe(limits.turnWallMsMax)
  })

  it('lowers the rounds too, and then to the stamp of the first round', () => {
    const settings = settingsWith({ rounds: 1_000_000 })
    const turn = given(conversation, says('m1', { settings }))
    expect(turn.state).toMatchObject({
      turn: { allowance: { caps: { rounds: limits.turnRoundsMax } } },
    })
    expect(turn.when(outcome(0, 1, { calls: 1, caps: { rounds: 25 } })).state).toMatchObject({
      turn: { allowance: { caps: { rounds: 25 } } },
    })
  })
})

describe('a message to a busy conversation', () => {
  const open = given(conversation, says('m1'))
  const waiting = open.when(cancels('m1'))
  const carrying = open.when(outcome(0, 1, { text: 'done' }))

  it.each([
    ['a turn is open', open],
    ['a cancelled turn waits for its outcome', waiting],
    ['a carried is in flight', carrying],
  ])('waits while %s', (_, busy) => {
    const queued = busy.when(says('m2'))
    expect(queued.records).toEqual([])
    expect(queued.state).toEqual({
      ...busy.state,
      queue: [expect.objectContaining({ messageId: 'm2', text: 'text of m2' })],
      recentMessageIds: ['m1', 'm2'],
    })
  })

  it('stores a waiting message with its tools by reference and the timeout of the slowest', () => {
    const slow = { ...search, name: 'slow', timeoutMs: 90_000 }
    const queued = open.when(says('m2', { declarations: [search, slow] })).state?.queue[0]
    expect(queued?.tools.map(({ name }) => name)).toEqual(['search', 'slow'])
    expect(queued?.toolTimeoutMsMax).toBe(90_000)
  })

  it('limits a tool timeout above the maximum', () => {
    const queued = open.when(
      says('m2', { declarations: [{ ...search, timeoutMs: 10 * limits.toolTimeoutMsMax }] }),
    ).state?.queue[0]
    expect(queued?.toolTimeoutMsMax).toBe(limits.toolTimeoutMsMax)
  })

  it('is refused as transient if the queue is full', () => {
    let full = open
    for (let i = 0; i < limits.queueMessagesMax; i++) full = full.when(says(`q${i}`))
    const refused = full.when(says('late'))
    expect(refused.state).toEqual(full.state)
    expect(only(refused.records, 'turn-finished')).toMatchObject({
      messageId: 'late',
      outcome: 'failed',
      class: 'transient',
      reply: fallback,
    })
    expect(only(refused.records, 'turn-finished').reason).toMatch(/^16 messages are waiting/)
  })

  it('is refused as transient if the queue would be too large', () => {
    const half = 'x'.repeat(limits.queueBytesMax / 2)
    const full = open.when(says('m2', { text: half }))
    expect(full.state?.queue).toHaveLength(1)
    const refused = full.when(says('m3', { text: half }))
    expect(refused.state).toEqual(full.state)
    expect(only(refused.records, 'turn-finished')).toMatchObject({
      messageId: 'm3',
      class: 'transient',
    })
    expect(refused.when(says('m3')).state?.queue).toHaveLength(2) // a refused id is not remembered
  })

  it('opens the turns of waiting messages in order, one after the other', () => {
    let folded = given(
      conversation,
      says('m1'),
      says('m2'),
      says('m3'),
      outcome(0, 1, { text: 'one' }),
    )
    folded = folded.when(carriedIn(folded.records)) // offset 4
    expect(names(folded.records)).toEqual([
      'history: history-entry',
      'model: model-request',
      'activity: turn-started',
      'activity: round-started',
    ])
    expect(only(folded.records, 'turn-started')).toMatchObject({ turn: 4, messageId: 'm2' })
    expect(only(folded.records, 'history-entry')).toMatchObject({
      turn: 4,
      round: 0,
      user: 'text of m2',
    })
    folded = folded.when(outcome(4, 1, { text: 'two' })) // offset 5
    folded = folded.when(carriedIn(folded.records))
    expect(only(folded.records, 'turn-started')).toMatchObject({ turn: 6, messageId: 'm3' })
    expect(folded.state?.queue).toEqual([])
  })

  it('measures the wall time of a waiting message from the opening of its turn', () => {
    let folded = given(
      conversation,
      at(0, says('m1')),
      at(10, says('m2', { settings: settingsWith({ wallMs: 1_000 }) })),
      at(60_000, outcome(0, 1, { text: 'one' })),
    )
    folded = folded.when(at(60_005, carriedIn(folded.records)))
    expect(folded.due).toBe(61_005)
  })
})

describe('a repeated message', () => {
  it('changes nothing while the first one is open, waits, or is finished', () => {
    const busy = given(conversation, says('m1'), says('m2'))
    for (const known of ['m1', 'm2']) {
      const again = busy.when(says(known))
      expect(again.records).toEqual([])
      expect(again.state).toEqual(busy.state)
    }
    let idle = given(conversation, says('m1'), outcome(0, 1, { text: 'done' }))
    idle = idle.when(carriedIn(idle.records))
    expect(idle.state).toMatchObject({ phase: 'idle', recentMessageIds: ['m1'] })
    expect(idle.when(says('m1')).records).toEqual([])
    expect(names(idle.when(says('m2')).records)).toContain('model: model-request')
  })

  it('is recognised after its removal from the queue', () => {
    const folded = given(conversation, says('m1'), says('m2'), cancels('m2'), says('m2'))
    expect(folded.records).toEqual([])
    expect(folded.state?.queue).toEqual([])
  })

  it('is recognised by the newest ids only', () => {
    let folded = given(conversation, says('m0'), outcome(0, 1, { text: 'done' }))
    folded = folded.when(carriedIn(folded.records))
    for (let i = 1; i <= limits.recentMessageIdsMax; i++) {
      const opened = folded.when(says(`m${i}`))
      const over = opened.when(
        outcome(only(opened.records, 'model-request').turn, 1, { text: 'done' }),
      )
      folded = over.when(carriedIn(over.records))
    }
    expect(folded.state?.recentMessageIds).toHaveLength(limits.recentMessageIdsMax)
    expect(folded.when(says('m1')).records).toEqual([])
    expect(names(folded.when(says('m0')).records)).toContain('model: model-request')
  })

  it('is recognised while the first one is open or waits, after any number of later ids', () => {
    let folded = given(conversation, says('m0'), says('waits'))
    for (let i = 1; i <= 2 * limits.recentMessageIdsMax; i++)
      folded = folded.when(says(`m${i}`)).when(cancels(`m${i}`))
    expect(folded.state?.recentMessageIds).not.toContain('m0')
    expect(folded.when(says('m0')).state).toEqual(folded.state)
    expect(folded.state?.recentMessageIds).not.toContain('waits')
    expect(folded.when(says('waits')).state).toEqual(folded.state)
  })
})

describe('a refused message', () => {
  const capsOf = (caps: Partial<Caps>): Partial<UserMessage> => ({ settings: settingsWith(caps) })
  const policyOf = (others: Partial<AgentSettings['policy']>): Partial<UserMessage> => ({
    settings: settingsWith({}, { policy: { ...defaultPolicy, ...others } }),
  })
  const cases: [string, Partial<UserMessage>, RegExp][] = [
    [
      'no rounds',
      capsOf({ rounds: 0 }),
      /^settings\.policy\.caps\.rounds is 0; it must be at least 1$/,
    ],
    ['no calls', capsOf({ calls: 0 }), /caps\.calls is 0/],
    ['no time', capsOf({ wallMs: -1 }), /caps\.wallMs is -1/],
    ['no tokens', capsOf({ tokens: 0 }), /caps\.tokens is 0/],
    ['no attempts', { settings: settingsWith({}, { attempts: 0 }) }, /settings\.attempts is 0/],
    ['no stall limit', { settings: settingsWith({}, { stallMs: 0 }) }, /settings\.stallMs is 0/],
    [
      'a blank fallback',
      { settings: settingsWith({}, { fallback: ' \n' }) },
      /settings\.fallback is blank/,
    ],
    [
      'an endless fallback',
      { settings: settingsWith({}, { fallback: 'f'.repeat(limits.fallbackBytesMax + 1) }) },
      /settings\.fallback has 65537 bytes/,
    ],
    [
      'an endless name of an agent',
      { agent: 'a'.repeat(limits.agentNameBytesMax + 1) },
      /agent has 257 bytes/,
    ],
    ['no agent', { agent: '' }, /agent is blank/],
    [
      'a threshold of nothing',
      policyOf({ loop: { ...defaultPolicy.loop, identicalFailures: 0 } }),
      /loop\.identicalFailures is 0/,
    ],
    [
      'a negative allowance',
      policyOf({ empty: { ...defaultPolicy.empty, perTurn: -1 } }),
      /empty\.perTurn is -1/,
    ],
    [
      'no time to start',
      policyOf({ startWithinMs: 0 }),
      /startWithinMs is 0; it must be at least 1/,
    ],
    [
      'a start that may take for ever',
      policyOf({ startWithinMs: 1e12 }),
      /startWithinMs is 1000000000000; it must be at most/,
    ],
    [
      'a grace without end',
      policyOf({ graceMs: 1e12 }),
      /graceMs is 1000000000000; it must be at most/,
    ],
    [
      'rules in shadow without end',
      policyOf({ shadowed: Array.from({ length: 2_000 }, () => 'cycle') }),
      /policy\.shadowed has 12000 bytes; at most 4096/,
    ],
    ['no tries', policyOf({ toolTries: 0 }), /toolTries is 0/],
    [
      'a text that is too long',
      { text: 'é'.repeat(limits.userMessageBytesMax / 2 + 1) },
      /the message has 1048578 bytes/,
    ],
    ['no message id', { messageId: '' }, /the message id has 0 bytes/],
    [
      'a long message id',
      { messageId: 'i'.repeat(limits.messageIdBytesMax + 1) },
      /the message id has 257 bytes/,
    ],
    [
      'a long conversation id',
      { conversation: 'i'.repeat(limits.conversationIdBytesMax + 1) },
      /the conversation's id has 257 bytes/,
    ],
    ['no conversation id', { conversation: '' }, /the conversation's id has 0 bytes/],
  ]

  it.each(cases)('for %s opens nothing and gives the reason', (_, others, reason) => {
    const refused = given(conversation, says('m1', others))
    expect(refused.state).toBeUndefined()
    expect(names(refused.records)).toEqual(['activity: turn-finished'])
    const finished = only(refused.records, 'turn-finished')
    expect(finished).toMatchObject({
      turn: 0,
      outcome: 'failed',
      class: 'deterministic',
      cap: null,
    })
    expect(finished.reason).toMatch(reason)
    expect(finished.totals).toEqual({
      rounds: 0,
      calls: 0,
      inputTokens: 0,
      outputTokens: 0,
      wallMs: 0,
    })
  })

  it('leaves an open turn unchanged, and names the offset of its record', () => {
    const open = given(conversation, says('m1'))
    const refused = open.when(says('m2', capsOf({ rounds: 0 })))
    expect(refused.state).toEqual(open.state)
    expect(only(refused.records, 'turn-finished')).toMatchObject({ turn: 1, messageId: 'm2' })
  })

  it('can be sent again after a correction', () => {
    const folded = given(conversation, says('m1', capsOf({ rounds: 0 })), says('m1'))
    expect(names(folded.records)).toContain('model: model-request')
  })

  it('of exactly the largest size is accepted', () => {
    const folded = given(conversation, says('m1', { text: 'x'.repeat(limits.userMessageBytesMax) }))
    expect(all(folded.records, 'turn-finished')).toEqual([])
  })
})

describe('a conversation that is not open', () => {
  it('drops every record except a message or a carried', () => {
    const folded = given(conversation, outcome(0, 1), cancels('m1'), tick())
    expect(folded.state).toBeUndefined()
    expect(folded.all).toEqual([])
  })
})
