// Each rule about Weir's own agents with a violation planted in a sound run.

import { describe, expect, it } from '@jest/globals'
import { canaries } from '../../simulation/broken/canaries.ts'
import { check, checkers } from '../check.ts'
import { explainUnknowns } from '../checkers/calls/unknown-explained.ts'
import type { Logged } from '../evidence.ts'
import {
  fieldsAt,
  itReports,
  type Planted,
  plantedRules,
  recordAt,
  removeAt,
  repeatAt,
} from './planted.ts'
import { type ChaosEvidence, logged, runWithLostOwner, type Sketch, soundRun } from './sound-run.ts'

type Run = ChaosEvidence
const at = (e: Run, topic: string, offset: number) => recordAt(e, { topic, offset })
const change = (e: Run, topic: string, offset: number, fields: object) =>
  Object.assign(fieldsAt(e, { topic, offset }), fields)
const remove = (e: Run, topic: string, offset: number) => removeAt(e, { topic, offset })
const again = (e: Run, topic: string, offset: number, record: Partial<Logged> = {}) =>
  repeatAt(e, { topic, offset }, { record: { time: 500, ...record } })
const resultsOf = (e: Run, topic: string, offset: number) =>
  fieldsAt(e, { topic, offset }).results as Record<string, unknown>[]

/** Adds the record after the last record of the topic. */
function add(e: Run, topic: string, time: number, message: Sketch, id?: string): void {
  const offsets = e.records.flatMap((record) => (record.topic === topic ? [record.offset] : []))
  e.records.push(logged({ topic, offset: Math.max(-1, ...offsets) + 1, time, message, id }))
}

const violations: Planted[] = [
  [
    'a record that cannot be decoded',
    (e) => Object.assign(at(e, 'activity', 0), { message: undefined, fault: 'garbage' }),
    'cannot be read: garbage',
  ],
  [
    'a record in a partition that is not its conversation’s',
    (e) => again(e, 'conversation-events', 0, { partition: 3 }),
    'others of it are in partition 0',
  ],
  [
    'a message of a client without its copy',
    (e) =>
      add(e, 'client-messages', 99, { type: 'user-message', conversation: 'c', messageId: 'm' }),
    "a client's message has no copy",
  ],
  [
    'a dead letter',
    (e) =>
      add(e, 'dead-letters', 130, {
        type: 'dead-letter',
        stage: 'x',
        reason: 'odd',
        topic: 't',
        partition: 0,
        offset: 1,
      }),
    'odd',
  ],
  [
    'a record of a stranger without a dead letter',
    (e) => again(e, 'history', 0, { id: undefined, isForeign: true }),
    'the record of a stranger has 0 dead letters',
  ],
  [
    'a shadow that acts',
    (e) => {
      change(e, 'rounds-checked', 0, { policy: { shadowed: ['empty-response'] } })
      change(e, 'conversation-events', 1, { intervention: { rule: 'empty-response' } })
    },
    'has an intervention of empty-response, a shadow',
  ],
  [
    'a reducer that threw',
    (e) =>
      add(e, 'conversation-events', 130, {
        type: 'turn-failed',
        conversation: 'c',
        stage: 'validator',
        reason: 'threw',
      }),
    'threw',
  ],

  [
    'a process that exited without a fault',
    (e) => e.exits.push({ process: 'executor-1#1', code: 1, signal: null, at: 130 }),
    'executor-1#1 exited without a fault at 130, with exit code 1',
  ],

  [
    'one id with two contents',
    (e) => again(e, 'activity', 0, { digest: 'another' }),
    'conversation/0/0/0 has another content than at activity/0/0',
  ],
  [
    'one id in two topics',
    (e) => again(e, 'activity', 0, { topic: 'history' }),
    'has another content',
  ],
  [
    'a new record below its writer’s mark',
    (e) => add(e, 'activity', 130, { type: 'call-denied' }, 'executor/0/2/0'),
    'would be dropped unread',
  ],
  [
    'a missing output in the middle',
    (e) => remove(e, 'history', 0),
    'of conversation/0/0 the records 2 were never written',
  ],
  [
    'an output of a missing record',
    (e) => add(e, 'activity', 130, { type: 'call-denied' }, 'executor/0/99/0'),
    'is missing',
  ],
  [
    'an output older than its input',
    (e) => Object.assign(at(e, 'activity', 0), { time: 1 }),
    'is older than its input',
  ],
  [
    'an invalid id',
    (e) => Object.assign(at(e, 'activity', 0), { id: 'executor-0-1' }),
    'is invalid',
  ],

  [
    'an acknowledged message that is missing',
    (e) => remove(e, 'conversation-events', 0),
    'was acknowledged and is not in the log',
  ],
  ['a message without an end', (e) => remove(e, 'activity', 4), 'has no turn-finished'],
  [
    'a message with two ends',
    (e) => again(e, 'activity', 4, { id: 'conversation/0/1/3' }),
    'has 2 turn-finished',
  ],
  [
    'a message with two turns',
    (e) => again(e, 'activity', 0, { id: 'conversation/0/1/3' }),
    'opened 2 turns',
  ],
  [
    'an end of a message that nobody sent',
    (e) => Object.assign(e, { sent: [] }),
    'which nobody sent',
  ],
  [
    'a cancel that no client sent',
    (e) => change(e, 'activity', 4, { outcome: 'cancelled' }),
    'nobody cancelled it',
  ],
  [
    'an answer to a message that must be refused',
    (e) => Object.assign(e.sent[0] as object, { refusable: true }),
    'had to be refused',
  ],
  ['a reply that is blank', (e) => change(e, 'activity', 4, { reply: ' ' }), 'the reply " "'],
  [
    'a client with another answer',
    (e) => Object.assign(e.sent[0] as object, { answer: { outcome: 'answered', reply: 'no' } }),
    'which is not in the log',
  ],
  [
    'a client without an answer',
    (e) => Object.assign(e.sent[0] as object, { answer: undefined }),
    'got no answer',
  ],
  [
    'a turn inside another',
    (e) =>
      add(e, 'activity', 128, {
        type: 'turn-started',
        conversation: 'c',
        turn: 1,
        messageId: 'm2',
      }),
    'has no end',
  ],

  [
    'a call without a result',
    (e) => resultsOf(e, 'conversation-events', 1).pop(),
    'calls [0,1,2] and results of [0,1]',
  ],
  [
    'a call with two results',
    (e) => resultsOf(e, 'conversation-events', 1).push({ ordinal: 0, status: 'ok', text: '' }),
    'results of [0,1,2,0]',
  ],
  [
    'a round with two outcomes',
    (e) => again(e, 'conversation-events', 1, { id: 'loop-detector/0/1/1' }),
    'a further round-outcome',
  ],
  [
    'a round with calls and no outcome',
    (e) => remove(e, 'conversation-events', 1),
    'has calls and no round-outcome',
  ],
  [
    'a history entry written twice',
    (e) => again(e, 'history', 1, { id: 'conversation/0/1/3' }),
    'a further history entry',
  ],
  [
    'a history entry without a result',
    (e) => resultsOf(e, 'history', 1).pop(),
    'the history entry ["c",0,1] has the calls',
  ],
  [
    'a history with another result',
    (e) => Object.assign(resultsOf(e, 'history', 1)[0] as object, { status: 'error' }),
    'has 0 error',
  ],
  ['a round that is not in the history', (e) => remove(e, 'history', 1), 'is not in the history'],
  [
    'a second result of the executor',
    (e) => again(e, 'rounds-checked', 1, { id: 'executor/0/5/0' }),
    'has a second result of the executor',
  ],
  [
    'a result that does not follow from its claim',
    (e) => change(e, 'rounds-cleared', 3, { owner: 'another' }),
    'its claims lead to undefined',
  ],
  [
    'a call finished twice',
    (e) => again(e, 'activity', 2, { id: 'executor/0/5/0' }),
    'is reported as finished 2 times',
  ],

  [
    'a tool that started twice',
    (e) => e.starts.push({ ...e.starts[0]!, start: 's2' }),
    'was started 2 times, at most 1',
  ],
  [
    'an idempotent tool that started four times',
    (e) => e.starts.push(...Array.from({ length: 3 }, () => e.starts[1]!)),
    'was started 4 times, at most 3',
  ],
  [
    'a rejected call that ran',
    (e) => e.starts.push({ ...e.starts[0]!, call: '["c",0,1,2]' }),
    'though its result was decided before',
  ],
  [
    'a call that was never cleared',
    (e) => e.starts.push({ ...e.starts[0]!, call: '["c",0,2,0]' }),
    'and never cleared',
  ],
  [
    'a start before its claim',
    (e) => Object.assign(e.starts[0]!, { at: 114 }),
    'without a claim of its own',
  ],
  [
    'a start by a process without the claim',
    (e) => Object.assign(e.starts[0]!, { process: 'executor-2#1' }),
    'without a claim of its own',
  ],
  [
    'a start under a claim that was given back',
    (e) => change(e, 'rounds-cleared', 3, { result: null }),
    'without a claim of its own',
  ],
  [
    'a start after the result',
    (e) => Object.assign(e.starts[0]!, { at: 9_000 }),
    'after its result was given',
  ],
  ['an ok of a call that never started', (e) => e.starts.shift(), 'is ok, and was never started'],
  [
    'an ok with the result of another start',
    (e) =>
      Object.assign(resultsOf(e, 'conversation-events', 1)[0] as object, {
        text: '{"start":"s1"}',
      }),
    'the result of another start',
  ],
  [
    'a tool that is reported as started and was not',
    (e) =>
      add(e, 'activity', 130, {
        type: 'tool-started',
        conversation: 'c',
        turn: 0,
        round: 1,
        ordinal: 2,
      }),
    'was reported as started, and never started',
  ],
  [
    'a response that the model never sent',
    (e) => Object.assign(e, { modelAnswers: [] }),
    'is none of the 0 answers of the model',
  ],
  [
    'arguments that were joined',
    (e) => Object.assign(e.modelAnswers[0]!.calls[0]!, { raw: '{"n":' }),
    'is none of the 1 answers of the model',
  ],

  [
    'a commit outside of the log',
    (e) => Object.assign(e.committed[0]!, { end: 5 }),
    'outside of the log',
  ],
  [
    'an inbox that is not processed',
    (e) => Object.assign(e.committed[0]!, { end: 8 }),
    'has not processed the last 2 records',
  ],
  [
    'a group without a commit',
    (e) => Object.assign(e.committed[0]!, { offset: -1 }),
    'has committed nothing',
  ],
  [
    'a commit with unknown metadata',
    (e) => Object.assign(e.committed[0]!, { metadata: 'x' }),
    'cannot be read',
  ],
  [
    'a fold from nowhere',
    (e) => Object.assign(e.committed[0]!, { metadata: '{"from":9}' }),
    'it folds from 9',
  ],
  [
    'a unit that stays open',
    (e) => Object.assign(e.committed[0]!, { metadata: '{"from":2}' }),
    'an open unit since 2',
  ],
]

describe('the checkers', () => {
  it('report nothing for a sound run', async () => {
    expect(await check(soundRun())).toEqual([])
  })

  itReports(soundRun, violations, plantedRules.agents)

  it('have a violation each, planted here or made by a broken stage', () => {
    const proven = [...Object.values(plantedRules).flat(), ...canaries.map((one) => one.foundBy)]
    expect(checkers.map(({ name }) => name)).toEqual([...new Set(checkers.map(({ name }) => name))])
    expect(checkers.map(({ name }) => name).filter((name) => !proven.includes(name))).toEqual([])
  })

  it('have a rule each, one sentence', () => {
    for (const { rule } of checkers) expect(rule).toMatch(/^[A-Z`].*[^.]\.$/)
  })

  it('allow a writer to repeat itself byte for byte', async () => {
    const evidence = soundRun()
    again(evidence, 'activity', 0)
    again(evidence, 'conversation-events', 1)
    expect(await check(evidence)).toEqual([])
  })

  it('allow a group to keep a cancel for later', async () => {
    const evidence = soundRun()
    add(
      evidence,
      'rounds-cleared',
      130,
      { type: 'cancel', conversation: 'c', turn: 0 },
      'conversation/0/1/3',
    )
    Object.assign(evidence.committed[0]!, { metadata: '{"from":6}', offset: 7, end: 7 })
    expect(await check(evidence)).toEqual([])
  })

  it('allow a client to repeat its message', async () => {
    const evidence = soundRun()
    add(evidence, 'conversation-events', 130, {
      type: 'user-message',
      conversation: 'c',
      messageId: 'm',
    })
    expect(await check(evidence)).toEqual([])
  })

  it('allow an idempotent tool to start again under a further claim, and require a cause for the end of the first', async () => {
    expect(
      (await check(runWithLostOwner())).map(({ checker, problem }) => `${checker}: ${problem}`),
    ).toEqual([
      expect.stringMatching(
        /^unknown-explained: \["c",0,1,0\] .* nothing explains it: no result in time; o claimed at 115, lapsed$/,
      ),
    ])
  })

  it.each([
    [
      'the owner, though nobody knows it, may be the one that was killed',
      'kill',
      'executor-1#1',
      'unknown owner, some executor disturbed',
    ],
    ['the broker was away', 'broker', 'broker', 'broker disturbed'],
    ['another stage was killed, which explains nothing', 'kill', 'validator-1#1', undefined],
  ] as const)('explain an unknown outcome: %s', (_, kind, process, why) => {
    const evidence = runWithLostOwner()
    evidence.disturbances.push({ kind, process, from: 200, to: 300 })
    expect(explainUnknowns(evidence).map((explained) => explained.why)).toEqual([why])
  })

  it('explain an unknown outcome only by a fault of its owner if the owner is known', async () => {
    const known = () => {
      const evidence = runWithLostOwner()
      for (const offset of [2, 4]) change(evidence, 'rounds-cleared', offset, { owner: 'o2' })
      change(evidence, 'rounds-cleared', 5, { owner: 'o2' })
      change(evidence, 'rounds-cleared', 1, { owner: 'o2' })
      return evidence
    }
    const [killed, other] = [known(), known()]
    killed.disturbances.push({ kind: 'kill', process: 'executor-2#1', from: 200, to: 300 })
    other.disturbances.push({ kind: 'kill', process: 'executor-1#1', from: 200, to: 300 })
    expect(explainUnknowns(killed).map(({ why }) => why)).toEqual(['owner disturbed'])
    expect(explainUnknowns(other).map(({ why }) => why)).toEqual([undefined])
  })

  it('explain an unknown outcome by a busy machine if other tools of the run start late too', () => {
    const whyIfLate = (lateMs: number) => {
      const evidence = runWithLostOwner()
      for (const start of evidence.starts) start.at += lateMs
      return explainUnknowns(evidence).map(({ why }) => why)
    }
    expect(whyIfLate(0)).toEqual([undefined])
    expect(whyIfLate(10_000)).toEqual(['busy machine'])
  })

  it('do not accept a fault after the result as its cause', async () => {
    const evidence = runWithLostOwner()
    evidence.disturbances.push({ kind: 'kill', process: 'executor-1#1', from: 50_000, to: 50_001 })
    expect(explainUnknowns(evidence).map(({ why }) => why)).toEqual([undefined])
  })
})
