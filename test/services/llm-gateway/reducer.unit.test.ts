import { describe, expect, it } from '@jest/globals'
import { historyShorteningsMax, llmGateway } from '../../../services/llm-gateway/reducer.ts'
import { defaultPolicy, defaultSettings, policyOf } from '../../../shared/agents/policy/policy.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  AttemptFailed,
  AttemptFinished,
  AttemptStarted,
  Message,
  ModelFinished,
  Tick,
} from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import { cancel, modelRequest } from '../../support/messages.ts'
import { tool } from './samples.ts'

const round = { conversation: 'c', turn: 0, round: 1 }
const usage = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 6 }
const overlaid = policyOf({ ...defaultPolicy, graceMs: 1 })

function started(attempt: string): AttemptStarted {
  return { type: 'attempt-started', ...round, attempt, owner: 'o', weir: '' }
}

function failed(attempt: string, fields: Partial<AttemptFailed> = {}): AttemptFailed {
  return {
    type: 'attempt-failed',
    ...round,
    attempt,
    reason: 'overloaded',
    class: 'transient',
    retryable: true,
    retryAfterMs: 1000,
    historyRefused: false,
    historyShortened: false,
    toolsRefused: false,
    reasoningRefused: 'none',
    ...fields,
  }
}

function finished(attempt: string, fields: Partial<AttemptFinished> = {}): AttemptFinished {
  const answer = {
    parts: 2,
    finish: 'tool_use',
    stop: 'calls' as const,
    usage,
    declarations: [tool('read').declaration],
    policy: overlaid,
  }
  const ofText = { callsAsText: false, textCalls: 'tell' as const, echoOf: null, rest: [] }
  return { type: 'attempt-finished', ...round, attempt, ...answer, ...ofText, ...fields }
}

const tick: Tick = { type: 'tick', conversation: 'c', unit: llmGateway.unit(modelRequest()) }

const noAnswer = {
  type: 'model-finished',
  ...round,
  attempt: '',
  parts: 0,
  finish: '',
  stop: 'other',
  declarations: [],
  agent: 'agent',
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  policy: defaultPolicy,
  callsLeft: 100,
  expiresAt: 1_000_000,
  callsAsText: false,
  textCalls: null,
  echoOf: null,
  rest: [],
}

function failureOf([message]: Message[]): ModelFinished['failure'] {
  return (message as ModelFinished).failure
}

describe('a round', () => {
  it('opens with the names of all tools that the request offers, and wants its first attempt at once', () => {
    const request = modelRequest({
      tools: [
        { name: 'read', hash: 'h1' },
        { name: 'write', hash: 'h2' },
      ],
    })
    const open = given(llmGateway, request)
    expect(open.to('response')).toEqual([
      { type: 'model-opened', ...round, offered: ['read', 'write'], expiresAt: 1_000_000 },
    ])
    expect(open.wants).toEqual([
      {
        key: 'attempt 0',
        request,
        failures: 0,
        rebuilt: false,
        plain: false,
        reasoningRefused: 'none',
        degenerate: false,
      },
    ])
    expect(open.due).toBe(1_000_000)
  })

  it('ignores a request that is already open', () => {
    const again = given(llmGateway, modelRequest(), failed('a'), modelRequest())
    expect(again.records).toEqual([])
    expect(again.state).toEqual(given(llmGateway, modelRequest(), failed('a')).state)
  })

  it('is identified by conversation, turn and round, with any characters in the conversation', () => {
    const units = [
      modelRequest({ conversation: 'c/1', turn: 2, round: 3 }),
      modelRequest({ conversation: 'c', turn: 1, round: 3 }),
      modelRequest({ conversation: 'c/1/2', turn: 3, round: 3 }),
      modelRequest({ conversation: 'c","1', turn: 2, round: 3 }),
    ].map((request) => llmGateway.unit(request))
    expect(new Set(units).size).toBe(units.length)
    expect(llmGateway.unit({ ...started('a'), conversation: 'c/1', turn: 2, round: 3 })).toBe(
      units[0],
    )
  })

  it('opens and fails at once if it comes at its expiresAt, because the accumulator must learn of it', () => {
    const late = given(llmGateway, at(1_000_000, modelRequest()))
    expect(late.to('response')).toMatchObject([
      { type: 'model-opened' },
      { type: 'model-finished', failure: { class: 'budget' } },
    ])
    expect(late.state).toBeUndefined()
  })

  it('ends at its expiresAt with an exhausted budget', () => {
    const expired = given(llmGateway, modelRequest(), started('a'), at(1_000_000, tick))
    expect(expired.to('response')).toEqual([
      { ...noAnswer, failure: { class: 'budget', reason: expect.any(String) } },
    ])
    expect(expired.state).toBeUndefined()
    expect(expired.wants).toEqual([])
  })

  it('closes silently if the reducer threw, because the runtime informs the conversation', () => {
    const threw = given(llmGateway, modelRequest()).whenFails(finished('a'))
    expect(threw.state).toBeUndefined()
    expect(threw.records).toEqual([])
  })
})

describe('an answer', () => {
  it("closes the round with the attempt's observations and the request's settings", () => {
    const answered = given(
      llmGateway,
      modelRequest({ callsLeft: 7 }),
      started('a'),
      finished('a', { callsAsText: true, textCalls: 'run', echoOf: 'a message of the user' }),
    )
    expect(answered.to('response')).toEqual([
      {
        type: 'model-finished',
        ...round,
        attempt: 'a',
        parts: 2,
        finish: 'tool_use',
        stop: 'calls',
        usage,
        declarations: [tool('read').declaration],
        policy: overlaid,
        agent: 'agent',
        callsLeft: 7,
        expiresAt: 1_000_000,
        callsAsText: true,
        textCalls: 'run',
        echoOf: 'a message of the user',
        rest: [],
        failure: null,
      },
    ])
    expect(answered.state).toBeUndefined()
  })

  it('is the first one in the log, from any owner, and a second one has no effect', () => {
    const answered = given(
      llmGateway,
      modelRequest(),
      started('zombie'),
      started('own'),
      finished('zombie'),
    )
    expect(answered.to('response')).toMatchObject([{ attempt: 'zombie' }])
    expect(answered.when(finished('own')).records).toEqual([])
  })

  it('counts after another attempt has failed, even during the wait for a retry', () => {
    const answered = given(
      llmGateway,
      modelRequest(),
      started('own'),
      started('zombie'),
      failed('own'),
      finished('zombie'),
    )
    expect(answered.to('response')).toMatchObject([
      { type: 'model-finished', attempt: 'zombie', failure: null },
    ])
  })

  it('of a round that never opened opens nothing', () => {
    for (const stray of [finished('a'), failed('a'), started('a')]) {
      expect(given(llmGateway, stray).state).toBeUndefined()
      expect(given(llmGateway, stray).records).toEqual([])
    }
  })
})

describe('an attempt that failed', () => {
  it('makes the next one wanted when the wait is over, and not before', () => {
    const waiting = given(
      llmGateway,
      at(100, modelRequest()),
      at(200, failed('a', { retryAfterMs: 1500 })),
    )
    expect(waiting.wants).toEqual([])
    expect(waiting.due).toBe(1700)
    expect(waiting.when(at(1699, tick)).wants).toEqual([])
    const again = waiting.when(at(1700, tick))
    expect(again.wants).toMatchObject([{ key: 'attempt 1', failures: 1 }])
    expect(again.records).toEqual([])
    expect(again.due).toBe(1_000_000)
  })

  it('reports the next attempt with the reason and the wait', () => {
    const waiting = given(
      llmGateway,
      at(100, modelRequest()),
      at(200, failed('a', { retryAfterMs: 1500 })),
    )
    expect(waiting.to('activity')).toEqual([
      {
        type: 'model-retry',
        ...round,
        attempt: 'a',
        next: 2,
        reason: 'overloaded',
        waitMs: 1500,
      },
    ])
    const { to } = waiting.when(at(1700, tick)).when(at(1800, failed('b', { reason: 'busy' })))
    expect(to('activity')).toMatchObject([{ attempt: 'b', next: 3, reason: 'busy', waitMs: 1000 }])
  })

  it('reports a retry without a wait if the history is sent in another form', () => {
    const again = given(llmGateway, modelRequest(), failed('a', { historyRefused: true }))
    expect(again.to('activity')).toMatchObject([{ type: 'model-retry', next: 2, waitMs: 0 }])
  })

  it('reports no retry if it is the last', () => {
    const last = given(llmGateway, modelRequest(), failed('a', { retryable: false }))
    expect(last.to('activity')).toEqual([])
  })

  it('counts once, even if its record comes twice', () => {
    const settings = { ...defaultSettings, attempts: 2 }
    const twice = given(llmGateway, modelRequest({ settings }), failed('a'), failed('a'))
    expect(twice.state).toBeDefined()
    expect(twice.records).toEqual([])
    expect(twice.when(failed('b')).to('response')).toMatchObject([
      { failure: { class: 'transient' } },
    ])
  })

  it('is the last once all tries are used up, and the round fails with its class and reason', () => {
    const used = given(
      llmGateway,
      modelRequest(),
      failed('a'),
      failed('b'),
      failed('c', { reason: 'still overloaded' }),
    )
    expect(used.to('response')).toEqual([
      { ...noAnswer, failure: { class: 'transient', reason: 'still overloaded' } },
    ])
    expect(used.state).toBeUndefined()
  })

  it('is the last if another try cannot help', () => {
    const refused = given(
      llmGateway,
      modelRequest(),
      failed('a', { retryable: false, class: 'refused', reason: 'no such model' }),
    )
    expect(refused.to('response')).toEqual([
      { ...noAnswer, failure: { class: 'refused', reason: 'no such model' } },
    ])
  })

  it('is the last if the retry would come at expiresAt or later', () => {
    const request = modelRequest({ expiresAt: 5000 })
    expect(failureOf(given(llmGateway, request, at(4000, failed('a'))).to('response'))).toEqual({
      class: 'transient',
      reason: 'overloaded',
    })
    expect(given(llmGateway, request, at(3999, failed('a'))).state).toBeDefined()
  })

  it('cannot set a wait beyond the limit, nor one in the past', () => {
    const long = given(
      llmGateway,
      at(0, modelRequest()),
      at(0, failed('a', { retryAfterMs: 2 ** 50 })),
    )
    expect(long.due).toBe(limits.retryAfterMsMax)
    const negative = given(
      llmGateway,
      at(0, modelRequest()),
      at(50, failed('a', { retryAfterMs: -1000 })),
    )
    expect(negative.due).toBe(50)
  })

  it('never shortens the wait that an earlier one set', () => {
    const both = given(
      llmGateway,
      at(0, modelRequest()),
      at(0, failed('own', { retryAfterMs: 5000 })),
      at(1, failed('zombie', { retryAfterMs: 0 })),
    )
    expect(both.due).toBe(5000)
  })

  it('counts against the hard limit if an agent allows more tries', () => {
    const settings = { ...defaultSettings, attempts: 1_000_000 }
    const attempts = Array.from({ length: limits.attemptsMax }, (_, n) => failed(`a${n}`))
    expect(given(llmGateway, modelRequest({ settings }), ...attempts.slice(1)).state).toBeDefined()
    expect(given(llmGateway, modelRequest({ settings }), ...attempts).state).toBeUndefined()
  })
})

describe('an attempt that was degenerate', () => {
  const degenerate = { class: 'degenerate', reason: 'the same again' } as const

  it('is repeated once with a reminder, and counts as a try', () => {
    const waiting = given(llmGateway, at(0, modelRequest()), at(0, failed('a', degenerate)))
    const again = waiting.when(at(1000, tick))
    expect(again.wants).toMatchObject([{ key: 'attempt 1', degenerate: true }])
    expect(again.when(at(2000, finished('b'))).to('response')).toMatchObject([
      { attempt: 'b', failure: null },
    ])
    const last = { ...degenerate, reason: 'and again', retryable: false }
    const twice = again.when(at(2000, failed('b', last)))
    expect(twice.to('response')).toMatchObject([
      { failure: { class: 'degenerate', reason: 'and again' } },
    ])
  })

  it('of an earlier owner does not use up the reminder', () => {
    const again = given(
      llmGateway,
      at(0, modelRequest()),
      at(0, failed('a', degenerate)),
      at(1000, tick),
      at(1500, failed('zombie', degenerate)),
      at(4000, tick),
    )
    expect(again.wants).toMatchObject([{ key: 'attempt 2', degenerate: true }])
  })

  it('is not repeated without a try left', () => {
    const settings = { ...defaultSettings, attempts: 1 }
    expect(
      given(llmGateway, modelRequest({ settings }), failed('a', degenerate)).to('response'),
    ).toMatchObject([{ failure: { class: 'degenerate' } }])
  })

  it('keeps the reminder over other failures and to the next owner, because the log has it', () => {
    const again = given(
      llmGateway,
      at(0, modelRequest()),
      at(0, failed('a', degenerate)),
      at(1000, tick),
      at(1500, started('of the next owner')),
      at(2000, failed('b')),
      at(3000, tick),
    )
    expect(again.wants).toMatchObject([{ key: 'attempt 2', degenerate: true }])
  })
})

describe('an attempt that started', () => {
  it('changes nothing: an owner that finds it starts its own', () => {
    const open = given(llmGateway, modelRequest())
    const seen = open.when(started('another owner'))
    expect(seen.state).toEqual(open.state)
    expect(seen.wants).toEqual(open.wants)
  })
})

describe('a cancel', () => {
  it('closes an open round as cancelled, even during the wait for a retry', () => {
    for (const open of [
      given(llmGateway, modelRequest()),
      given(llmGateway, modelRequest(), failed('a')),
    ]) {
      const cancelled = open.when(cancel())
      expect(cancelled.to('response')).toEqual([
        { ...noAnswer, failure: { class: 'cancelled', reason: expect.any(String) } },
      ])
      expect(cancelled.state).toBeUndefined()
    }
  })

  it('before its round is remembered: the round opens and is cancelled in one step, without an attempt', () => {
    const remembered = given(llmGateway, cancel())
    expect(remembered.records).toEqual([])
    expect(remembered.wants).toEqual([])
    expect(remembered.due).toBe(1_000_000)
    const round = remembered.when(modelRequest())
    expect(round.to('response')).toMatchObject([
      { type: 'model-opened' },
      { type: 'model-finished', failure: { class: 'cancelled' } },
    ])
    expect(round.state).toBeUndefined()
  })

  it('is forgotten at its expiresAt, and not by an attempt that comes before', () => {
    const remembered = given(
      llmGateway,
      cancel(),
      cancel(),
      started('zombie'),
      failed('zombie'),
      finished('zombie'),
    )
    expect(remembered.state).toEqual({ phase: 'cancelled', expiresAt: 1_000_000 })
    expect(remembered.when(at(999_999, tick)).state).toBeDefined()
    expect(remembered.when(at(1_000_000, tick)).state).toBeUndefined()
    expect(remembered.when(at(1_000_000, tick)).records).toEqual([])
  })

  it('without an open round, or one that is too late, is dropped', () => {
    expect(given(llmGateway, cancel({ round: 0 })).state).toBeUndefined()
    expect(given(llmGateway, at(1_000_000, cancel())).state).toBeUndefined()
  })
})

it('writes the same for the same records', () => {
  const records = [modelRequest(), started('a'), failed('a'), started('b'), finished('b')]
  expect(given(llmGateway, ...records).all).toEqual(given(llmGateway, ...records).all)
})

it('opens and finishes a round exactly once, for any records in any order', () => {
  const records = [
    modelRequest(),
    cancel(),
    failed('a'),
    failed('a'),
    failed('b', { retryable: false }),
    finished('c'),
    finished('d'),
  ]
  for (const order of rotations(records)) {
    const toResponse = given(llmGateway, ...order).all.filter(({ to }) => to === 'response')
    const types = toResponse.map(({ message }) => message.type)
    expect(types).toEqual(['model-opened', 'model-finished'])
  }
})

function rotations<T>(items: T[]): T[][] {
  return items.flatMap((_, n) => {
    const turned = [...items.slice(n), ...items.slice(0, n)]
    return [turned, turned.toReversed()]
  })
}

describe('a history that was shortened', () => {
  const full = (attempt: string) =>
    failed(attempt, { class: 'context_full', retryable: false, historyShortened: true })

  it('is sent again at once, beyond the tries, a bounded number of times (GATE-5)', () => {
    let open = given(llmGateway, modelRequest({ settings: { ...defaultSettings, attempts: 1 } }))
    for (let n = 1; n <= historyShorteningsMax; n += 1) {
      open = open.when(full(`id${n}`))
      expect(open.wants).toMatchObject([{ key: `attempt ${n}`, shortened: n }])
    }
    expect(failureOf(open.when(full('last')).to('response'))).toMatchObject({
      class: 'context_full',
    })
  })

  it('is not sent after the end of the turn', () => {
    const late = given(llmGateway, modelRequest()).when(at(1_000_000, full('id1')))
    expect(failureOf(late.to('response'))).toMatchObject({ class: 'budget' })
  })
})
