import { describe, expect, it } from '@jest/globals'
import {
  addToInbox,
  beginInbox,
  consoleInboxBytesMax,
  shownInbox,
} from '../../../../apps/http/console/state/inbox.ts'
import {
  addToTurns,
  beginTurns,
  consoleStalledMs,
  shownTurns,
  turnOf,
} from '../../../../apps/http/console/state/open-turns.ts'
import {
  addSettledToSpend,
  addToSpend,
  beginSpend,
  consoleRoundsKept,
  shownSpend,
} from '../../../../apps/http/console/state/spend.ts'
import { idleTimes } from '../../../../apps/http/console/state/stages-data.ts'
import { addToStops, beginStops, shownStops } from '../../../../apps/http/console/state/stops.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { BudgetSettled, Message, PendingCall } from '../../../../shared/contract/messages.ts'
import {
  callDenied,
  callFinished,
  interventionRaised,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../../support/activity.ts'
import { verdictWith } from '../../../support/messages.ts'

const start = 1_800_000_000_000

/** Folds records that come one second apart, and returns the state at the time of the last one. */
function folded(messages: Message[], until = 0) {
  const turns = beginTurns()
  const spend = beginSpend()
  const stops = beginStops()
  const inbox = beginInbox()
  let time = start
  for (const message of messages) {
    time += 1_000
    if (message.type === 'budget-settled') {
      addSettledToSpend(spend, message)
      continue
    }
    const turn = turnOf(turns, message)
    addToStops(stops, message, { turn, time })
    addToInbox(inbox, message, { agent: turn?.agent ?? 'unknown', time })
    addToSpend(spend, message, { turn, time })
    addToTurns(turns, message, time)
  }
  const now = time + until
  return {
    turns: shownTurns(turns, now),
    stops: shownStops(stops, now),
    spend: shownSpend(spend, now),
    inbox: shownInbox(inbox, now),
  }
}

const place = { conversation: 'c', turn: 7, round: 1 }
const answered = (calls: number, tokens = 100, round = 1): Message => ({
  type: 'model-answered',
  ...place,
  round,
  attempt: 'a',
  text: '',
  textBytes: 0,
  stop: 'calls',
  calls: Array.from({ length: calls }, (_, ordinal) => ({
    ordinal,
    id: '',
    name: 'exec',
    arguments: '{}',
    argumentsBytes: 2,
    problem: null,
  })),
  usage: { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
})
const waitsFor = (guards: string[]): Message => ({
  type: 'calls-waiting',
  ...place,
  until: start + 60_000,
  calls: [{ ordinal: 0, name: 'exec', guards }],
})
const offered = (ordinal: number): Message => ({
  type: 'call-offered',
  ...place,
  ordinal,
  name: 'pick',
  until: start + 60_000,
})
const clientCalls = 'pick (call-7-1-0), pick (call-7-1-1)'
const verdict = (guard: string, code: string): Message => ({
  type: 'guard-verdict-given',
  ...place,
  guard,
  version: '1',
  answer: 'verdicts',
  waitedMs: 1,
  verdicts: [verdictWith({ verdict: 'deny', code, text: 'no' })],
})
const pending = (call: Partial<PendingCall> = {}, until = start + 3_600_000): Message => ({
  type: 'approval-pending',
  ...place,
  until,
  calls: [
    {
      ordinal: 0,
      name: 'exec',
      arguments: '{"a":1}',
      id: 'k7f3',
      hash: 'h',
      rule: 'r',
      source: null,
      program: null,
      question: null,
      ...call,
    },
  ],
})
const decided = (outcome: 'allow' | 'deny' | 'expired', ordinal = 0): Message => ({
  type: 'approval-decided',
  ...place,
  ordinal,
  name: 'exec',
  id: 'k7f3',
  outcome,
  by: outcome === 'expired' ? '' : 'ann',
  reason: '',
  waitedMs: 1,
  identity: 'authenticated',
})
const stop = (action: 'text_only' | 'end'): Message => {
  const raised = interventionRaised('cycle', 'the same again')
  if (raised.type !== 'intervention-raised') throw new Error('not an intervention')
  return { ...raised, intervention: { ...raised.intervention, action } }
}

/** Judged as evidence of a loop: these rounds. */
const loops = (rounds: number[], shadow = false): Message => {
  const raised = interventionRaised('identical-failure', 'the same again', shadow)
  if (raised.type !== 'intervention-raised') throw new Error('not an intervention')
  const evidence = rounds.map((round) => ({ round, ordinal: 0 }))
  return { ...raised, intervention: { ...raised.intervention, evidence } }
}
const settled = (round: number, usd: number | null, attempt = `a${round}`): BudgetSettled => ({
  type: 'budget-settled',
  tenant: 'default',
  ...place,
  round,
  attempt,
  counted: 'usage',
  usage: { inputTokens: 1, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  tokens: 1,
  usd,
  priced: true,
  prices: usd === null ? '' : '1',
})

describe('the open turns', () => {
  const begun = [turnStarted(), roundStarted()]
  it.each<[string, Message[], string, string]>([
    ['model', [], 'model', ''],
    ['tool', [answered(1), toolStarted()], 'tool', 'exec'],
    ['guard', [answered(1), waitsFor(['shell'])], 'guard', 'shell'],
    ['person', [answered(1), waitsFor(['approval']), pending()], 'person', ''],
    ['tool', [answered(1), pending(), decided('allow')], 'tool', ''],
    ['client', [answered(2), offered(0), offered(1)], 'client', clientCalls],
    ['tool', [answered(1), offered(0), callFinished()], 'tool', ''],
    ['model', [answered(1), toolStarted(), roundStarted(2)], 'model', ''],
  ])('are at the %s after these records: %j', (_, messages, state, detail) => {
    const [turn] = folded([...begun, ...messages]).turns.shown
    expect(turn).toMatchObject({ state, detail, agent: 'agent' })
  })

  it('have the time since which a turn is in its state', () => {
    const { turns } = folded([...begun, answered(1), toolStarted()], 5_000)
    expect(turns.shown[0]).toMatchObject({ since: start + 3_000, startedAt: start + 1_000 })
  })

  it('are stalled without a record, but not while a person or the client has them', () => {
    const late = consoleStalledMs + 1
    const { turns } = folded([...begun, answered(1), offered(0)], late)
    expect(turns.shown).toMatchObject([{ state: 'client', since: start + 4_000 }])
    expect(folded(begun, late).turns.counts).toMatchObject({ stalled: 1, model: 0 })
    expect(folded([...begun, pending()], late).turns.counts).toMatchObject({ person: 1 })
  })

  it('end with their turn, and a late record opens none', () => {
    expect(folded([...begun, turnFinished(), toolStarted()]).turns.shown).toEqual([])
  })

  it('are followed up to the limit, and counted beyond it', () => {
    const many = Array.from({ length: limits.consoleTurnsMax + 2 }, (_, turn) =>
      turnStarted({ turn }),
    )
    const { turns } = folded(many)
    expect(turns.dropped).toBe(2)
    expect(turns.shown).toHaveLength(limits.consoleTurnsShownMax)
  })
})

describe('the stops', () => {
  it('tell the no of a person from the silence of everyone', () => {
    const { stops } = folded([
      ...[turnStarted(), verdict('approval', 'approval.denied')],
      ...[verdict('approval', 'approval.expired'), verdict('approval', 'approval.withdrawn')],
    ])
    expect(stops.by.map(({ rule, calls }) => [rule, calls])).toEqual([
      ["a person's no", 1],
      ['nobody answered', 1],
    ])
  })

  it('save at most the rounds up to the limit of calls, once for each turn', () => {
    const round = roundStarted(1, { callsLeft: 10 })
    const { stops } = folded([
      ...[turnStarted(), round, answered(2, 300), stop('text_only'), stop('end')],
    ])
    const filters = { agent: 'agent', rule: 'cycle' }
    const saved = { rounds: 5, tokens: 1_500 }
    expect(stops.by).toEqual([
      { agent: 'agent', rule: 'cycle', calls: 0, turns: 1, reminders: 0, ...saved, filters },
    ])
  })

  it('save no round and no token beyond any cap of the turn', () => {
    const caps = { rounds: 25, calls: 100, wallMs: 3_600_000, tokens: null }
    const savedWith = (lower: Partial<typeof caps> | { tokens: number }) => {
      const begun = roundStarted(4, { callsLeft: 97, caps: { ...caps, ...lower } })
      const { total } = folded([turnStarted(), begun, answered(1, 300, 4), stop('end')]).stops
      return [total.rounds, total.tokens]
    }
    expect(savedWith({})).toEqual([21, 6_300])
    expect(savedWith({ tokens: 1_500 })).toEqual([4, 1_200])
    expect(savedWith({ wallMs: 4_000 })).toEqual([2, 600]) // 3 s for the first 4 rounds
    expect(savedWith({ rounds: 4 })).toEqual([0, 0])
  })

  it('count denied calls, and reminders, but nothing of a rule in shadow', () => {
    const { stops } = folded([
      ...[turnStarted(), callDenied('unknown tool'), interventionRaised('cycle', 'x')],
      interventionRaised('sweep', 'x', true),
    ])
    expect(stops.total).toMatchObject({ calls: 1, reminders: 1, turns: 0 })
  })

  it('count a call that a check denies before its start, but none that a guard denied', () => {
    const { stops } = folded([
      ...[turnStarted(), callFinished(0, { status: 'denied', reason: 'tool not offered' })],
      callFinished(1, { status: 'denied', guard: 'mine' }),
    ])
    expect(stops.by.map(({ rule, calls }) => [rule, calls])).toEqual([['executor', 1]])
  })

  it('are forgotten after an hour', () => {
    const { stops } = folded([turnStarted(), callDenied('unknown tool')], 3_600_000)
    expect(stops.total.calls).toBe(0)
  })

  it('keep a bounded number of pairs', () => {
    const many = Array.from({ length: limits.consolePairsMax + 5 }, (_, n) =>
      verdict(`g${n}`, 'no'),
    )
    const { stops } = folded(many)
    expect(stops.total.calls).toBe(many.length)
    expect(stops.by.length).toBeLessThanOrEqual(limits.consolePairsMax)
  })
})

describe('the spend without progress', () => {
  const rounds = [1, 2, 3].flatMap((round) => [
    ...[roundStarted(round), answered(1, 100 * round, round)],
  ])
  it('has the rounds that the loop-detector names, without the first, and each once', () => {
    const { spend, turns } = folded([
      ...[turnStarted(), ...rounds, loops([1, 2, 3]), loops([1, 2, 3], true)],
    ])
    expect(spend.by).toEqual([
      { agent: 'agent', turns: 1, rounds: 2, tokens: 500, usd: 0, priced: 0 },
    ])
    expect(turns.shown).toMatchObject([{ idle: 2 }])
  })

  it.each<[string, Message[]]>([
    ['before', [settled(3, 7), settled(3, 7), settled(2, null), loops([1, 2, 3])]],
    ['after', [loops([1, 2, 3]), settled(3, 7), settled(3, 7), settled(1, 9)]],
  ])('has the money that is settled %s the judgement, each attempt once', (_, messages) => {
    const { spend } = folded([turnStarted(), ...rounds, ...messages])
    expect(spend.total).toEqual({ turns: 1, rounds: 2, tokens: 500, usd: 7, priced: 1 })
  })

  it('has nothing of a usual reminder, and nothing after an hour', () => {
    const raised = loops([2])
    if (raised.type !== 'intervention-raised') throw new Error('not an intervention')
    const ordinary = { ...raised, intervention: { ...raised.intervention, ordinary: true } }
    expect(folded([turnStarted(), ...rounds, ordinary]).spend.by).toEqual([])
    expect(folded([turnStarted(), ...rounds, raised], 3_600_000).spend.by).toEqual([])
  })

  it('keeps the tokens of a bounded number of rounds', () => {
    const many = Array.from({ length: consoleRoundsKept + 1 }, (_, n) => answered(1, 10, n + 1))
    expect(folded([turnStarted(), ...many, loops([1])]).spend.by).toEqual([])
    expect(folded([turnStarted(), ...many, loops([2])]).spend.total.tokens).toBe(10)
  })
})

describe('a stage without a process', () => {
  const idle = { stage: 'validator', isRunning: false, behind: 1, oldestAt: start } as const
  it('has none since the first look without one, and anew after a pause', () => {
    const look = idleTimes()
    const sinceAt = (now: number, isRunning = false) =>
      look([{ ...idle, isRunning }], now).stages[0]?.idleSince
    expect([sinceAt(1_000), sinceAt(6_000), sinceAt(9_000, true)]).toEqual([1_000, 1_000, null])
    expect([sinceAt(12_000), sinceAt(3_600_000)]).toEqual([12_000, 3_600_000])
  })
})

describe('the inbox', () => {
  it('shows the fields of a question, and compares its call with none', () => {
    const schema = { properties: { seat: { enum: ['aisle'], default: 'aisle' } } }
    const question = JSON.stringify({ server: 's', message: 'm', mode: 'form', schema })
    const asked = pending({ question })
    const { waiting } = folded([turnStarted(), asked]).inbox
    expect(waiting).toMatchObject([
      {
        question: {
          url: null,
          fields: [{ name: 'seat', type: 'one of "aisle"', default: 'aisle' }],
        },
      },
    ])
    const later = folded([turnStarted(), asked, decided('allow'), pending()]).inbox
    expect(later.waiting).toMatchObject([{ question: null, allowed: null }])
  })

  it('has the exact arguments of a call, and those of the last approved call of its tool', () => {
    const { inbox } = folded([
      ...[turnStarted(), pending({ arguments: '{"a":1}' }), decided('allow')],
      pending({ ordinal: 1, arguments: '{"a":2}' }),
    ])
    expect(inbox.waiting).toMatchObject([{ rawArguments: '{"a":2}', allowed: '{"a":1}' }])
  })

  it('drops the decisions and the approved arguments of a deleted conversation', () => {
    const forgotten = { type: 'conversation-forgotten', conversation: 'c', by: 'ann' } as const
    const { inbox } = folded([
      ...[turnStarted(), pending({ arguments: '{"a":1}' }), decided('allow')],
      { ...forgotten, identity: 'claimed' },
      pending({ ordinal: 1, arguments: '{"a":2}' }),
    ])
    expect(inbox.decided).toEqual([])
    expect(inbox.waiting).toMatchObject([{ allowed: null }])
  })

  it('has each open question of a running call, until its own answer', () => {
    const asked = [pending({ id: 'first' }), pending({ id: 'second' })]
    const ids = (...more: Message[]) =>
      folded([turnStarted(), ...asked, ...more]).inbox.waiting.map(({ id }) => id)
    expect(ids()).toEqual(['first', 'second'])
    expect(ids({ ...decided('allow'), id: 'first' } as Message)).toEqual(['second'])
  })

  it('has no call past its deadline, and none of an ended turn', () => {
    expect(folded([turnStarted(), pending({}, start)]).inbox.waiting).toEqual([])
    expect(folded([turnStarted(), pending(), turnFinished()]).inbox.waiting).toEqual([])
  })

  it.each(['allow', 'deny', 'expired'] as const)('lists a call that is %s', (outcome) => {
    const { waiting, decided: list } = folded([turnStarted(), pending(), decided(outcome)]).inbox
    expect(waiting).toEqual([])
    expect(list).toMatchObject([{ outcome, name: 'exec', agent: 'agent' }])
  })

  it('shows the arguments of a call as a whole or not at all', () => {
    const half = 'x'.repeat(consoleInboxBytesMax / 2)
    const calls = [0, 1, 2].map((ordinal) =>
      pending({ ordinal, id: `${ordinal}`, arguments: half }),
    )
    const { waiting } = folded([turnStarted(), ...calls]).inbox
    expect(waiting.map((one) => one.rawArguments?.length ?? null)).toEqual([
      ...[half.length, half.length, null],
    ])
  })
})
