// Responses with neither visible text nor a call (I4), and required text-only rounds.

import { describe, expect, it } from '@jest/globals'
import {
  actions,
  empty,
  failing,
  ok,
  one,
  played,
  policyWith,
  says,
  times,
  toolCall,
} from './rounds.ts'

const work = (n: number) => one('search', { q: `topic ${n}` }, ok(`hit ${n}`))

describe('an empty response', () => {
  it('gets two nudges before any tool call, then a last request without tools', () => {
    const interventions = played(...times(3, empty()))
    expect(
      interventions.map((intervention) => [intervention?.action, intervention?.ordinary]),
    ).toEqual([
      ['nudge', true],
      ['nudge', true],
      ['text_only', false],
    ])
    expect(interventions[0]?.text).toContain('no visible text and no tool call')
    expect(interventions[2]).toMatchObject({
      rule: 'empty-response',
      key: 'empty responses in a row',
      class: null,
    })
    expect(interventions[2]?.text).toContain('final answer')
    expect(interventions[2]?.evidence).toEqual([1, 2, 3].map((round) => ({ round, ordinal: -1 })))
  })

  it('gets three nudges after a tool call', () => {
    expect(actions(work(1), ...times(4, empty()))).toEqual([
      '-',
      '(nudge)',
      '(nudge)',
      '(nudge)',
      'text_only',
    ])
  })

  it('may have a blank text', () => {
    expect(actions(...times(3, says(' \n\t')))).toEqual(['(nudge)', '(nudge)', 'text_only'])
  })

  it('starts a new row after a tool call, but the count of the turn goes on to the eleventh', () => {
    const laps = [1, 2, 3, 4, 5].flatMap((n) => [work(n), empty(), empty()])
    const interventions = played(...laps, work(6), empty())
    expect(
      interventions
        .slice(0, 15)
        .every((intervention) => intervention === null || intervention.ordinary),
    ).toBe(true)
    expect(interventions.at(-1)).toMatchObject({
      action: 'text_only',
      ordinary: false,
      key: 'empty responses in the turn',
    })
  })

  it('starts a new row after a denied call too, and after visible text', () => {
    expect(actions(empty(), empty(), says('Hello.'), empty(), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '-',
      '(nudge)',
      '(nudge)',
    ])
    expect(actions(empty(), empty(), one('x', {}, failing('e')), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '-',
      '(nudge)',
    ])
  })

  it('cut by the length limit gets a request to be brief, and counts for the turn, not for the row', () => {
    const interventions = played(...times(10, empty('length')))
    expect(
      interventions.every(
        (intervention) => intervention?.ordinary && intervention.text.includes('Think briefly'),
      ),
    ).toBe(true)
    expect(actions(...times(11, empty('length'))).at(-1)).toBe('text_only')
    expect(actions(empty(), empty(), empty('length'), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '(nudge)',
      'text_only',
    ])
  })

  it('has the allowances of the policy', () => {
    const policy = policyWith({ empty: { beforeTools: 0, afterTools: 1, perTurn: 2 } })
    expect(actions(empty('end', { policy }))).toEqual(['text_only'])
    expect(actions(work(1), empty('end', { policy }), empty('end', { policy }))).toEqual([
      '-',
      '(nudge)',
      'text_only',
    ])
  })

  it('leads to no activity record while its nudge is ordinary', () => {
    expect(played(empty())[0]).toMatchObject({ ordinary: true, action: 'nudge' })
  })
})

describe('a required text-only round', () => {
  it('ends the turn with a reason if it stays empty', () => {
    const interventions = played(...times(3, empty()), empty('end', { callsLeft: 0 }))
    expect(interventions.at(-1)).toMatchObject({
      action: 'end',
      class: 'no_progress',
      ordinary: false,
      rule: 'empty-response',
      text: '',
    })
    expect(interventions.at(-1)?.reason).toContain(
      'asked for an answer without tools, the model gave no visible text',
    )
    expect(interventions.at(-1)?.evidence.at(-1)).toEqual({ round: 4, ordinal: -1 })
  })

  it('ends the turn if it holds only calls, for any rule', () => {
    const fails = one('exec', {}, failing('missing required argument'))
    const interventions = played(...times(4, fails), {
      fields: { calls: [toolCall('exec', {})], callsLeft: 0 },
    })
    expect(interventions.at(-1)).toMatchObject({
      action: 'end',
      rule: 'identical-failure',
      class: 'no_progress',
    })
  })

  it('passes with a text', () => {
    expect(
      actions(...times(3, empty()), {
        fields: { response: { text: 'Here it is.' }, callsLeft: 0 },
      }).at(-1),
    ).toBe('-')
  })

  it('leaves the end to the conversation if a cap requires it', () => {
    expect(actions(work(1), empty('end', { callsLeft: 0 }))).toEqual(['-', '-'])
  })
})
