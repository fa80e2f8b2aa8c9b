import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import type { Logged } from '../../../shared/view/logged.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { conversationLog, exec, nudge, response, result } from './conversation-log.ts'

const timelineIn = (records: Logged[], reasoning = false): Timeline =>
  timelineOf('c', records, { reasoning })

/** A turn of two rounds: a call that runs, then text. */
function wholeTurn() {
  const log = conversationLog()
  const calling = response({ text: 'I look.', calls: [exec()], stop: 'calls', finish: 'tool_use' })
  const answering = response({ attempt: 'a2', text: 'Three files.' })
  log.begin()
  log.ask(1)
  log.attempt(1)
  log.answer(1, calling)
  log.check(1, calling)
  log.clear(1, [exec()])
  log.claim(1)
  log.start(1)
  log.outcome(1, result())
  log.executed(1, [result()])
  log.conclude(1, calling, [result()])
  log.ask(2)
  log.attempt(2, 'a2')
  log.answer(2, answering)
  log.check(2, answering)
  log.conclude(2, answering)
  log.end('Three files.')
  return log
}

describe('the timeline of a turn', () => {
  it('has each round: attempts, the response, each call with its tries and result, and the end', () => {
    const { state, turns, messages, troubles, unreadable } = timelineIn(wholeTurn().records)
    expect({ state, messages, troubles, unreadable }).toEqual({
      state: 'idle',
      messages: [],
      troubles: [],
      unreadable: 0,
    })
    const [turn] = turns
    expect(turn).toMatchObject({
      turn: 0,
      agent: 'agent',
      messageId: 'm1',
      text: 'hello',
      messageAt: 1001,
      startedAt: 1003,
    })
    expect(turn?.end).toMatchObject({ outcome: 'answered', reply: 'Three files.', at: 1028 })
    const [first, second] = turn?.rounds ?? []
    expect(first).toMatchObject({
      round: 1,
      askedAt: 1004,
      callsLeft: 100,
      nudge: null,
      offered: ['exec'],
      failure: null,
      intervention: null,
      endedAt: 1017,
      attempts: [
        {
          attempt: 'a1',
          startedAt: 1006,
          firstPartAt: null,
          endedAt: 1007,
          end: 'answer',
          failure: null,
        },
      ],
      response: {
        text: 'I look.',
        reasoning: null,
        stop: 'calls',
        finish: 'tool_use',
        usage: { inputTokens: 10, outputTokens: 5 },
      },
      calls: [
        {
          ordinal: 0,
          id: 'toolu_1',
          name: 'exec',
          rawArguments: '{"command":"ls"}',
          source: 'deltas',
          problem: null,
          repair: null,
          disputed: false,
          verdict: { kind: 'allow', at: 1011 },
          tries: [
            {
              try: 1,
              claimedAt: 1012,
              owner: 'e1',
              startedAt: 1013,
              endedAt: 1014,
              end: 'result',
              status: 'ok',
            },
          ],
          result: { status: 'ok', text: 'ran: ls', reason: '', durationMs: 40 },
        },
      ],
    })
    expect(first?.times).toEqual({
      modelMs: 1008 - 1004,
      checksMs: 1011 - 1008 + (1017 - 1016),
      toolsMs: 1016 - 1011,
    })
    expect(second).toMatchObject({ round: 2, response: { text: 'Three files.' }, calls: [] })
    expect(second?.times).toEqual({ modelMs: 4, checksMs: 3, toolsMs: null })
  })

  it('does not depend on the order in which topics were read', () => {
    const { records } = wholeTurn()
    expect(timelineIn(records.toReversed())).toEqual(timelineIn(records))
  })

  it('drops repeated deliveries by the derived id', () => {
    const log = conversationLog()
    log.begin()
    const failed = {
      type: 'turn-failed',
      conversation: 'c',
      turn: 0,
      stage: 'validator',
      reason: 'it threw',
    } as const
    log.write('conversation-events', failed, { id: 'validator/0/3/1' })
    log.write('conversation-events', failed, { id: 'validator/0/3/1' })
    expect(timelineIn(log.records).turns[0]?.failures).toEqual([
      { at: 1004, stage: 'validator', reason: 'it threw' },
    ])
  })

  it('accepts any subset of the records, and never throws', () => {
    const { records } = wholeTurn()
    fc.assert(
      fc.property(fc.subarray(records), (some) => {
        const { turns } = timelineIn(some)
        return turns.length <= 1
      }),
      { numRuns: 200 },
    )
  })

  it('shows a call that sleeps as a wait, once its result is known', () => {
    const log = conversationLog()
    const call = exec({ raw: '{"command":"sleep 30"}' })
    const sleeping = response({ calls: [call, exec({ ordinal: 1 })], stop: 'calls' })
    const results = [result({ text: '' }), result({ ordinal: 1 })]
    log.begin()
    log.ask(1)
    log.attempt(1)
    log.answer(1, sleeping)
    log.check(1, sleeping)
    log.clear(1, sleeping.calls)
    const waits = () => timelineIn(log.records).turns[0]?.rounds[0]?.calls.map((one) => one.waits)
    expect(waits()).toEqual([undefined, undefined])
    log.executed(1, results)
    expect(waits()).toEqual([true, undefined])
    log.conclude(1, sleeping, results)
    expect(waits()).toEqual([true, undefined])
  })

  it('is open until the record of its end exists, and shows its progress', () => {
    const { records } = wholeTurn()
    const until = (type: string) =>
      timelineIn(records.slice(0, 1 + records.findIndex(({ message }) => message?.type === type)))
    expect(until('turn-started')).toMatchObject({
      state: 'open',
      turns: [{ rounds: [], end: null }],
    })
    expect(until('attempt-started').turns[0]?.rounds).toMatchObject([
      { attempts: [{ end: 'open' }], response: null, endedAt: null },
    ])
    expect(until('round-proposed').turns[0]?.rounds).toMatchObject([
      { calls: [{ verdict: { kind: 'pending' }, result: null }] },
    ])
    expect(until('claim').turns[0]?.rounds).toMatchObject([
      {
        calls: [
          { verdict: { kind: 'allow' }, tries: [{ end: 'open', startedAt: null }], result: null },
        ],
        times: { toolsMs: null },
      },
    ])
  })
})

describe('attempts', () => {
  it('have their failures, the one that was the answer, and the abandoned ones', () => {
    const log = conversationLog()
    log.begin()
    log.ask(1)
    log.attempt(1, 'lost')
    log.attempt(1, 'a1')
    log.attemptFailed(1, 'a1')
    log.attempt(1, 'a2')
    log.answer(1, response({ attempt: 'a2' }))
    expect(timelineIn(log.records).turns[0]?.rounds[0]?.attempts).toMatchObject([
      { attempt: 'lost', end: 'abandoned', endedAt: null },
      {
        attempt: 'a1',
        end: 'failed',
        failure: {
          reason: 'the provider answered 529: overloaded',
          class: 'transient',
          retryable: true,
          retryAfterMs: 1_000,
        },
      },
      { attempt: 'a2', end: 'answer' },
    ])
  })

  it("have the size of the model's reasoning, and its text only on request", () => {
    const log = conversationLog()
    const reply = response({ reasoning: '[{"type":"thinking"}]' })
    log.begin()
    log.ask(1)
    log.part(1, 'a0', 'not the answer')
    log.part(1, 'a1', 'I should look.')
    log.answer(1, reply)
    const reasoning = (isShown: boolean) =>
      timelineIn(log.records, isShown).turns[0]?.rounds[0]?.response?.reasoning
    expect(reasoning(false)).toEqual({ bytes: 21, characters: 14, text: null })
    expect(reasoning(true)).toEqual({ bytes: 21, characters: 14, text: 'I should look.' })
  })
})

describe('calls', () => {
  it("have the code, the reason and the model's text of a denial, which may be a stricter one", () => {
    const log = conversationLog()
    const reply = response({ calls: [exec({ raw: '', source: 'none', problem: 'no_arguments' })] })
    log.begin()
    log.ask(1)
    log.answer(1, reply)
    log.check(1, reply, [
      {
        ordinal: 0,
        code: 'no_arguments',
        reason: 'no arguments came',
        text: 'gentle',
        requiredFields: ['command'],
      },
    ])
    log.conclude(1, reply, [
      result({ status: 'denied', text: 'sharp', reason: 'no arguments came' }),
    ])
    expect(timelineIn(log.records).turns[0]?.rounds[0]?.calls).toMatchObject([
      {
        rawArguments: '',
        source: 'none',
        problem: 'no_arguments',
        tries: [],
        verdict: {
          kind: 'deny',
          code: 'no_arguments',
          reason: 'no arguments came',
          text: 'gentle',
        },
        result: { status: 'denied', text: 'sharp' },
      },
    ])
  })

  it('have the reason if they were left out', () => {
    const log = conversationLog()
    const reply = response({ calls: [exec(), exec({ ordinal: 1 })] })
    const skipped = result({
      ordinal: 1,
      status: 'skipped',
      text: 'not run',
      reason: 'over the limit of tool calls',
      durationMs: 0,
    })
    log.begin()
    log.ask(1)
    log.answer(1, reply)
    log.check(1, reply)
    log.clear(1, reply.calls, [skipped])
    expect(
      timelineIn(log.records).turns[0]?.rounds[0]?.calls.map(({ verdict }) => verdict),
    ).toMatchObject([
      { kind: 'allow' },
      { kind: 'skipped', reason: 'over the limit of tool calls' },
    ])
  })

  it('have each try: the one that was lost with its process, and the one that ended', () => {
    const log = conversationLog()
    log.begin()
    log.ask(1)
    log.answer(1, response({ calls: [exec()] }))
    log.clear(1, [exec()])
    log.claim(1)
    log.start(1)
    log.claim(1, { owner: 'late' })
    log.lapse(1)
    log.claim(1, { try: 2, owner: 'e2' })
    log.start(1, { try: 2 })
    log.outcome(1, result(), { try: 2, owner: 'e2' })
    log.executed(1, [result()])
    expect(timelineIn(log.records).turns[0]?.rounds[0]?.calls[0]?.tries).toMatchObject([
      { try: 1, owner: 'e1', end: 'lapsed', status: null },
      { try: 2, owner: 'e2', end: 'result', status: 'ok' },
    ])
  })

  it('have an outcome that came too late, and a try that was returned without a start', () => {
    const log = conversationLog()
    const unknown = result({
      status: 'unknown',
      text: 'unknown',
      reason: 'no result in time',
      durationMs: 0,
    })
    log.begin()
    log.ask(1)
    log.answer(1, response({ calls: [exec()] }))
    log.clear(1, [exec()])
    log.claim(1, { owner: 'e0' })
    log.outcome(1, null, { owner: 'e0' })
    log.claim(1, { try: 2 })
    log.executed(1, [unknown])
    log.outcome(1, result(), { try: 2 })
    const [call] = timelineIn(log.records).turns[0]?.rounds[0]?.calls ?? []
    expect(call?.tries.map(({ end }) => end)).toEqual(['given-back', 'late'])
    expect(call?.result).toMatchObject({ status: 'unknown' })
  })
})

describe('interventions', () => {
  it('are in the round that raised them, and in the request that showed them', () => {
    const log = conversationLog()
    const reply = response({ calls: [exec()] })
    log.begin()
    log.ask(1)
    log.answer(1, reply)
    log.conclude(1, reply, [result({ status: 'error' })], nudge)
    log.ask(2, { nudge: nudge.text, callsLeft: 0 })
    const rounds = timelineIn(log.records).turns[0]?.rounds
    expect(rounds).toMatchObject([
      { intervention: { ...nudge, at: 1009 } },
      { nudge: 'SYSTEM INTERVENTION', callsLeft: 0, intervention: null },
    ])
  })

  it('do not include those of rules in shadow, which are listed next to them', () => {
    const log = conversationLog()
    const reply = response({ calls: [exec()] })
    log.begin()
    log.ask(1)
    log.answer(1, reply)
    log.shadow(1, nudge)
    log.conclude(1, reply, [result({ status: 'error' })])
    const policy = { version: defaultPolicy.version, differs: {} }
    expect(timelineIn(log.records).turns[0]?.rounds).toMatchObject([
      { policy, intervention: null, shadowed: [{ ...nudge, at: 1009 }] },
    ])
  })
})

describe('the declaration of a tool for loop-detector and guards', () => {
  it('is shown for each tool that has one', () => {
    const log = conversationLog()
    log.begin()
    log.ask(1)
    log.answer(1, response({ calls: [exec()] }))
    const hintsIn = (records: Logged[]) => timelineIn(records).turns[0]?.rounds[0]?.hints
    expect(hintsIn(log.records)).toEqual({})
    const hints = {
      mutates: false,
      ignoreFields: ['why'],
      loopKey: [],
      denial: null,
      labels: [],
      client: false,
      once: null,
    }
    const declared = log.records.map((record): Logged => {
      const { message } = record
      if (message?.type !== 'round-proposed') return record
      return {
        ...record,
        message: {
          ...message,
          declarations: message.declarations.map((tool) => ({ ...tool, poll: true, hints })),
        },
      }
    })
    expect(hintsIn(declared)).toEqual({
      exec: { poll: true, mutates: false, ignoreFields: ['why'], loopKey: [] },
    })
  })
})

describe('records outside of turns', () => {
  it('include messages that wait, and those that opened no turn', () => {
    const log = conversationLog()
    log.begin()
    const writeMessage = (messageId: string) => {
      const [first] = log.records
      if (first?.message?.type === 'user-message')
        log.write('conversation-events', { ...first.message, messageId, text: messageId })
    }
    writeMessage('refused')
    log.end('fallback', { turn: 1, messageId: 'refused', outcome: 'failed', reason: 'too many' })
    writeMessage('waiting')
    writeMessage('waiting')
    const { state, messages } = timelineIn(log.records)
    expect(state).toBe('open')
    expect(messages).toMatchObject([
      { messageId: 'refused', text: 'refused', end: { outcome: 'failed', reason: 'too many' } },
      { messageId: 'waiting', text: 'waiting', end: null },
    ])
  })

  it('include a request to cancel and the cancel of a round', () => {
    const log = conversationLog()
    log.begin()
    log.ask(1)
    log.write('conversation-events', {
      type: 'cancel-requested',
      conversation: 'c',
      messageId: 'm1',
    })
    log.write('model-requests', {
      type: 'cancel',
      conversation: 'c',
      turn: 0,
      round: 1,
      expiresAt: 5_000,
    })
    log.end('fallback', { outcome: 'cancelled', reason: 'the client cancelled it' })
    expect(timelineIn(log.records).turns).toMatchObject([
      { cancelRequestedAt: 1006, rounds: [{ cancelledAt: 1007 }], end: { outcome: 'cancelled' } },
    ])
  })

  it('include records that no stage could process, failures without a turn, and undecodable records', () => {
    const log = conversationLog()
    log.begin()
    const letter = {
      topic: 'weir.model-deltas',
      partition: 1,
      offset: 7,
      time: 5,
      stage: 'accumulator',
      code: 'codec.bad-body',
      reason: 'bad',
    }
    log.write('dead-letters', { type: 'dead-letter', ...letter, key: 'c', value: new Uint8Array() })
    log.write('conversation-events', {
      type: 'turn-failed',
      conversation: 'c',
      turn: null,
      stage: 'accumulator',
      reason: 'bad',
    })
    const damaged: Logged = { topic: 'activity', offset: 99, time: 1_100, message: undefined }
    expect(timelineIn([...log.records, damaged])).toMatchObject({
      unreadable: 1,
      troubles: [
        {
          at: 1004,
          stage: 'accumulator',
          reason: 'bad',
          topic: 'weir.model-deltas',
          partition: 1,
          offset: 7,
        },
        { at: 1005, stage: 'accumulator', topic: null },
      ],
    })
  })
})
