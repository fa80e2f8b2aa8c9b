import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { rules } from '../../../services/loop-detector/rules.ts'
import {
  actions,
  empty,
  failing,
  judgedBy,
  missing,
  ok,
  one,
  outcomes,
  policyWith,
  raisedInShadow,
  rejectedRound,
  type Step,
  says,
  times,
} from './rounds.ts'

const shadowed = (...names: string[]) => policyWith({ shadowed: names })
const failure = one('read', { path: 'a' }, failing('no such file'))
const success = one('list', { path: '.' }, ok('a\nb'))
const lap = [one('a', {}, ok('1')), one('b', {}, ok('2'))]

describe('a rule in shadow', () => {
  it('reports each action it would reach, then nothing more, and changes nothing', () => {
    const steps = judgedBy(shadowed('identical-failure'), ...times(7, failure))
    expect(raisedInShadow(...steps)).toEqual([
      [],
      [],
      ['identical-failure nudge'],
      ['identical-failure text_only'],
      ['identical-failure end'],
      [],
      [],
    ])
    expect(actions(...steps)).toEqual(times(7, {}).map(() => '-'))
  })

  it('reports the end after a response without text or call in its round without tools', () => {
    const steps = judgedBy(shadowed('identical-failure'), ...times(4, failure), empty())
    expect(raisedInShadow(...steps).at(-1)).toEqual(['identical-failure end'])
    expect(actions(...steps).at(-1)).toBe('(nudge)') // the rule on empty responses is not in shadow
  })

  it('hides no other rule, and each has its ladder', () => {
    const policy = policyWith({ loop: { identicalSuccesses: 3 }, shadowed: ['identical-failure'] })
    const both: Step = { calls: [...(failure.calls ?? []), ...(success.calls ?? [])] }
    const steps = judgedBy(policy, ...times(5, both))
    expect(actions(...steps)).toEqual(['-', '-', 'nudge', 'text_only', 'end'])
    expect(outcomes(...steps)[2]?.intervention?.rule).toBe('identical-success')
    expect(raisedInShadow(...steps).slice(2, 4)).toEqual([
      ['identical-failure nudge'],
      ['identical-failure text_only'],
    ])
  })

  it('reports next to another rule in shadow', () => {
    const both: Step = { calls: [...(failure.calls ?? []), ...(success.calls ?? [])] }
    const steps = judgedBy(
      policyWith({
        loop: { identicalSuccesses: 3 },
        shadowed: ['identical-failure', 'identical-success'],
      }),
      ...times(3, both),
    )
    expect(raisedInShadow(...steps).at(-1)).toEqual([
      'identical-failure nudge',
      'identical-success nudge',
    ])
  })

  it('sends no reminder after an empty response, but reports it', () => {
    const steps = judgedBy(shadowed('empty-response'), ...times(5, empty()))
    expect(actions(...steps)).toEqual(['-', '-', '-', '-', '-'])
    expect(raisedInShadow(...steps)).toEqual([
      ['(empty-response nudge)'],
      ['(empty-response nudge)'],
      ['empty-response text_only'],
      ['empty-response end'],
      [],
    ])
  })

  it('changes neither denials nor the turn when it counts schema failures', () => {
    const policy = policyWith({
      loop: { schemaFailureEndsTurn: true },
      shadowed: ['schema-failure', 'identical-failure'],
    })
    const steps = judgedBy(policy, ...times(4, rejectedRound('exec', {}, 'command')))
    expect(outcomes(...steps).map(({ results }) => results[0]?.text)).toEqual(
      times(4, {}).map(() => missing('command').text),
    )
    expect(actions(...steps)).toEqual(['-', '-', '-', '-'])
    expect(raisedInShadow(...steps)).toEqual([
      [],
      [],
      ['identical-failure nudge', 'schema-failure end'],
      ['identical-failure text_only'],
    ])
  })

  it('does not end a turn whose round without tools it required before it was in shadow', () => {
    const enforced = times(4, failure)
    const silent = empty('end', { callsLeft: 0 })
    expect(actions(...enforced, ...judgedBy(shadowed('identical-failure'), silent))).toEqual([
      '-',
      '-',
      'nudge',
      'text_only',
      '-',
    ])
    expect(actions(...enforced, silent).at(-1)).toBe('end')
  })
})

/** The whole file, then three of its lines. */
function windowOf(n: number): string {
  const file = Array.from({ length: 20 }, (_, line) => `line ${line} of the file`)
  return (n === 0 ? file : file.slice(n, n + 3)).join('\n')
}

describe('a rule that enforces again', () => {
  it.each<[string, Step[]]>([
    ['identical-failure', times(5, failure)],
    ['identical-success', times(7, success)],
    [
      'repeated-round',
      times(6, { calls: [...(success.calls ?? []), ...(one('stat', {}, ok('3')).calls ?? [])] }),
    ],
    ['cycle', [...lap, ...lap, ...lap, ...lap]],
    [
      'same-answer',
      Array.from({ length: 10 }, (_, n) =>
        one('search', { query: `words ${n}` }, ok('no results')),
      ),
    ],
    [
      'sweep',
      Array.from({ length: 11 }, (_, n) => one('read', { path: 'a', from: n }, ok(windowOf(n)))),
    ],
    ['chanting', times(3, says('go on and on '.repeat(40)))],
    ['monologue', times(5, says('I will look into it now.'))],
  ])('starts at the bottom and keeps its counts: %s', (rule, steps) => {
    const others = rules.map(({ name }) => name).filter((name) => name !== rule)
    const story = [
      ...judgedBy(shadowed(...others, rule), ...steps.slice(0, -1)),
      ...judgedBy(shadowed(...others), ...steps.slice(-1)),
    ]
    expect(raisedInShadow(...story).flat()).toContain(`${rule} text_only`)
    expect(actions(...story)).toEqual([...times(steps.length - 1, {}).map(() => '-'), 'nudge'])
  })
})

it('every rule has a mode in agent files', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../shared/agents/file/agent.schema.json', import.meta.url), 'utf8'),
  )
  expect(Object.keys(schema.properties.loop.properties.rules.properties)).toEqual(
    rules.map(({ name }) => name),
  )
})
