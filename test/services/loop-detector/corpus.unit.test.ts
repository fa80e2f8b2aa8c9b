// The corpus of test/corpus: each trace has the verdict of its label under the default settings. The
// built traces count too, and the ladder never ends honest work.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import type { Scenario } from '../../../apps/replay/judge/scenario.ts'
import { readScenarios } from '../../../apps/replay/judge/scenario-file.ts'
import { type JudgedScenario, judge } from '../../../apps/replay/judge/verdict.ts'
import { built } from '../../corpus/built/built.ts'
import { honestWork } from '../../corpus/built/honest-work.ts'
import { hostLoops } from '../../corpus/built/host-loops.ts'
import { hostWork } from '../../corpus/built/host-work.ts'
import { treeLoops } from '../../corpus/built/tree-loops.ts'
import { treeWork } from '../../corpus/built/tree-work.ts'
import { variedLoops } from '../../corpus/built/varied-loops.ts'

const folder = new URL('../../corpus/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
const corpus = [
  ...files.flatMap((file) => readScenarios(file, readFileSync(new URL(file, folder), 'utf8'))),
  ...built,
]
const given = givenBy([])

const verdicts = new Map<Scenario, JudgedScenario>()

/** Two tests look at the verdict of a loop. */
function verdictOn(scenario: Scenario): JudgedScenario {
  const verdict = verdicts.get(scenario) ?? judge(scenario, given)
  verdicts.set(scenario, verdict)
  return verdict
}

describe('the corpus', () => {
  it('has more than a hundred labelled traces, at least half of them honest work', () => {
    expect(corpus.length).toBeGreaterThan(100)
    expect(corpus.filter(({ expect }) => expect?.fires === false).length).toBeGreaterThanOrEqual(
      corpus.length / 2,
    )
    expect(
      corpus.filter(
        ({ expect }) => expect === undefined || expect.fires === null || !expect.reason,
      ),
    ).toEqual([])
  })

  it('has built traces with unique names: many loops due by call 16, and more honest work', () => {
    expect(new Set(built.map(({ id }) => id)).size).toBe(built.length)
    expect(variedLoops.length).toBeGreaterThanOrEqual(60)
    expect(variedLoops.filter(({ expect }) => (expect?.by_step ?? 99) > 15)).toEqual([])
    expect(honestWork.length).toBeGreaterThanOrEqual(150)
    expect(hostLoops).toHaveLength(30)
    expect(hostWork.length).toBeGreaterThanOrEqual(60)
    expect(treeLoops.length).toBeGreaterThanOrEqual(12)
    expect(treeWork.length).toBeGreaterThanOrEqual(25)
  })

  it.each(corpus.map((scenario) => [scenario.id, scenario] as const))('%s', (_, scenario) => {
    expect(verdictOn(scenario)).toMatchObject({ ok: true, wrong: '' })
  })

  it.each(
    corpus
      .filter(({ expect }) => expect?.fires)
      .map((scenario) => [scenario.id, scenario] as const),
  )('%s has the category of its label', (_, scenario) =>
    expect(verdictOn(scenario).kind).toBe(scenario.expect?.kind),
  )
})
