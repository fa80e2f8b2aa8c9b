// The golden file of all interventions: the situation, the rule and the words that the model reads.
// `-u` writes it again after a change on purpose. Each text must name the reason of a failure and
// not the heading above it.

import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import { play } from '../../../apps/replay/judge/play.ts'
import type { Scenario, Step } from '../../../apps/replay/judge/scenario.ts'
import { policyIn } from '../../../apps/replay/judge/verdict.ts'
import { rules } from '../../../services/loop-detector/rules.ts'
import { failed, ok, rounds, turnOf, word } from '../../corpus/built/trace.ts'

type Situation = { title: string; rule: string; steps: Step[]; hints?: Scenario['tool_hints'] }

const page = (name: string) => ok('read_page', { name }, `the text of ${name}`)
const silence: Step = { kind: 'empty' }
const say = (text: string): Step => ({ kind: 'text', text })

const situations: Situation[] = [
  {
    title: 'a call fails in the same way',
    rule: 'identical-failure',
    steps: rounds(3, () => failed('exec', {}, "missing 'command' parameter")),
  },
  {
    title: 'the reason stands under a heading',
    rule: 'identical-failure',
    steps: rounds(4, (n) => failed('build', { target: `t${n}` }, 'ERRORS:\n  no rule for app')),
  },
  {
    title: 'a call succeeds with one result',
    rule: 'identical-success',
    steps: rounds(5, () => ok('eat', {}, 'ate')),
  },
  {
    title: 'a command only echoes its words',
    rule: 'identical-success',
    steps: rounds(5, (n) => ok('Bash', { command: `echo step_${n}` }, `step_${n}`)),
  },
  {
    title: 'a set of calls comes back',
    rule: 'repeated-round',
    steps: rounds(4, (n) => [
      { ...ok('read_page', { name: 'a' }, 'A'), turn: n },
      { ...ok('read_page', { name: 'b' }, 'B'), turn: n },
    ]),
  },
  {
    title: 'two rounds take turns',
    rule: 'cycle',
    steps: rounds(6, (n) => page(turnOf(['a', 'b'], n))),
  },
  {
    title: 'a login starts again with another state',
    rule: 'cycle',
    steps: rounds(3, (n) => [
      ok('start_login', {}, `https://id.example.com/authorize?state=${word(n)}`),
      ok('finish_login', { state: word(n) }, 'access_denied'),
    ]),
  },
  {
    title: 'a search in ever new words has no hit',
    rule: 'same-answer',
    steps: rounds(8, (n) => ok('search', { query: word(n) }, 'No results found.')),
  },
  {
    title: 'a page refuses each query',
    rule: 'same-answer',
    steps: rounds(16, (n) =>
      ok('serp', { q: word(n) }, `Unusual traffic. ${'Please solve this captcha. '.repeat(2)}`),
    ),
  },
  {
    title: 'an agent is started again for one task',
    rule: 'same-task',
    steps: rounds(5, (n) =>
      ok(
        'researcher',
        { task: 'Find the currency.' },
        turnOf(['Nothing found.', 'Found nothing.'], n),
      ),
    ),
  },
  {
    title: 'a success reports the failure',
    rule: 'reported-failure',
    steps: rounds(6, (n) =>
      ok('draw', { prompt: word(n) }, '{"status":"error","message":"Exhausted balance"}'),
    ),
  },
  {
    title: 'one text is written again and again',
    rule: 'same-change',
    steps: rounds(8, (n) =>
      ok('append_to_file', { path: 'a.md', text: '- done' }, `a.md has ${n} lines`),
    ),
  },
  {
    title: 'edits in ever new words leave one error',
    rule: 'unmoved-error',
    steps: rounds(9, (n) => [
      ok('write_file', { path: 'src/cart.ts', content: `const total = ${n}` }, 'written'),
      failed('build', {}, "src/cart.ts:4:2: error: 'raw' is a text"),
    ]),
  },
  {
    title: 'the windows of a file show known lines',
    rule: 'sweep',
    steps: [
      ok('read_file', { path: 'a', to: 4 }, 'the first line\nthe second line\nthe third line'),
      ...rounds(8, (n) =>
        ok(
          'read_file',
          { path: 'a', from: n },
          `${n % 2 ? 'the first' : 'the second'} line\nthe third line`
            .repeat(1)
            .concat('\nthe second line'.repeat(n)),
        ),
      ),
    ],
  },
  {
    title: 'known pages come in any order',
    rule: 'nothing-new',
    steps: [...'abcdbadcbdac'].map(page),
  },
  {
    title: 'calls differ only in an attempt',
    rule: 'near-equal',
    steps: rounds(8, (n) => ok('ping_service', { attempt: n }, 'pong')),
  },
  {
    title: 'one message is sent again, and each gets a new id',
    rule: 'near-equal',
    steps: rounds(8, (n) =>
      ok('post_comment', { issue: 7, body: 'Could you rebase this?' }, `{"id": ${9_000 + 17 * n}}`),
    ),
  },
  {
    title: 'calls count up',
    rule: 'counting',
    steps: rounds(16, (n) => ok('seek', { index: n }, 'ok')),
  },
  {
    title: 'a wait brings no news',
    rule: 'still-waiting',
    steps: rounds(25, () => ok('job', { id: 7 }, 'running')),
    hints: { job: { poll: true } },
  },
  {
    title: 'a wait for another agent brings no news',
    rule: 'still-waiting',
    steps: rounds(25, () => ok('check_agent', { agent_id: 'a77' }, 'running')),
    hints: { check_agent: { poll: true } },
  },
  {
    title: 'the parent sleeps until its agent ends',
    rule: 'still-waiting',
    steps: [
      ok(
        'Agent',
        { prompt: 'Find the currency.', run_in_background: true },
        'Async agent launched successfully.\nagentId: a1b2c3d',
      ),
      ...rounds(10, () => ok('Bash', { command: 'sleep 30' }, '')),
    ],
  },
  {
    title: 'a response repeats itself',
    rule: 'chanting',
    steps: [say('I will now do the work. '.repeat(12))],
  },
  {
    title: 'responses announce the same step',
    rule: 'monologue',
    steps: [say('Now I read it.'), say('Now I read it.'), say('Now I read it.')],
  },
  {
    title: 'responses stay empty',
    rule: 'empty-response',
    steps: rounds(3, () => silence),
  },
]

const given = givenBy([])

function firstOf({ title, steps, hints }: Situation) {
  const scenario: Scenario = { id: title, steps, ...(hints && { tool_hints: hints }) }
  const raised = play(scenario, policyIn(scenario, given), { calls: undefined, rounds: undefined })
  const [first] = raised
  if (first === undefined || !('intervention' in first)) return undefined
  const { rule, action, reason, text } = first.intervention
  return { step: first.step, rule, action, reason, text }
}

describe('the words of interventions', () => {
  it.each(situations.map((situation) => [situation.title, situation] as const))(
    'are those of the golden file if %s',
    (_, situation) => {
      const first = firstOf(situation)
      expect(first?.rule).toBe(situation.rule)
      expect(first).toMatchSnapshot()
    },
  )

  it('have a situation for each rule that reads calls', () => {
    const others = ['schema-failure', 'unread-call'] // other tests have their texts
    const shown = new Set([...situations.map(({ rule }) => rule), ...others])
    expect(rules.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })
})
