import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import type { Phrase } from '../../../apps/report/page/data.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import {
  conversationLog,
  exec,
  nudge,
  response,
  result,
} from '../../shared/view/conversation-log.ts'
import { userMessage } from '../../support/messages.ts'

const where = { partition: 0, topicPrefix: 'weir.' }
type Log = ReturnType<typeof conversationLog>
type End = Omit<
  Extract<Message, { type: 'turn-finished' }>,
  'type' | 'conversation' | 'turn' | 'messageId' | 'totals'
>

function summaryOf(records: Logged[], { isLive = false } = {}): { sentence: string; tone: string } {
  const { sentence, tone } = reportData(timelineOf('c', records, { reasoning: false }), records, {
    ...where,
    isLive,
  }).data
  return {
    sentence: sentence
      .map((phrase: Phrase) => (typeof phrase === 'string' ? phrase : phrase.code))
      .join(''),
    tone,
  }
}

/** A round with one call that is rejected, or runs. */
function round(log: Log, number: number, raw: string, intervention = false): void {
  const said = response({ calls: [exec({ raw })], stop: 'calls' })
  const refused = result({
    status: 'denied',
    text: 'Tool call rejected',
    reason: "missing required field 'command'",
    durationMs: 0,
  })
  log.ask(number)
  log.answer(number, said)
  log.check(number, said, [
    {
      ordinal: 0,
      code: 'schema',
      reason: refused.reason,
      text: refused.text,
      requiredFields: ['command'],
    },
  ])
  const evidence = [1, 2, 3].map((earlier) => ({ round: number - 3 + earlier, ordinal: 0 }))
  log.conclude(number, said, [refused], intervention ? { ...nudge, evidence } : null)
}

function speak(log: Log, number: number, text: string): void {
  const said = response({ text })
  log.ask(number)
  log.answer(number, said)
  log.check(number, said)
  log.conclude(number, said)
}

function finish(log: Log, rounds: number, end: Partial<End>): void {
  const totals = {
    rounds,
    calls: rounds,
    inputTokens: 10 * rounds,
    outputTokens: 5 * rounds,
    wallMs: 3_000,
  }
  const how = {
    outcome: 'answered',
    reply: 'done',
    reason: 'the model answered',
    class: null,
    cap: null,
  } as const
  log.write(
    'activity',
    { type: 'turn-finished', conversation: 'c', turn: 0, messageId: 'm1', ...how, totals, ...end },
    { at: 4_003 },
  )
}

function begun(): Log {
  const log = conversationLog()
  log.begin()
  return log
}

describe('the sentence at the top of a report', () => {
  it('shows the cost of an answer', () => {
    const log = begun()
    speak(log, 1, 'done')
    finish(log, 1, {})
    expect(summaryOf(log.records)).toEqual({
      sentence: 'The agent answered after 1 round and 3.0 s; it cost 15 tokens in all.',
      tone: 'good',
    })
  })

  it('shows an answer after a stopped loop, and the share of the loop', () => {
    const log = begun()
    for (const number of [1, 2, 3]) round(log, number, '{}', number === 3)
    speak(log, 4, 'which command?')
    finish(log, 4, {})
    expect(summaryOf(log.records)).toEqual({
      sentence:
        'The agent answered after 4 rounds and 3.0 s, once Weir had stopped a loop: the model kept making the same failing call, exec({}); 3 of 4 rounds (75 %) were that loop, and it cost 60 tokens in all.',
      tone: 'good',
    })
  })

  it('shows a loop that did not stop', () => {
    const log = begun()
    for (const number of [1, 2, 3, 4]) round(log, number, '{}', number >= 3)
    finish(log, 4, {
      outcome: 'failed',
      reason: 'exec({}) failed in 4 rounds',
      class: 'no_progress',
    })
    expect(summaryOf(log.records)).toEqual({
      sentence:
        'Ended without an answer after 4 rounds and 3.0 s: the model kept making the same failing call, exec({}), and did not stop after the interventions; 4 of 4 rounds (100 %) were that loop, and it cost 60 tokens in all.',
      tone: 'bad',
    })
  })

  it.each([
    ['rounds', 'the turn reached its limit on model rounds'],
    ['calls', 'the turn reached its limit on tool calls'],
    ['wall', 'the turn reached its limit on time'],
    ['tokens', 'the turn reached its limit on tokens'],
  ] as const)('shows an exhausted budget of %s', (cap, words) => {
    const log = begun()
    round(log, 1, '{"command":1}')
    finish(log, 1, { outcome: 'capped', reason: 'a limit', class: 'budget', cap })
    expect(summaryOf(log.records)).toEqual({
      sentence: `Ended without an answer after 1 round and 3.0 s: ${words}; it cost 15 tokens in all.`,
      tone: 'bad',
    })
  })

  it('shows an answer in the last permitted response, and a truncated answer', () => {
    const log = begun()
    speak(log, 1, 'so far')
    finish(log, 1, {
      cap: 'rounds',
      reason: 'the model answered in its last response; the limit on rounds was reached',
    })
    const { sentence, tone } = summaryOf(log.records)
    expect(sentence).toContain(
      'The agent answered after 1 round and 3.0 s, in the last response that it was allowed: its limit on model rounds was reached',
    )
    expect(sentence).not.toContain('cut short')
    expect(tone).toBe('warning')
    const short = begun()
    speak(short, 1, 'so far')
    finish(short, 1, {
      reason:
        "the model answered; its reply was cut at the agent's or the model's limit on output tokens",
    })
    expect(summaryOf(short.records)).toMatchObject({
      sentence: expect.stringContaining('; its answer was cut short'),
      tone: 'warning',
    })
  })

  it('shows the failure of a provider in its own words', () => {
    const log = begun()
    log.ask(1)
    finish(log, 1, {
      outcome: 'failed',
      reason: 'the provider answered 529: overloaded',
      class: 'transient',
    })
    expect(summaryOf(log.records)).toEqual({
      sentence:
        "Ended without an answer after 1 round and 3.0 s: the model's provider failed, for now (the provider answered 529: overloaded).",
      tone: 'bad',
    })
  })

  it('shortens foreign texts without splitting a character', () => {
    const log = begun()
    log.ask(1)
    finish(log, 1, { outcome: 'failed', reason: '🦊'.repeat(5_000), class: 'transient' })
    expect(summaryOf(log.records).sentence).toBe(
      `Ended without an answer after 1 round and 3.0 s: the model's provider failed, for now (${'🦊'.repeat(160)}…).`,
    )
  })

  it('shows a failure inside Weir and its stage', () => {
    const log = begun()
    log.ask(1)
    log.write('conversation-events', {
      type: 'turn-failed',
      conversation: 'c',
      turn: 0,
      stage: 'executor',
      code: 'x',
      reason: 'a bug',
    } as Message)
    finish(log, 1, { outcome: 'failed', reason: 'internal failure', class: 'internal' })
    expect(summaryOf(log.records).sentence).toBe(
      'Ended without an answer after 1 round and 3.0 s: something failed inside Weir (executor: a bug).',
    )
  })

  it('shows a cancel and the running tool', () => {
    const log = begun()
    const said = response({ calls: [exec()], stop: 'calls' })
    log.ask(1)
    log.answer(1, said)
    log.check(1, said)
    log.clear(1, said.calls)
    log.claim(1)
    log.start(1)
    finish(log, 1, { outcome: 'cancelled', reason: 'the client cancelled it', class: 'cancelled' })
    expect(summaryOf(log.records)).toEqual({
      sentence:
        'Cancelled by the client after 1 round and 3.0 s; the last tool that ran was exec; it cost 15 tokens in all.',
      tone: 'warning',
    })
  })

  it('shows the reason why an open turn waits', () => {
    const log = begun()
    log.ask(1)
    expect(summaryOf(log.records)).toEqual({
      sentence: 'Still running when the log was read, in round 1: it waits for the model.',
      tone: 'warning',
    })
    expect(summaryOf(log.records, { isLive: true }).sentence).toBe(
      'Running, in round 1: it waits for the model.',
    )
    const said = response({ calls: [exec()], stop: 'calls' })
    log.answer(1, said)
    log.check(1, said)
    log.clear(1, said.calls)
    expect(summaryOf(log.records).sentence).toBe(
      'Still running when the log was read, in round 1: it waits for exec; it cost 15 tokens so far.',
    )
  })

  it('shows the number of answered turns, and the newest turn without an answer', () => {
    const log = begun()
    speak(log, 1, 'done')
    finish(log, 1, {})
    const second = { conversation: 'c', turn: 1, messageId: 'm2' }
    log.write(
      'conversation-events',
      userMessage({ conversation: 'c', messageId: 'm2', text: 'and now?' }),
    )
    log.write(
      'activity',
      { type: 'turn-started', ...second, agent: 'agent', parent: null },
      { at: 9_000 },
    )
    const failed = {
      outcome: 'failed',
      reply: '',
      reason: 'gone',
      class: 'provider',
      cap: null,
    } as const
    const totals = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, wallMs: 400 }
    log.write('activity', { type: 'turn-finished', ...second, ...failed, totals }, { at: 9_400 })
    expect(summaryOf(log.records)).toEqual({
      sentence:
        "1 of 2 turns ended with an answer; turn 2: ended without an answer after 400 ms, before the first request to the model: the model's provider failed (gone); it cost 15 tokens in all.",
      tone: 'bad',
    })
  })

  it('counts only the rest of a turn with a deleted beginning, and notes that', () => {
    const log = begun()
    for (const number of [1, 2, 3, 4]) round(log, number, '{}', number >= 3)
    finish(log, 4, {
      outcome: 'failed',
      reason: 'exec({}) failed in 4 rounds',
      class: 'no_progress',
    })
    const left = log.records.filter(
      ({ message }) =>
        message?.type !== 'user-message' && !(message && 'round' in message && message.round < 2),
    )
    expect(summaryOf(left).sentence).toContain(
      '; 3 of the 3 rounds that are left (100 %) were that loop, and what is left of it cost 45 tokens.',
    )
  })

  it('notes that no turn has begun', () => {
    expect(summaryOf([]).sentence).toBe('No turn has begun in this conversation.')
  })

  it('names the origin of a fork in which no turn has begun', () => {
    const log = conversationLog()
    const origins = [{ conversation: 'origin', turn: 3, entries: 2 }]
    log.write('history', { type: 'conversation-forked', conversation: 'c', origins })
    expect(summaryOf(log.records).sentence).toBe('No turn has begun in this fork of origin.')
  })
})
