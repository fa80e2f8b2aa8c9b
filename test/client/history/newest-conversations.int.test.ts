import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { factTexts } from '../../../apps/history/facts-text.ts'
import { newestConversations } from '../../../client/history/newest-conversations.ts'
import { newestIds } from '../../../client/history/newest-records.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type {
  HistoryEntry,
  Intervention,
  Message,
  RedactRule,
  TurnFinished,
  UnjudgedRequests,
} from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { historyKey, type TopicName } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { responseWith, userMessage } from '../../support/messages.ts'

const partitions = 3
let bus: Bus
let now = 1_000
beforeEach(async () => {
  now = 1_000
  bus = await openEmbeddedBus({ file: ':memory:', clock: { ...systemClock, now: () => now } })
  await bus.ensureTopics(topicSpecs('weir.', partitions))
})
afterEach(() => bus.close())

const progress = { expect() {}, read() {}, end() {} }
let hasIndex = true
const log = () => ({ bus, topicPrefix: 'weir.', partitions, hasIndex, progress })

/** Each record is a millisecond later than the one before. */
async function write(
  topic: TopicName,
  message: Message & { conversation: string },
): Promise<number> {
  now += 1
  const [appended] = await bus.append([
    toRecord({
      topic: `weir.${topic}`,
      partition: partitionOf(message.conversation, partitions),
      message,
    }),
  ])
  return appended?.offset ?? -1
}

async function begin(conversation: string): Promise<number> {
  const turn = await write(
    'conversation-events',
    userMessage({ conversation, agent: `agent of ${conversation}` }),
  )
  await entry(conversation, turn, 0)
  await write('activity', {
    type: 'turn-started',
    parent: null,
    conversation,
    turn,
    messageId: 'm1',
    agent: 'agent',
  })
  return turn
}

async function entry(
  conversation: string,
  turn: number,
  round: number,
  user = `hello  of\n${conversation}`,
  fields: Partial<HistoryEntry> = {},
): Promise<void> {
  const usage = { inputTokens: 100, outputTokens: 5, cacheReadTokens: 10, cacheWriteTokens: 1 }
  const response = round === 0 ? null : responseWith({ stop: 'end' as const, usage })
  await write('history', {
    type: 'history-entry',
    redact: [],
    conversation,
    turn,
    round,
    user: round === 0 ? user : null,
    response,
    results: [],
    contents: [],
    afterTurn: null,
    nudge: null,
    note: null,
    ...fields,
  })
}

async function finish(
  conversation: string,
  turn: number,
  fields: Partial<TurnFinished> = {},
): Promise<void> {
  const totals = { rounds: 1, calls: 0, inputTokens: 1, outputTokens: 1, wallMs: 1 }
  const how = {
    outcome: 'answered',
    reply: '',
    reason: 'the model answered',
    class: null,
    cap: null,
  } as const
  await write('activity', {
    type: 'turn-finished',
    conversation,
    turn,
    messageId: 'm1',
    ...how,
    totals,
    ...fields,
  })
}

const noFacts = {
  rules: {},
  actions: {},
  denials: {},
  deniedByChecks: 0,
  approvals: {},
  approvalMs: 0,
  unjudged: {},
  isWhole: true,
}
const answered = { outcome: 'answered', class: null, cap: null, reason: 'the model answered' }

async function raise(
  conversation: string,
  turn: number,
  { action = 'nudge', rule = 'cycle' }: Partial<Pick<Intervention, 'action' | 'rule'>> = {},
  shadow = false,
): Promise<void> {
  const intervention: Intervention = {
    action,
    rule,
    ruleVersion: 1,
    key: '',
    reason: 'x',
    text: '',
    class: null,
    ordinary: false,
    evidence: [],
  }
  await write('activity', {
    type: 'intervention-raised',
    conversation,
    turn,
    round: 1,
    intervention,
    shadow,
  })
}

async function veto(conversation: string, turn: number, guard: string): Promise<void> {
  const verdict = { ordinal: 0, verdict: 'deny', code: '', text: '', evidence: null } as const
  await write('activity', {
    type: 'guard-verdict-given',
    conversation,
    turn,
    round: 1,
    guard,
    version: '1',
    answer: 'verdicts',
    verdicts: [verdict],
    waitedMs: 1,
  })
}

const asked = { messageId: 'm1', agent: 'coder' }

describe.each([
  ['by an index of the history', true],
  ['by reading the history through', false],
])('the newest conversations, %s,', (_, isIndexed) => {
  beforeEach(() => {
    hasIndex = isIndexed
  })

  it('show the agent of a guest, also next to another message at the same place of the log', async () => {
    const conversation = 'guest:claude-code:session:1'
    for (let n = 0; n < 3; n += 1)
      await write('conversation-events', userMessage({ conversation, agent: 'another' }))
    await entry(conversation, 1, 0)
    await finish(conversation, 1)
    expect(await newestConversations(log(), 10)).toMatchObject([
      { conversation, agent: 'claude-code', turns: 1 },
    ])
  })

  it('show the question of a guest without the reminders of its client', async () => {
    const reminder = '<system-reminder>\nAttribution of commits\n</system-reminder>'
    const asked = {
      'guest:c:1': `${reminder}\nFix the test.`,
      'guest:c:2': reminder,
      own: `${reminder} a`,
    }
    for (const [conversation, user] of Object.entries(asked)) {
      await entry(conversation, 1, 0, user)
      await finish(conversation, 1)
    }
    const found = await newestConversations(log(), 10)
    const questions = new Map(found.map(({ conversation, question }) => [conversation, question]))
    expect(questions.get('guest:c:1')).toBe('Fix the test.')
    expect(questions.get('guest:c:2')).toMatch(/^<system-reminder> Attribution/)
    expect(questions.get('own')).toMatch(/^<system-reminder> Attribution/)
  })

  it('hide a value of a later call in the question, unless the reader may see it', async () => {
    const rule: RedactRule = { name: 'password', pattern: null, path: 'arguments.password' }
    const call = {
      ordinal: 0,
      id: '',
      name: 'login',
      problem: null,
      source: 'start',
      raw: '{"password":"hunter2"}',
    }
    await entry('c', 1, 0, 'log in with hunter2', { redact: [rule] })
    await entry('c', 1, 1, '', {
      redact: [rule],
      response: responseWith({
        usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
        calls: [call] as never,
      }),
    })
    await finish('c', 1)
    expect(await newestConversations(log(), 10)).toMatchObject([
      { question: 'log in with [password]' },
    ])
    expect(await newestConversations({ ...log(), unredacted: true }, 10)).toMatchObject([
      { question: 'log in with hunter2' },
    ])
  })

  it('are sorted by their last activity across partitions, with turns and tokens of the whole conversation', async () => {
    for (const conversation of ['a', 'b', 'c', 'd', 'a']) {
      const turn = await begin(conversation)
      await entry(conversation, turn, 1)
      await finish(conversation, turn)
    }
    const found = await newestConversations(log(), 10)
    expect(found.map(({ conversation, turns }) => [conversation, turns])).toEqual([
      ['a', 2],
      ['d', 1],
      ['c', 1],
      ['b', 1],
    ])
    expect(found[0]).toEqual({
      conversation: 'a',
      agent: 'agent of a',
      turns: 2,
      inputTokens: 222,
      outputTokens: 10,
      question: 'hello of a',
      title: 'hello of a',
      facts: noFacts,
      last: { ...answered, at: now },
    })
    expect(await newestIds(log(), 2)).toEqual(['a', 'd'])
  })

  it('count each round once despite repeated records, and ignore deleted rounds', async () => {
    for (const conversation of ['written twice', 'forgotten']) {
      const turn = await begin(conversation)
      await entry(conversation, turn, 1)
      await entry(conversation, turn, 1)
      await finish(conversation, turn)
    }
    for (const round of [0, 1]) {
      const key = historyKey({ conversation: 'forgotten', turn: 0, round })
      await bus.append([
        {
          topic: 'weir.history',
          partition: partitionOf('forgotten', partitions),
          key,
          value: null,
        },
      ])
    }
    const found = await newestConversations(log(), 10)
    expect(
      found.map(({ conversation, turns, outputTokens }) => [conversation, turns, outputTokens]),
    ).toEqual([
      ['forgotten', 0, 0],
      ['written twice', 1, 5],
    ])
  })

  it('are open until their last turn ends, despite refused messages and late records', async () => {
    const open = await begin('open')
    await finish('open', open + 1, { messageId: 'm2', outcome: 'failed', class: 'transient' })
    const over = await begin('over')
    await finish('over', over, { outcome: 'cancelled', class: 'cancelled' })
    const late = {
      conversation: 'over',
      turn: over,
      round: 1,
      ordinal: 0,
      name: 'exec',
      status: 'ok',
      reason: '',
      durationMs: 1,
      result: 'done',
      resultId: '',
      guard: '',
      resultBytes: 4,
    } as const
    await write('activity', { type: 'call-finished', ...late })
    await finish('over', over + 1, { messageId: 'm3', outcome: 'failed', class: 'deterministic' })
    expect(
      (await newestConversations(log(), 10)).map(({ conversation, last }) => [
        conversation,
        last.outcome,
      ]),
    ).toEqual([
      ['over', 'cancelled'],
      ['open', 'open'],
    ])
  })

  it('show the end of the message if no turn ever began', async () => {
    await finish('refused', 0, { outcome: 'failed', class: 'deterministic', reason: 'too large' })
    expect(await newestConversations(log(), 10)).toEqual([
      {
        conversation: 'refused',
        agent: null,
        turns: 0,
        inputTokens: 0,
        outputTokens: 0,
        question: null,
        title: null,
        facts: noFacts,
        last: {
          outcome: 'failed',
          class: 'deterministic',
          cap: null,
          reason: 'too large',
          at: now,
        },
      },
    ])
  })

  it('show a turn of a guest as ended once Weir advises its end, until the guest goes on', async () => {
    const conversation = 'guest:coder:c1'
    const place = { conversation, turn: 0, round: 1, turnKey: 'm1' }
    const advice = {
      key: 'a.1',
      text: '',
      unknown: [],
      denied: [],
      hidden: [],
      over: [],
      requestId: '',
    }
    const adviseEnd = () =>
      write('activity', {
        type: 'guest-advice',
        ...place,
        ...advice,
        isOpen: true,
        action: 'end',
        rule: 'cycle',
        cap: null,
        reason: 'no progress',
      })
    await entry(conversation, 0, 0)
    await write('activity', { type: 'turn-started', conversation, turn: 0, ...asked, parent: null })
    await adviseEnd()
    expect((await newestConversations(log(), 1))[0]?.last).toMatchObject({
      outcome: 'ended',
      reason: 'no progress',
    })
    await write('activity', {
      type: 'round-started',
      ...place,
      callsLeft: 1,
      nudged: false,
      caps: null,
      key: 'a.2',
    })
    expect((await newestConversations(log(), 1))[0]?.last.outcome).toBe('open')
    await adviseEnd()
    await finish(conversation, 0, { outcome: 'failed', class: 'no_progress' })
    expect((await newestConversations(log(), 1))[0]?.last).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
    })
  })

  it('show the requests of a guest that passed unjudged by kind, each record once', async () => {
    const conversation = 'guest:coder:unjudged'
    const unjudged = (at: number, ...requests: UnjudgedRequests[]) =>
      write('activity', { type: 'requests-unjudged', conversation, at, requests })
    await unjudged(1, { kind: 'Gemini', count: 5 })
    await unjudged(2, { kind: 'Gemini', count: 7 }, { kind: 'POST /x', count: 1 })
    await unjudged(2, { kind: 'Gemini', count: 7 }, { kind: 'POST /x', count: 1 })
    const other = await begin('other')
    await finish('other', other)
    const [, counted] = await newestConversations(log(), 2)
    expect(counted).toMatchObject({
      conversation,
      turns: 0,
      last: { outcome: 'unjudged' },
      facts: { unjudged: { Gemini: 12, 'POST /x': 1 } },
    })
    expect(counted && factTexts(counted.facts)).toEqual([
      ...['12 requests unjudged: Gemini', '1 request unjudged: POST /x'],
    ])
  })

  it('have an unknown end if it is no longer in the log', async () => {
    await entry('old', 7, 0)
    await write('activity', {
      type: 'call-denied',
      conversation: 'old',
      turn: 7,
      round: 1,
      ordinal: 0,
      name: 'exec',
      reason: 'x',
      text: '',
    })
    expect(await newestConversations(log(), 10)).toMatchObject([
      { conversation: 'old', last: { outcome: 'unknown' } },
    ])
  })

  it('show what Weir stopped in any of their turns, without rules in shadow', async () => {
    const first = await begin('caught')
    await raise('caught', first)
    await raise('caught', first, { rule: 'sweep' }, true)
    await finish('caught', first)
    const second = await begin('caught')
    await veto('caught', second, 'no-rome')
    await finish('caught', second)
    const [found] = await newestConversations(log(), 10)
    expect(found?.facts).toEqual({
      ...noFacts,
      rules: { cycle: 1 },
      actions: { nudge: 1 },
      denials: { 'no-rome': 1 },
    })
  })

  it('cost as much as the shown number, not as the whole log', async () => {
    for (let i = 0; i < 1_000; i += 1) await finish(`c${i}`, 0)
    let read = 0
    const counting: Bus = {
      ...bus,
      async read(range) {
        const records = await bus.read(range)
        read += records.length
        return records
      },
    }
    expect(await newestConversations({ ...log(), bus: counting }, 5)).toHaveLength(5)
    expect(read).toBeLessThan(partitions * 140)
  })
})
