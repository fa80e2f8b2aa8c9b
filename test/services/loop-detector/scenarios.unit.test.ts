// Plays the neutral traces of the fixtures through the detector. Prints how many pass. Traces that
// an incident decides must pass.

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { givenBy } from '../../../apps/replay/judge/overrides.ts'
import { readScenarios } from '../../../apps/replay/judge/scenario-file.ts'
import { judge } from '../../../apps/replay/judge/verdict.ts'

/** Traces that an incident decides, with its sentence. */
const implied: [id: string, because: string][] = [
  ['LS-001', 'I1: three failing matches are a loop'],
  ['LS-002', 'I1: three allow one honest retry'],
  ['LS-004', 'I1: absent, blank and null arguments are one loop'],
  ['LS-005', 'I1: a text that does not parse counts as arguments'],
  ['LS-014', 'I1: (tool, error) is a separate key'],
  ['LS-024', 'I1: an error is the same when only its volatile parts differ'],
  ['LS-028', 'I1: errors that differ in errno or status are different errors'],
  ['LS-031', 'I1: (tool, arguments) is a separate key'],
  ['LS-084', 'I1: siblings do not hide a failing match'],
  ['LS-086', 'I1: arguments are compared by their meaning'],
  ['LS-107', 'I1: a new turn has its tools back and an empty memory'],
  ['LS-109', 'I1: a success elsewhere is no success of the failing call'],
  ['LS-116', 'I1: the next turn is judged again'],
  ['LS-027', 'I3: the result is the same when only its volatile parts differ'],
  ['LS-033', 'I3: another result is progress'],
  ['LS-034', 'I3: identical successful calls with identical results are a loop'],
  ['LS-043', 'I3: two alternating calls are a loop too'],
  ['LS-117', 'I3: every turn has a cap on calls'],
  ['LS-120', 'I3: a cap on rounds counts rounds'],
  ['LS-091', 'I4: the cumulative count outlives tool calls'],
  ['LS-093', 'I4: nudges come first'],
  ['LS-094', 'I4: two nudges before any tool call'],
  ['LS-096', 'I4: a cut response gets a request to be brief'],
  ['LS-010', 'I5: a success resets only what comes after it'],
]

/** It may rise with the rules, but must not fall. */
const passingMin = 60

const fixture = new URL('../../../../shared/fixtures/loop-scenarios.jsonl', import.meta.url)
const whereFixturesAre = existsSync(fixture) ? describe : describe.skip
const cases = existsSync(fixture)
  ? readScenarios('loop-scenarios.jsonl', readFileSync(fixture, 'utf8'))
  : []

whereFixturesAre('loop scenarios', () => {
  const verdicts = cases.map((scenario) => judge(scenario, givenBy([])))
  const wrong = verdicts.filter(({ ok }) => ok === false)

  it.each(implied.length > 0 && cases.length > 0 ? implied : [['none', 'no fixtures here']])(
    '%s: %s',
    (id) => {
      expect(verdicts.find((verdict) => verdict.id === id)).toMatchObject({ ok: true, wrong: '' })
    },
  )

  it('raise no false alarm', () => {
    expect(
      wrong
        .filter(({ expected }) => expected?.fires === false)
        .map(({ id, wrong }) => `${id} ${wrong}`),
    ).toEqual([])
  })

  it('have interventions of the category in their label', () => {
    const other = verdicts.filter(({ fired, kind, expected }) => fired && expected?.kind !== kind)
    expect(other.map(({ id, kind, expected }) => `${id} ${kind}, not ${expected?.kind}`)).toEqual(
      [],
    )
  })

  it('pass at least in the known number', () => {
    const passing = verdicts.length - wrong.length
    const reasons = wrong.map(({ id, expected, wrong }) => `  ${id} (${expected?.kind}): ${wrong}`)
    process.stdout.write(
      [`loop scenarios: ${passing} of ${verdicts.length} pass`, ...reasons, ''].join('\n'),
    )
    expect(passing).toBeGreaterThanOrEqual(passingMin)
  })
})
