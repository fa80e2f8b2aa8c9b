// The simulation: the real stages against a world full of faults, and broken stages that prove the
// checkers. `make simulate` runs more seeds, and CI a thousand each night. Examine a failing seed with
// `make simulate SEED=n`.

import { describe, expect, it, jest } from '@jest/globals'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import type { Violation } from '../evidence/evidence.ts'
import { canaries, quiet, rolledFor } from './broken/canaries.ts'
import { throwing } from './broken/throwing.ts'
import { type Rolled, roll, type Simulated, simulate } from './simulation.ts'
import { realSystem } from './system.ts'
import { addTally, emptyTally, tallyOf } from './tally.ts'

const seeds = 60
const treeSeeds = 30
const canarySeeds = 150
const throwingSeeds = 5

// The seeds compute for 15 s, which are minutes on a busy machine.
jest.setTimeout(900_000)

describe('the stages', () => {
  it(`keep all rules over ${seeds} seeds`, async () => {
    const tally = emptyTally()
    for (let seed = 1; seed <= seeds; seed++) {
      const simulated = await simulate(realSystem, roll(seed))
      expect({ seed, violations: simulated.violations.slice(0, 3) }).toEqual({
        seed,
        violations: [],
      })
      addTally(tally, tallyOf(simulated))
    }
    // A simulation without any work keeps all rules, too.
    for (const event of [
      'turn answered',
      'turn cancelled',
      'turn capped',
      'turn failed',
      'result skipped',
      'result denied',
      'result unknown',
      'in shadow nudge',
      'approval allow',
      'approval deny',
      'approval expired',
      'fault crash',
      'fault pause',
    ])
      expect([event, (tally.counts.get(event) ?? 0) > seeds / 10]).toEqual([event, true])
  })

  it(`hold storms of trees at their caps, stop trees within a second, and start no tool twice for equal values, over ${treeSeeds} seeds`, async () => {
    const tally = emptyTally()
    for (let seed = 1; seed <= treeSeeds; seed++)
      for (const rates of [roll(seed).rates, quiet]) {
        const hasGuests = seed % 3 === 0
        const rolled = { ...roll(seed), rates, hasTrees: true, hasGuests, hasOnce: !hasGuests }
        const simulated = await simulate(realSystem, rolled)
        expect({ seed, violations: simulated.violations.slice(0, 3) }).toEqual({
          seed,
          violations: [],
        })
        addTally(tally, tallyOf(simulated))
      }
    for (const event of [
      'child started',
      'child refused',
      'turn stopped',
      'sub-agent started',
      'once denied',
    ])
      expect([event, (tally.counts.get(event) ?? 0) > treeSeeds / 10]).toEqual([event, true])
  })

  it('give the same bytes for the same seed', async () => {
    for (const seed of [3, 7])
      expect(bytesOf(await simulate(realSystem, roll(seed)))).toEqual(
        bytesOf(await simulate(realSystem, roll(seed))),
      )
  })

  it('give the same bytes on the embedded log as on arrays', async () => {
    for (const seed of [4, 8]) {
      const on = (storage: Rolled['storage']) => simulate(realSystem, { ...roll(seed), storage })
      expect(bytesOf(await on('embedded'))).toEqual(bytesOf(await on('arrays')))
    }
  })
})

describe('a stage that throws on some records', () => {
  it.each(stageNames)('fails the turn of a record and nothing more: %s', async (name) => {
    for (let seed = 1; seed <= throwingSeeds; seed++) {
      const { violations } = await simulate(throwing(name), { ...roll(seed), hasGuests: false })
      expect({
        seed,
        violations: violations.filter((one) => !isExcused(one, name)),
      }).toEqual({ seed, violations: [] })
    }
  })
})

describe('a stage that throws is excused', () => {
  const violation = (checker: string, problem: string): Violation => ({
    checker,
    problem: `the message ["c0","m1"] ${problem}`,
  })

  it('if a conversation answers a message twice, never if it does not answer', () => {
    expect(isExcused(violation('messages-end', 'has 2 turn-finished: a,b'), 'conversation')).toBe(
      true,
    )
    expect(isExcused(violation('messages-end', 'opened 2 turns'), 'conversation')).toBe(true)
    expect(isExcused(violation('messages-end', 'has no turn-finished'), 'conversation')).toBe(false)
    expect(isExcused(violation('messages-end', 'opened 2 turns'), 'executor')).toBe(false)
    expect(
      isExcused(
        { checker: 'messages-end', problem: 'turn-finished of ["c0","m1"], which nobody sent' },
        'conversation',
      ),
    ).toBe(false)
  })

  it('if an executor does not report a verdict, never if it reports another one', () => {
    const silent = violation('guards-decide', 'is not reported')
    expect(isExcused(silent, 'executor')).toBe(true)
    expect(isExcused(silent, 'validator')).toBe(false)
    expect(isExcused(violation('guards-decide', 'is reported a second time'), 'executor')).toBe(
      false,
    )
  })
})

describe('the checkers', () => {
  it.each(canaries.map((canary) => [canary.system.name, canary] as const))(
    'report that %s',
    async (_, canary) => {
      const { system, foundBy, exposedBy = 1 } = canary
      const reports = new Set<string>()
      const inOrder = Array.from({ length: canarySeeds }, (_, n) => n + 1)
      for (const seed of new Set([exposedBy, ...inOrder])) {
        const { violations } = await simulate(system, rolledFor(canary, roll(seed)))
        for (const { checker } of violations) reports.add(checker)
        if (reports.has(foundBy)) return
      }
      expect([...reports]).toContain(foundBy)
    },
  )
})

/**
 * The throwing stage writes dead letters. A conversation that threw on a message, or on its carried
 * record, does not recognise a repeat of that message. An executor that threw on a verdict fails the turn,
 * and does not report the verdict.
 */
function isExcused({ checker, problem }: Violation, name: StageName): boolean {
  if (checker === 'readable' && /^(dead-letter|turn-failed) of /.test(problem)) return true
  if (name === 'executor' && checker === 'guards-decide') return / is not reported$/.test(problem)
  return (
    name === 'conversation' &&
    checker === 'messages-end' &&
    / (has \d+ turn-finished:|opened \d+ turns$)/.test(problem)
  )
}

function bytesOf({ evidence }: Simulated): string[] {
  return evidence.records
    .filter(({ topic }) => topic !== 'policies' && topic !== 'client-messages')
    .map(({ topic, partition, offset, time, key, id, digest }) =>
      [topic, partition, offset, time, key, id, digest].join(' '),
    )
}
