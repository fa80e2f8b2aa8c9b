import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { indexEntry } from '../../../apps/report/index-entry.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import { conversationLog, response } from '../../shared/view/conversation-log.ts'
import { verdictWith } from '../../support/messages.ts'
import { longConversation } from './long-conversation.ts'
import { inTurns } from './several-turns.ts'

function entryOf(records: Logged[]) {
  const { data } = reportData(timelineOf('c', records, { reasoning: false }), records, {
    partition: 0,
    topicPrefix: '',
  })
  return indexEntry({ conversation: 'c', from: 0, place: 0 }, data)
}

function spoken(end: Parameters<ReturnType<typeof conversationLog>['end']> | undefined): Logged[] {
  const log = conversationLog()
  const reply = response({ text: 'done' })
  log.begin()
  log.ask(1)
  log.answer(1, reply)
  log.check(1, reply)
  log.conclude(1, reply)
  if (end !== undefined) log.end(...end)
  return log.records
}

describe('a conversation in the index of a page', () => {
  it.each([
    ['answered', spoken(['done'])],
    ['unanswered', spoken(['', { outcome: 'failed', reason: 'gone', class: 'provider' }])],
    [
      'unanswered',
      spoken(['', { outcome: 'capped', reason: 'a limit', cap: 'rounds', class: 'budget' }]),
    ],
    ['limited', spoken(['done', { cap: 'rounds' }])],
    [
      'limited',
      spoken(['', { outcome: 'cancelled', reason: 'the client cancelled it', class: 'cancelled' }]),
    ],
    ['open', spoken(undefined)],
  ] as const)('is %s', (group, records) => {
    expect(entryOf(records)).toMatchObject({
      group,
      rounds: 1,
      tokens: 15,
      openTurns: group === 'open' ? 1 : 0,
      cutTurns: 0,
    })
  })

  const failed = () => spoken(['', { outcome: 'failed', reason: 'gone', class: 'provider' }])
  const begun = () => {
    const log = conversationLog()
    log.begin()
    return log.records
  }

  it.each([
    ['answered', [failed(), spoken(['done'])]],
    ['limited', [failed(), spoken(['done', { cap: 'rounds' }])]],
    ['open', [failed(), spoken(undefined)]],
    ['open', [failed(), begun().slice(0, 1)]],
    ['unanswered', [spoken(['done']), failed()]],
  ] as const)('is %s by its newest turn, with the mark of the worst', (group, turns) => {
    expect(entryOf(inTurns([...turns]))).toMatchObject({ group, tone: 'bad' })
  })

  it('is a loop before anything other, with any end', () => {
    const records = longConversation(8, 5)
    expect(entryOf(records)).toMatchObject({
      group: 'loop',
      rounds: 8,
      loopRounds: 5,
      openTurns: 0,
    })
    expect(entryOf(records.slice(0, -2))).toMatchObject({ group: 'loop', openTurns: 1 })
  })

  it('shows the question, the agents, the duration and the stopped calls', () => {
    const log = conversationLog()
    const reply = response({ text: 'done' })
    log.begin()
    log.write('activity', {
      type: 'guard-verdict-given',
      conversation: 'c',
      turn: 0,
      round: 1,
      version: '1',
      guard: 'no-rome',
      answer: 'verdicts',
      waitedMs: 3,
      verdicts: [verdictWith({ verdict: 'deny' })],
    })
    log.ask(1)
    log.answer(1, reply)
    log.check(1, reply)
    log.conclude(1, reply)
    log.end('done')
    expect(entryOf(log.records)).toMatchObject({
      question: 'hello',
      agents: ['agent'],
      ms: 20,
      facts: { denials: { 'no-rome': 1 }, deniedByChecks: 0 },
    })
  })

  it('shows the number of turns with a deleted beginning', () => {
    expect(
      entryOf(spoken(['done']).filter(({ topic }) => topic !== 'conversation-events')),
    ).toMatchObject({ cutTurns: 1 })
  })
})
