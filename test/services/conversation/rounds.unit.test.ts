// The effect of the outcome of a round.

import { describe, expect, it } from '@jest/globals'
import { conversation } from '../../../services/conversation/reducer.ts'
import type { TextCallsHold } from '../../../shared/contract/messages.ts'
import { capNudge } from '../../../shared/contract/turn/turn-texts.ts'
import { at, given } from '../../support/given.ts'
import {
  carriedIn,
  fallback,
  intervention,
  names,
  only,
  openedWith,
  outcome,
  says,
} from './samples.ts'

const goesOn = ['history: history-entry', 'model: model-request', 'activity: round-started']
const ends = [
  'history: history-entry',
  'verdict: turn-ended',
  'tools: turn-ended',
  'activity: turn-finished',
  'self: carried',
]
const opened = openedWith({ calls: 10 }, 1_000)

describe('a round with calls', () => {
  const second = opened.when(at(2_000, outcome(0, 1, { calls: 3 })))

  it('enters the history, and the next request reads the history up to it', () => {
    expect(names(second.records)).toEqual(goesOn)
    const { response, results } = outcome(0, 1, { calls: 3 })
    expect(only(second.records, 'history-entry')).toEqual({
      type: 'history-entry',
      redact: [],
      conversation: 'c',
      turn: 0,
      round: 1,
      user: null,
      contents: [],
      afterTurn: null,
      response,
      results,
      nudge: null,
      note: null,
    })
    expect(only(second.records, 'model-request')).toMatchObject({
      turn: 0,
      round: 2,
      historyRound: 1,
      nudge: null,
      callsLeft: 7,
    })
  })

  it('leads to a request with the same agent, tools, settings and expiry', () => {
    const { agent, tools, settings, expiresAt } = only(opened.records, 'model-request')
    expect(only(second.records, 'model-request')).toMatchObject({
      agent,
      tools,
      settings,
      expiresAt,
    })
  })

  it('counts each call of the model, also next to a text', () => {
    const third = second.when(outcome(0, 2, { calls: 2, text: 'I look further.' }))
    expect(only(third.records, 'model-request').callsLeft).toBe(5)
  })
})

describe('an outcome that is not awaited', () => {
  const second = opened.when(outcome(0, 1, { calls: 1 }))
  it.each([
    ['an earlier round', outcome(0, 1, { text: 'old' })],
    ['a later round', outcome(0, 3, { text: 'new' })],
    ['another turn', outcome(7, 2, { text: 'other' })],
  ])('changes nothing: %s', (_, stray) => {
    expect(second.when(stray).records).toEqual([])
    expect(second.when(stray).state).toEqual(second.state)
  })

  it('changes nothing after the turn', () => {
    const carrying = opened.when(outcome(0, 1, { text: 'done' }))
    expect(carrying.when(outcome(0, 1, { text: 'done' })).records).toEqual([])
    const idle = carrying.when(carriedIn(carrying.records))
    expect(idle.when(outcome(0, 1, { text: 'done' })).records).toEqual([])
  })
})

describe('visible text without a call', () => {
  it('is the reply, ends the turn and carries the rest', () => {
    const over = opened
      .when(says('m2'))
      .when(at(4_000, outcome(0, 1, { text: 'Here you are.', tokens: 12 })))
    expect(names(over.records)).toEqual(ends)
    expect(only(over.records, 'turn-finished')).toEqual({
      type: 'turn-finished',
      conversation: 'c',
      turn: 0,
      messageId: 'm1',
      outcome: 'answered',
      reply: 'Here you are.',
      reason: 'the model answered',
      class: null,
      cap: null,
      totals: { rounds: 1, calls: 0, inputTokens: 12, outputTokens: 0, wallMs: 3_000 },
    })
    expect(over.to('verdict')).toEqual([{ type: 'turn-ended', conversation: 'c', turn: 0 }])
    expect(carriedIn(over.records)).toEqual({
      type: 'carried',
      conversation: 'c',
      from: 2,
      state: { queue: over.state?.queue, recentMessageIds: ['m1', 'm2'] },
    })
    expect(over.state?.queue.map(({ messageId }) => messageId)).toEqual(['m2'])
    expect(over.due).toBeUndefined()
  })

  it.each([
    ['length', /^the model answered; its reply was cut at .*limit on output tokens$/],
    ['refusal', /^the model answered; its reply was ended by a filter/],
    ['end', /^the model answered$/],
  ] as const)(
    'that ended by %s is a reply, and its reason shows whether it is complete',
    (stop, reason) => {
      const over = opened.when(outcome(0, 1, { text: 'Here you', stop }))
      expect(only(over.records, 'turn-finished')).toMatchObject({
        outcome: 'answered',
        reason: expect.stringMatching(reason),
      })
    },
  )

  it('ends the turn even with a reminder from the detector', () => {
    const over = opened.when(
      outcome(0, 1, {
        text: 'Here you are.',
        intervention: { ...intervention('nudge'), ordinary: true },
      }),
    )
    expect(only(over.records, 'turn-finished').outcome).toBe('answered')
  })

  it('is no reply if an intervention objects, for example to repetition, and leads to a new request', () => {
    const again = opened.when(
      outcome(0, 1, { text: 'So. So. So.', intervention: intervention('nudge') }),
    )
    expect(names(again.records)).toEqual(goesOn)
    expect(only(again.records, 'model-request')).toMatchObject({
      nudge: intervention('nudge').text,
    })
  })

  it('is no reply if an intervention reports it as an unreadable call, and is the reply otherwise', () => {
    const textCalls = { dialect: 'json', repairs: [], fault: 'it is not valid JSON', held: null }
    const reminder = intervention('nudge', { ordinary: true, text: 'That was no call.' })
    const answered = opened.when(
      outcome(0, 1, { text: '{"name":', textCalls, intervention: reminder }),
    )
    expect(names(answered.records)).toEqual(goesOn)
    expect(only(answered.records, 'model-request')).toMatchObject({
      round: 2,
      nudge: 'That was no call.',
    })
    expect(names(opened.when(outcome(0, 1, { text: '{"name":', textCalls })).records)).toEqual(ends)
  })

  it('that is only a held call is no answer of the last request, and other held texts are', () => {
    const lastRequest = opened.when(
      outcome(0, 1, { text: 'So. So. So.', intervention: intervention('text_only') }),
    )
    const endsAs = (held: TextCallsHold | null) => {
      const textCalls = { dialect: 'json', repairs: [], fault: 'text does not run', held }
      const ended = lastRequest.when(outcome(0, 2, { text: '{"name":"a"}', textCalls }))
      const { outcome: how, class: failureClass, reason } = only(ended.records, 'turn-finished')
      return [how, failureClass, reason.includes('written as text, which did not run')]
    }
    expect(endsAs('tell')).toEqual(['failed', 'no_progress', false])
    expect(endsAs('echo')).toEqual(['answered', null, true])
    expect(endsAs('frame')).toEqual(['answered', null, true])
    expect(endsAs(null)).toEqual(['answered', null, false])
  })

  it('that is only a held call does not answer at a cap, and the reason says it', () => {
    const textCalls = { dialect: 'json', repairs: [], fault: 'f', held: 'tell' as const }
    const last = opened.when(outcome(0, 1, { calls: 1, caps: { rounds: 1 } }))
    expect(
      only(last.when(outcome(0, 2, { text: '{}', textCalls })).records, 'turn-finished'),
    ).toMatchObject({ outcome: 'capped', reason: expect.stringContaining('only a tool call') })
  })

  it('is the reply in a request without tools, despite any intervention below the end', () => {
    const lastRequest = opened.when(
      outcome(0, 1, { text: 'So. So. So.', intervention: intervention('text_only') }),
    )
    expect(only(lastRequest.records, 'model-request')).toMatchObject({ callsLeft: 0 })
    expect(
      only(lastRequest.when(outcome(0, 2, { text: 'So.' })).records, 'turn-finished').outcome,
    ).toBe('answered')
    const ended = lastRequest.when(
      outcome(0, 2, { text: 'So. So. So.', intervention: intervention('end') }),
    )
    expect(only(ended.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
    })
  })

  it('that is blank is no reply and leads to a new request', () => {
    expect(names(opened.when(outcome(0, 1, { text: ' \n\t' })).records)).toEqual(goesOn)
  })

  it('adds tokens read from and written to the cache to the input tokens', () => {
    const answer = outcome(0, 1, { text: 'done' })
    const usage = {
      inputTokens: 1,
      outputTokens: 20,
      cacheReadTokens: 300,
      cacheWriteTokens: 4_000,
    }
    const over = opened.when({ ...answer, response: { ...answer.response, usage } })
    expect(only(over.records, 'turn-finished').totals).toMatchObject({
      inputTokens: 4_301,
      outputTokens: 20,
    })
  })
})

describe('a round that failed', () => {
  const failure = { class: 'provider' as const, reason: 'the provider answered 529 three times' }
  const over = opened.when(at(2_000, outcome(0, 1, { failure })))

  it('ends the turn with the fallback and the reason', () => {
    expect(names(over.records)).toEqual(ends)
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'provider',
      reason: failure.reason,
      reply: fallback,
      cap: null,
    })
  })

  it('enters the history with a note and without a response', () => {
    const entry = only(over.records, 'history-entry')
    expect(entry.response).toBeNull()
    expect(entry.note).toBe(
      'There is no response in this round: the provider answered 529 three times',
    )
  })

  it('shortens a long reason in the history', () => {
    const long = opened.when(
      outcome(0, 1, { failure: { class: 'provider', reason: 'ü'.repeat(5_000) } }),
    )
    expect(Buffer.byteLength(only(long.records, 'history-entry').note ?? '')).toBeLessThanOrEqual(
      512,
    )
  })

  it('at the wall limit ends the turn as capped, for any order of the records', () => {
    const { expiresAt } = only(opened.records, 'model-request')
    const late = opened.when(
      at(expiresAt, outcome(0, 1, { failure: { class: 'transient', reason: 'expired' } })),
    )
    expect(names(late.records)).toEqual(ends)
    expect(only(late.records, 'turn-finished')).toMatchObject({
      outcome: 'capped',
      cap: 'wall',
      class: 'budget',
    })
  })

  it('has priority over an intervention', () => {
    const both = opened.when(
      outcome(0, 1, { failure, intervention: intervention('end', { class: 'no_progress' }) }),
    )
    expect(only(both.records, 'turn-finished').class).toBe('provider')
  })
})

describe('an intervention', () => {
  it('that nudges is in the very next request and in the history', () => {
    const nudged = opened.when(outcome(0, 1, { calls: 1, intervention: intervention('nudge') }))
    expect(only(nudged.records, 'model-request')).toMatchObject({
      round: 2,
      nudge: 'text of the nudge',
      callsLeft: 9,
    })
    expect(only(nudged.records, 'round-started')).toMatchObject({
      round: 2,
      callsLeft: 9,
      nudged: true,
    })
    expect(only(nudged.records, 'history-entry').nudge).toBeNull()
    const next = nudged.when(outcome(0, 2, { calls: 1 }))
    expect(only(next.records, 'history-entry').nudge).toBe('text of the nudge')
    expect(only(next.records, 'model-request').nudge).toBeNull()
  })

  it('that requires text only removes the calls from the next request, not the tools', () => {
    const bare = opened.when(outcome(0, 1, { calls: 1, intervention: intervention('text_only') }))
    expect(only(bare.records, 'model-request')).toMatchObject({
      callsLeft: 0,
      nudge: 'text of the text_only',
      tools: [{ name: 'search' }],
    })
  })

  it('without a text adds none to the request', () => {
    const bare = opened.when(
      outcome(0, 1, { calls: 1, intervention: intervention('text_only', { text: '' }) }),
    )
    expect(only(bare.records, 'model-request')).toMatchObject({ callsLeft: 0, nudge: null })
  })

  it('that ends the turn gives the fallback with its class and reason', () => {
    const over = opened.when(
      outcome(0, 1, { calls: 1, intervention: intervention('end', { class: 'deterministic' }) }),
    )
    expect(names(over.records)).toEqual(ends)
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'deterministic',
      reason: 'the same call failed three times',
      reply: fallback,
    })
  })

  it('that ends the turn without a class gives it the class no_progress', () => {
    const over = opened.when(
      outcome(0, 1, { text: 'and yet a text', intervention: intervention('end') }),
    )
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
    })
  })
})

describe('a text-only round that the detector requires', () => {
  const lastRequest = opened.when(
    outcome(0, 1, { calls: 1, intervention: intervention('text_only') }),
  )

  it('with text is the reply, without a cap', () => {
    const over = lastRequest.when(outcome(0, 2, { text: 'I am stuck.' }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: 'I am stuck.',
      cap: null,
    })
  })

  it('with text next to skipped calls is the reply too', () => {
    const over = lastRequest.when(outcome(0, 2, { text: 'I am stuck.', calls: 2 }))
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: 'I am stuck.',
      totals: { calls: 3 },
    })
  })

  it.each([
    ['calls a tool instead', { calls: 1 }],
    ['is empty', {}],
    ['is blank', { text: '  ' }],
  ])('that %s ends the turn with the reason for the round', (_, of) => {
    const over = lastRequest.when(outcome(0, 2, of))
    expect(names(over.records)).toEqual(ends)
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'no_progress',
      reason: 'the same call failed three times',
      reply: fallback,
      cap: null,
    })
  })
})

describe('the text at a cap', () => {
  it('uses singular and plural', () => {
    expect(capNudge('calls', 1)).toContain('its limit of 1 tool call.')
    expect(capNudge('rounds', 25)).toContain('its limit of 25 model rounds.')
  })
})

describe('a refusal without text', () => {
  it('ends the turn as refused, because a new request would be refused too', () => {
    const refused = outcome(0, 1)
    const over = given(conversation, at(0, says('m1'))).when({
      ...refused,
      response: { ...refused.response, stop: 'refusal' },
    })
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'failed',
      class: 'refused',
      reply: fallback,
    })
  })

  it('with visible text is an answer', () => {
    const refused = outcome(0, 1, { text: 'I cannot help with that.' })
    const over = given(conversation, at(0, says('m1'))).when({
      ...refused,
      response: { ...refused.response, stop: 'refusal' },
    })
    expect(only(over.records, 'turn-finished')).toMatchObject({
      outcome: 'answered',
      reply: 'I cannot help with that.',
    })
  })
})
