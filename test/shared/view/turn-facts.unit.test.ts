import { describe, expect, it } from '@jest/globals'
import { factTexts } from '../../../apps/history/facts-text.ts'
import { turnText } from '../../../apps/history/turn-numbers.ts'
import { firstWords } from '../../../client/history/first-words.ts'
import type { Intervention, Message, ResultStatus } from '../../../shared/contract/messages.ts'
import { numbersOf } from '../../../shared/view/conversation-timeline.ts'
import { addFact, beginFacts, factsOf, sumOfFacts } from '../../../shared/view/turn-facts.ts'
import { verdictWith } from '../../support/messages.ts'

const at = { conversation: 'c', turn: 7 }

const raised = (
  fields: Partial<Intervention> & { round?: number; shadow?: boolean } = {},
): Message => {
  const { round = 3, shadow = false, ...own } = fields
  const intervention: Intervention = {
    action: 'nudge',
    ordinary: false,
    rule: 'cycle',
    ruleVersion: 1,
    key: '',
    reason: 'x',
    text: '',
    class: null,
    evidence: [],
    ...own,
  }
  return { type: 'intervention-raised', ...at, round, intervention, shadow }
}
const rejected = (ordinal: number): Message => ({
  type: 'call-denied',
  ...at,
  round: 1,
  ordinal,
  name: 'exec',
  reason: 'x',
  text: '',
})
const finished = (ordinal: number, status: ResultStatus, guard = ''): Message => ({
  type: 'call-finished',
  ...at,
  round: 1,
  ordinal,
  name: 'exec',
  status,
  reason: 'x',
  durationMs: 0,
  result: '',
  resultId: '',
  guard,
  resultBytes: 0,
})
const judged = (guard: string, ordinal: number, verdict: 'allow' | 'deny', code = ''): Message => ({
  type: 'guard-verdict-given',
  ...at,
  round: 1,
  guard,
  version: '1',
  answer: 'verdicts',
  verdicts: [verdictWith({ ordinal, verdict, code })],
  waitedMs: 4,
})
const decided = (ordinal: number, outcome: 'allow' | 'deny', waitedMs: number): Message => ({
  type: 'approval-decided',
  ...at,
  round: 1,
  ordinal,
  name: 'pay',
  id: 'x',
  outcome,
  by: 'anna',
  identity: 'claimed',
  reason: '',
  waitedMs,
})
const pending = (ordinal: number): Message => ({
  type: 'approval-pending',
  ...at,
  round: 1,
  until: 9,
  calls: [
    {
      ordinal,
      name: 'pay',
      id: 'x',
      rule: 'r',
      arguments: '{}',
      hash: '',
      source: null,
      program: null,
      question: null,
    },
  ],
})

function facts(messages: Message[]) {
  const fold = beginFacts()
  for (const message of messages) addFact(fold, message)
  return factsOf(fold)
}

const nothing = {
  rules: {},
  actions: {},
  denials: {},
  deniedByChecks: 0,
  approvals: {},
  approvalMs: 0,
  unjudged: {},
}

describe('the facts about a turn', () => {
  it.each<[string, Message[], object]>([
    ['are nothing without effects', [], {}],
    ['count interventions', [raised()], { rules: { cycle: 1 }, actions: { nudge: 1 } }],
    [
      'count each action of a rule',
      [raised(), raised({ round: 4, action: 'text_only' }), raised({ round: 5, action: 'end' })],
      { rules: { cycle: 3 }, actions: { end: 1, nudge: 1, text_only: 1 } },
    ],
    ['leave out rules in shadow', [raised({ shadow: true })], {}],
    ['leave out usual reminders', [raised({ ordinary: true, rule: 'empty-response' })], {}],
    ['count refused calls', [rejected(0), rejected(1)], { deniedByChecks: 2 }],
    [
      'count calls that a check before their start rejects',
      [rejected(0), finished(1, 'denied'), finished(3, 'ok')],
      { deniedByChecks: 2 },
    ],
    [
      'count a call that is denied for a guard without its verdict, such as one that has left',
      [finished(1, 'denied', 'a'), judged('b', 2, 'deny'), finished(2, 'denied', 'b')],
      { denials: { a: 1, b: 1 } },
    ],
    ['count a rejected call once', [rejected(0), finished(0, 'denied')], { deniedByChecks: 1 }],
    [
      'count the calls that each guard stopped',
      [judged('a', 0, 'deny'), judged('b', 1, 'allow'), judged('b', 2, 'deny')],
      { denials: { a: 1, b: 1 } },
    ],
    [
      'count a call once, for its named guard',
      [judged('approval', 0, 'deny'), judged('a', 0, 'deny')],
      { denials: { a: 1 } },
    ],
    ['leave out a withdrawn approval', [judged('approval', 0, 'deny', 'approval.withdrawn')], {}],
    [
      'count the longest wait of a round once',
      [pending(0), pending(1), decided(0, 'allow', 2_000), decided(1, 'deny', 5_000)],
      { approvals: { allow: 1, deny: 1 }, approvalMs: 5_000 },
    ],
    ['count a call that still waits', [pending(0)], { approvals: { pending: 1 } }],
  ])('%s', (_, messages, expected) => {
    expect(facts(messages)).toEqual({ ...nothing, ...expected })
    // The order and repeats of records change nothing.
    expect(facts([...messages.toReversed(), ...messages])).toEqual(facts(messages))
  })

  it('add up over turns', () => {
    const one = facts([raised(), judged('a', 0, 'deny'), decided(1, 'allow', 2_000)])
    expect(sumOfFacts([one, one, facts([])])).toEqual({
      ...nothing,
      rules: { cycle: 2 },
      actions: { nudge: 2 },
      denials: { a: 2 },
      approvals: { allow: 2 },
      approvalMs: 4_000,
    })
  })

  it('name the calls that once prevented, in one conversation and in others', () => {
    const ends = [finished(0, 'denied', 'once'), finished(1, 'denied', 'once')]
    expect(factTexts(facts([judged('once', 0, 'deny'), ...ends]))).toEqual([
      '2 calls denied by once, and none ran twice',
    ])
  })

  it('are short texts for people', () => {
    expect(factTexts(facts([]))).toEqual([])
    expect(
      factTexts(
        facts([
          ...[raised(), raised({ round: 4, action: 'end' }), raised({ rule: 'guard' })],
          ...[judged('no-rome', 0, 'deny'), rejected(3)],
          ...[judged('approval', 1, 'deny'), decided(1, 'deny', 50_000)],
        ]),
      ),
    ).toEqual([
      '2 interventions by cycle, which ended the turn',
      '1 intervention by guards',
      '1 call denied by no-rome',
      '1 call denied before running',
      '1 call denied by a person',
      'waited 50 s for a person',
    ])
  })
})

describe('the first words of a message', () => {
  it.each([
    ['hello', 'hello'],
    ['  two\n\n lines\t here ', 'two lines here'],
    ['word '.repeat(40), `${'word '.repeat(12).trim()}…`],
    ['x'.repeat(100), `${'x'.repeat(60)}…`],
    ['', ''],
  ])('%j are %j', (text, words) => {
    expect(firstWords(text)).toBe(words)
  })

  it('never cut a character in two', () => {
    expect(firstWords('😀'.repeat(61))).toBe(`${'😀'.repeat(60)}…`)
  })
})

describe('the number of a turn for people', () => {
  it('counts from 1 in the order of the log', () => {
    expect([...numbersOf([18, 6, 12, 6])]).toEqual([
      [6, 1],
      [12, 2],
      [18, 3],
    ])
    const numberOf = ({ turn }: { turn: number }) => numbersOf([6, 12]).get(turn)
    expect(turnText(numberOf, { conversation: 'c', turn: 12 })).toBe('turn 2')
    expect(turnText(numberOf, { conversation: 'c', turn: 99 })).toBe('the turn at offset 99')
  })
})
