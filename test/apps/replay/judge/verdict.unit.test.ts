// Scenarios through the validator and the loop-detector: the place and subject of interventions, also
// with other thresholds.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../../apps/replay/judge/overrides.ts'
import type { Scenario, Step } from '../../../../apps/replay/judge/scenario.ts'
import { judge } from '../../../../apps/replay/judge/verdict.ts'

const failing: Step = {
  kind: 'tool',
  tool: 'post',
  args: { to: 'a' },
  outcome: 'error',
  result: 'the recipient is no team',
}
const reading = (path: string, result = 'text'): Step => ({
  kind: 'tool',
  tool: 'read',
  args: { path },
  outcome: 'ok',
  result,
})
const judged = (scenario: Partial<Scenario>, ...set: string[]) =>
  judge({ id: 'a', steps: [], ...scenario }, givenBy(set))
const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step)

describe('the first intervention', () => {
  it('has its step, rule, kind, action and reason', () => {
    expect(judged({ steps: times(4, failing) })).toMatchObject({
      fired: true,
      step: 3,
      rule: 'identical-failure@5',
      kind: 'tool_loop',
      action: 'nudge',
      ok: null,
      expected: null,
      reason: expect.stringContaining('failed in 3 rounds'),
    })
  })

  it('comes after the last call of a response, whose calls count once', () => {
    const siblings = times(3, failing).map((step): Step => ({ ...step, turn: 1 }) as Step)
    expect(judged({ steps: siblings })).toMatchObject({ fired: false, step: null })
    expect(
      judged({
        steps: [
          ...siblings,
          failing,
          { ...failing, turn: 3 } as Step,
          { ...failing, turn: 3 } as Step,
        ],
      }),
    ).toMatchObject({
      step: 6,
    })
  })

  it('can come from denied calls if the scenario has schemas: those never ran', () => {
    const tools = [{ name: 'post', schema: { type: 'object', required: ['body'] } }]
    const { reason } = judged({
      tools,
      steps: times(3, { ...failing, outcome: 'ok', result: 'posted' } as Step),
    })
    expect(reason).toContain('body')
  })

  it('can be about a tool that was not offered, if the scenario lists its tools', () => {
    expect(
      judged({ tools: [{ name: 'read', schema: true }], steps: times(3, failing) }).reason,
    ).toContain('post')
  })

  it('starts over with each user message and for each session', () => {
    expect(
      judged({ steps: [...times(2, failing), { kind: 'user' }, ...times(2, failing)] }),
    ).toMatchObject({ fired: false })
    const elsewhere: Step = { ...failing, session: 'other' } as Step
    expect(judged({ steps: [failing, elsewhere, failing, elsewhere] })).toMatchObject({
      fired: false,
    })
  })

  it('does not come from repeated deliveries', () => {
    expect(judged({ steps: times(5, { ...failing, call_id: 'x' } as Step) })).toMatchObject({
      fired: false,
    })
    expect(
      judged({
        steps: [failing, { kind: 'stream_retry' }, failing, { kind: 'compaction' }, failing],
      }),
    ).toMatchObject({ fired: false })
  })

  it('is a budget if a call exceeds it', () => {
    const files = ['a', 'b', 'c'].map((path) => reading(path, path))
    expect(judged({ steps: files, limits: { max_tool_calls: 2 } })).toMatchObject({
      step: 3,
      rule: 'cap',
      kind: 'budget',
      action: 'text_only',
    })
    expect(judged({ steps: files }, 'caps.rounds=2')).toMatchObject({
      step: 3,
      reason: "the turn's 2 rounds were used up",
    })
    expect(judged({ steps: files })).toMatchObject({ fired: false })
  })
})

describe('a label', () => {
  const steps = times(4, failing)

  it.each<[string, Partial<Scenario>, boolean | null, string]>([
    ['none', {}, null, ''],
    ['null, which is none', { expect: { fires: null } }, null, ''],
    ['by the step', { expect: { fires: true, by_step: 3 } }, true, ''],
    [
      'by an earlier step',
      { expect: { fires: true, by_step: 2 } },
      false,
      'first intervened after step 3, and should have by step 2',
    ],
    ['never', { expect: { fires: false } }, false, 'intervened after step 3, and should not have'],
    [
      'a second one after the user went on',
      { expect: { fires: true }, second_by_step: 3 },
      false,
      'no second intervention by step 3',
    ],
  ])('%s', (_, label, ok, wrong) => {
    expect(judged({ steps, ...label })).toMatchObject({ ok, wrong })
  })

  it('for a second intervention counts from the user message on', () => {
    const again: Step[] = [...steps, { kind: 'user' }, ...times(3, failing)]
    expect(
      judged({ steps: again, expect: { fires: true, by_step: 3 }, second_by_step: 8 }),
    ).toMatchObject({ ok: true })
  })
})

describe('--set', () => {
  it('judges by other thresholds', () => {
    expect(judged({ steps: times(4, failing) }, 'loop.identicalFailures=2')).toMatchObject({
      step: 2,
    })
  })

  it('reports the effect of a rule in shadow without an intervention', () => {
    const scenario = { steps: times(4, failing), expect: { fires: false } }
    expect(judged(scenario, 'rule.identical-failure=shadow')).toMatchObject({
      fired: false,
      step: null,
      rule: null,
      ok: true,
      shadowed: [{ step: 3, rule: 'identical-failure@5', kind: 'tool_loop', action: 'nudge' }],
    })
    expect(judged(scenario).shadowed).toEqual([])
  })

  it.each([
    [
      'loop.identicalFailures=2 loop.identicalFailures=4',
      'loop.identicalFailures is given twice, as "2" and as "4"',
    ],
    ['loop.identicalFailure=2', 'names no threshold; did you mean loop.identicalFailures?'],
    ['loop.rules.cycel=shadow', 'names no rule; did you mean rule.cycle?'],
    ['loop.identicalFailers=2', 'names no threshold; did you mean loop.identicalFailures?'],
    [
      'rule.cycles=shadow',
      'names no rule; did you mean rule.cycle? There are rule.identical-failure,',
    ],
    ['rule.cycle=off', '--set rule.cycle is "off"; must be enforce or shadow'],
    ['loop.identicalFailures', 'has no value'],
    ['loop.identicalFailures=0', '--set loop.identicalFailures '],
    ['loop.identicalFailures=two', '--set loop.identicalFailures '],
    ['caps.wallMs=5', 'names no threshold'],
  ])('refuses %s', (pairs, told) => {
    expect(() => givenBy(pairs.split(' '))).toThrow(told)
  })
})
