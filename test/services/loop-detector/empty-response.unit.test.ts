// Responses with neither visible text nor a call (I4), and rounds in which only text was asked for.

import { describe, expect, it } from '@jest/globals'
import {
  empty,
  failing,
  ok,
  one,
  played,
  policyWith,
  rungs,
  says,
  times,
  toolCall,
} from './rounds.ts'

const work = (n: number) => one('search', { q: `topic ${n}` }, ok(`hit ${n}`))

describe('an empty response', () => {
  it('is nudged twice before any tool call; the third is asked for its final answer without tools', () => {
    const said = played(...times(3, empty()))
    expect(said.map((intervention) => [intervention?.rung, intervention?.ordinary])).toEqual([
      ['nudge', true],
      ['nudge', true],
      ['text_only', false],
    ])
    expect(said[0]?.text).toContain('no visible text and no tool call')
    expect(said[2]).toMatchObject({
      rule: 'empty-response',
      key: 'empty responses in a row',
      class: null,
    })
    expect(said[2]?.text).toContain('final answer')
    expect(said[2]?.evidence).toEqual([1, 2, 3].map((round) => ({ round, ordinal: -1 })))
  })

  it('is nudged three times after a tool call', () => {
    expect(rungs(work(1), ...times(4, empty()))).toEqual([
      '-',
      '(nudge)',
      '(nudge)',
      '(nudge)',
      'text_only',
    ])
  })

  it('is empty too when its text is blank', () => {
    expect(rungs(...times(3, says(' \n\t')))).toEqual(['(nudge)', '(nudge)', 'text_only'])
  })

  it('begins a new row after a tool call, but counts on for the turn: the eleventh is the last', () => {
    const laps = [1, 2, 3, 4, 5].flatMap((n) => [work(n), empty(), empty()])
    const said = played(...laps, work(6), empty())
    expect(
      said.slice(0, 15).every((intervention) => intervention === null || intervention.ordinary),
    ).toBe(true)
    expect(said.at(-1)).toMatchObject({
      rung: 'text_only',
      ordinary: false,
      key: 'empty responses in the turn',
    })
  })

  it('begins a new row after a call that was rejected too, and after visible text', () => {
    expect(rungs(empty(), empty(), says('Hello.'), empty(), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '-',
      '(nudge)',
      '(nudge)',
    ])
    expect(rungs(empty(), empty(), one('x', {}, failing('e')), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '-',
      '(nudge)',
    ])
  })

  it('that the length limit cut is asked to be brief; it counts for the turn, not for the row', () => {
    const said = played(...times(10, empty('length')))
    expect(
      said.every(
        (intervention) => intervention?.ordinary && intervention.text.includes('Think briefly'),
      ),
    ).toBe(true)
    expect(rungs(...times(11, empty('length'))).at(-1)).toBe('text_only')
    expect(rungs(empty(), empty(), empty('length'), empty())).toEqual([
      '(nudge)',
      '(nudge)',
      '(nudge)',
      'text_only',
    ])
  })

  it('has allowances that the policy sets', () => {
    const policy = policyWith({ empty: { beforeTools: 0, afterTools: 1, perTurn: 2 } })
    expect(rungs(empty('end', { policy }))).toEqual(['text_only'])
    expect(rungs(work(1), empty('end', { policy }), empty('end', { policy }))).toEqual([
      '-',
      '(nudge)',
      'text_only',
    ])
  })

  it('is no verdict while it is ordinary: activity hears nothing of it', () => {
    expect(played(empty())[0]).toMatchObject({ ordinary: true, rung: 'nudge' })
  })
})

describe('a text-only round that was asked for', () => {
  it('ends the turn with a reason when it stays empty', () => {
    const said = played(...times(3, empty()), empty('end', { callsLeft: 0 }))
    expect(said.at(-1)).toMatchObject({
      rung: 'end',
      class: 'no_progress',
      ordinary: false,
      rule: 'empty-response',
      text: '',
    })
    expect(said.at(-1)?.reason).toContain(
      'asked for an answer without tools, the model gave no visible text',
    )
    expect(said.at(-1)?.evidence.at(-1)).toEqual({ round: 4, ordinal: -1 })
  })

  it('ends it also when it holds only calls, whichever rule asked', () => {
    const fails = one('exec', {}, failing('missing required argument'))
    const said = played(...times(4, fails), {
      fields: { calls: [toolCall('exec', {})], callsLeft: 0 },
    })
    expect(said.at(-1)).toMatchObject({
      rung: 'end',
      rule: 'identical-failure',
      class: 'no_progress',
    })
  })

  it('is well answered by text', () => {
    expect(
      rungs(...times(3, empty()), {
        fields: { response: { text: 'Here it is.' }, callsLeft: 0 },
      }).at(-1),
    ).toBe('-')
  })

  it('leaves the end to the conversation when a cap asked for it', () => {
    expect(rungs(work(1), empty('end', { callsLeft: 0 }))).toEqual(['-', '-'])
  })
})
