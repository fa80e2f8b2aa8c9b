import { describe, expect, it } from '@jest/globals'
import { matches, whereIn, whereOf } from '../../../client/history/turn-filter.ts'
import { type TurnSummary, turnSummary } from '../../../shared/view/summary.ts'
import { beginTurn } from '../../../shared/view/turn-view.ts'

const turn = (fields: Partial<TurnSummary> = {}, facts: Partial<TurnSummary['facts']> = {}) => {
  const empty = turnSummary(beginTurn(0, 0))
  return { ...empty, ...fields, facts: { ...empty.facts, ...facts } }
}
const caught = turn(
  { agent: 'helper', outcome: 'answered' },
  { rules: { cycle: 2 }, actions: { nudge: 1, text_only: 1 }, denials: { 'no-rome': 1 } },
)

describe('--where', () => {
  it.each<[string, TurnSummary, boolean]>([
    ['intervention=any', caught, true],
    ['intervention=nudge', caught, true],
    ['intervention=text-only', caught, true],
    ['intervention=end', caught, false],
    ['intervention=any', turn(), false],
    ['rule=cycle', caught, true],
    ['rule=sweep', caught, false],
    ['rule=sweep rule=cycle', caught, true],
    ['guard=no-rome', caught, true],
    ['guard=spend', caught, false],
    ['tenant=acme', turn({ tenant: 'acme' }), true],
    ['tenant=acme', turn({ tenant: 'default' }), false],
    ['call=denied', caught, true],
    ['call=denied', turn({}, { deniedByChecks: 1 }), true],
    ['call=pending', turn({}, { approvals: { pending: 1 } }), true],
    ['call=allowed', turn({}, { approvals: { allow: 1 } }), true],
    ['agent=helper rule=cycle', caught, true],
    ['agent=other rule=cycle', caught, false],
    ['outcome=open', turn(), true],
    ['failureClass=no-progress', turn({ failureClass: 'no_progress' }), true],
    ['cap=rounds', turn({ cap: 'rounds' }), true],
  ])('%s', (conditions, one, isMatch) => {
    expect(matches(whereOf(conditions.split(' ')), one)).toBe(isMatch)
  })

  it.each([
    ['rule=sweeps', "--where rule is 'sweeps'. Did you mean sweep? It must be one of identical-"],
    ['intervention=nudges', 'Did you mean nudge? It must be one of any, nudge, text_only, end'],
    ['call=veto', 'It must be one of denied, allowed, pending'],
    ['rules=cycle', 'Did you mean rule?'],
    [
      'cycle',
      'must be KEY=VALUE with a key of failureClass, outcome, cap, agent, tenant, intervention, ',
    ],
  ])('refuses %s with the nearest one', (condition, fault) => {
    expect(() => whereOf([condition])).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(fault) }),
    )
  })

  it.each([
    [{ outcome: 'nice' }, "where.outcome is 'nice'. It must be one of answered, capped, "],
    [{ outcom: 'nice' }, "where has the key 'outcom'; its keys are since, until, failureClass, "],
  ])('refuses %j of a program in its own words', (conditions, fault) => {
    expect(() => whereIn(conditions as object, ['since', 'until'])).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(fault) }),
    )
  })
})
