import { describe, expect, it } from '@jest/globals'
import type { Activity } from '../../../../client/edge/edge.ts'
import {
  conditionsIn,
  conditionsOf,
  filterFrom,
  sortNamed,
  valuesOf,
} from '../../../../shared/view/filter/turn-filter.ts'
import { addToTurn, beginTurn } from '../../../../shared/view/turn-view.ts'
import { interventionRaised, turnStarted } from '../../../support/activity.ts'

const now = 1_000_000
const filterOf = (...where: string[]) => filterFrom(conditionsOf(where), now)

describe('a filter of turns', () => {
  it('has the values of each key, and bounds in one unit each', () => {
    const filter = filterOf(
      'rule=cycle',
      'rule=sweep',
      'failureClass=no-progress',
      'text=customer 700',
      'minTokens=5000',
      'minCost=0.5USD',
      'longerThan=1.5m',
      'since=10m ago',
      'until=900000',
    )
    expect(filter).toEqual({
      text: ['customer 700'],
      values: new Map([
        ['rule', new Set(['cycle', 'sweep'])],
        ['failureClass', new Set(['no_progress'])],
      ]),
      minTokens: 5_000,
      minCost: 500_000_000,
      longerThan: 90_000,
      since: 400_000,
      until: 900_000,
    })
  })

  it('has the same values from the object of a program', () => {
    const conditions = conditionsIn({ rule: ['cycle', 'sweep'], since: 400_000, minCost: 2 })
    expect(filterFrom(conditions, now)).toEqual(
      filterOf('rule=cycle', 'rule=sweep', 'since=400000', 'minCost=2USD'),
    )
  })

  it.each([
    ['rule=sweeps', "--where rule is 'sweeps'. Did you mean sweep? It must be one of identical-"],
    ['intervention=nudges', 'Did you mean nudge? It must be one of any, nudge, text_only, end'],
    ['call=veto', 'It must be one of denied, allowed, pending'],
    ['rules=cycle', 'Did you mean rule?'],
    ['cycle', 'must be KEY=VALUE with a key of text, outcome, intervention, rule, guard, tool, '],
    ['minTokens=many', "--where minTokens is 'many': give a whole number of tokens"],
    ['minCost=5EUR', "--where minCost is '5EUR': give an amount such as 5 or 0.5USD"],
    ['longerThan=5', undefined],
    ['longerThan=long', 'give a duration such as 90s or 5m (ms, s, m, h, d)'],
    ['since=yesterday', "give a time such as 2026-07-29T10:12:03Z or '10m ago'"],
    ['text= ', '--where text is empty: give words to find'],
  ])('takes %s, or refuses it with the accepted form', (condition, fault) => {
    const filter = () => filterOf(condition)
    if (fault === undefined) expect(filter).not.toThrow()
    else
      expect(filter).toThrow(
        expect.objectContaining({ code: 'usage', message: expect.stringContaining(fault) }),
      )
  })

  it('refuses a time that ends before it begins, and a bound that is given twice', () => {
    expect(() => filterOf('since=now', 'until=10m ago')).toThrow(
      '--where since now is not before --where until 10m ago',
    )
    expect(() => filterOf('minTokens=1', 'minTokens=2')).toThrow('--where minTokens is given twice')
  })

  it.each([
    [{ outcome: 'nice' }, "where.outcome is 'nice'. It must be one of answered, capped, "],
    [{ outcom: 'nice' }, "where has the key 'outcom'; its keys are text, outcome, "],
  ])('refuses %j of a program in its own words', (where, fault) => {
    expect(() => filterFrom(conditionsIn(where), now)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(fault) }),
    )
  })

  it('names the orders for an unknown one', () => {
    expect(() => sortNamed('price', '--sort')).toThrow(
      "--sort is 'price'. It must be one of time, cost, tokens, duration",
    )
  })
})

describe('the values of a turn', () => {
  it("have the turn's agent, tenant, tools and interventions", () => {
    const view = beginTurn(0, 0)
    const conversation = 'acme:c'
    const calls = ['refund', 'lookup', 'refund'].map((name, ordinal) => ({
      ...{ ordinal, id: '', name, arguments: '{}', argumentsBytes: 2, problem: null },
    }))
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    const answer = { attempt: 'a', text: '', textBytes: 0, stop: 'calls' as const, calls, usage }
    const messages: Activity[] = [
      turnStarted(),
      { type: 'model-answered', turn: 7, round: 1, ...answer, conversation },
      interventionRaised('cycle', 'again'),
    ].map((message) => ({ ...message, conversation }) as Activity)
    for (const message of messages) addToTurn(view, { message, time: 1, topic: 'activity' }, 'turn')
    const values = valuesOf(view)
    expect(values).toEqual(
      expect.arrayContaining([
        ['agent', 'agent'],
        ['tenant', 'acme'],
        ['tool', 'refund'],
        ['tool', 'lookup'],
        ['outcome', 'open'],
        ['rule', 'cycle'],
        ['intervention', 'any'],
      ]),
    )
    expect(values.filter(([key]) => key === 'tool')).toHaveLength(2)
  })
})
